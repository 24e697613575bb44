// What is asked of the service, and its events. Paths are relative: a proxy may have the page below another folder.

// Of each page of a host, as a proxy may have several.
const KEY = `segget.token${location.pathname === "/" ? "" : location.pathname}`;
const listeners = new Set();

/** A request that was refused (`status`), or could not be sent (`status` 0); `member` is what it was refused for. */
export class Failure extends Error {
  constructor(status, message, member) {
    super(message);
    Object.assign(this, { status, member });
  }
}

export const token = () => localStorage.getItem(KEY);

/** Has a function called whenever the service asks who is there. */
export const onLogin = (listener) => listeners.add(listener);

/** When the service was last heard of, in milliseconds since 1970. */
export let heard = Date.now();
const hear = () => {
  heard = Date.now();
};

/** Asks for a sign of life, for so many milliseconds; answers whether one came. */
export async function ping(time) {
  try {
    await fetch("api/v2/speeds", {
      method: "HEAD", cache: "no-store", headers: authorization(), signal: AbortSignal.timeout(time),
    });
    hear();
    return true;
  } catch {
    return false;
  }
}

const unauthorised = () => {
  for (const listener of listeners) listener();
};

const authorization = () => ({ Authorization: `Bearer ${token() ?? ""}` });

async function failure(answer) {
  const body = await answer.json().catch(() => ({}));
  const { message, member } = body.error ?? body;
  return new Failure(answer.status, message ?? `${answer.status} ${answer.statusText}`, member);
}

async function call(method, path, body, more = {}) {
  let answer;
  try {
    answer = await fetch(path, {
      method, cache: "no-store", headers: { ...authorization(), ...body && { "Content-Type": "application/json" } },
      body: body && JSON.stringify(body), ...more,
    });
  } catch (error) {
    throw new Failure(0, error.message);
  }
  hear();
  if (answer.ok) return answer.status === 204 ? {} : answer.json();
  if (answer.status === 401) unauthorised();
  throw await failure(answer);
}

export const get = (path, more) => call("GET", path, undefined, more);
export const put = (path, body) => call("PUT", path, body);

/** The whole links of tasks, by id: `url` as it was added, `urls` that it is fetched from. */
export async function linksOf(ids) {
  const links = new Map();
  for (let from = 0; from < ids.length; from += 100) {
    const query = ids.slice(from, from + 100).map((id) => `id=${id}`).join("&");
    for (const each of (await get(`api/v2/links?${query}`)).links) links.set(each.id, each);
  }
  return links;
}

/** Carries out commands; answers a list of results for each of them. */
export const send = async (commands, more) => (await call("POST", "api/v2/commands", { commands }, more)).results;

/** Begins a session, by `{secret}` or `{token}`. */
export async function login(proof) {
  let answer;
  try {
    answer = await fetch("session", {
      method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(proof),
    });
  } catch (error) {
    throw new Failure(0, error.message);
  }
  if (!answer.ok) throw await failure(answer);
  localStorage.setItem(KEY, (await answer.json()).token);
}

export async function logout() {
  await call("DELETE", "session").catch(() => {});
  localStorage.removeItem(KEY);
}

/**
 * Server-sent events by `fetch`, which can send the token. It connects anew until `close` is called; `retry` tries at
 * once. Handlers: `event(name, data)`, `open()`, `closed(failure)` after each attempt that ended.
 */
export function stream(path, { event, open, closed }) {
  let last, controller, timer, watch, ended = false, pause = 1000;

  const receive = (block) => {
    let name = "message";
    const data = [];
    for (const line of block.split("\n")) {
      const [, field, value] = /^([^:]*):? ?(.*)$/.exec(line);
      if (field === "event") name = value;
      if (field === "data") data.push(value);
      if (field === "id") last = value;
    }
    if (data.length) event(name, JSON.parse(data.join("\n")));
  };

  const connect = async () => {
    const mine = controller = new AbortController();
    // The service says something every 15 s at least.
    const alive = () => {
      clearTimeout(watch);
      watch = setTimeout(() => mine.abort(), 40000);
    };
    let problem = new Failure(0, "the connection ended");
    try {
      alive();
      const answer = await fetch(path, {
        cache: "no-store", signal: mine.signal,
        headers: { ...authorization(), Accept: "text/event-stream", ...last && { "Last-Event-ID": last } },
      });
      if (!answer.ok) throw await failure(answer);
      pause = 1000;
      hear();
      open();
      const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
      for (let rest = ""; ;) {
        const { value, done } = await reader.read();
        if (done) break;
        alive();
        hear();
        const blocks = (rest + value).replace(/\r\n?/g, "\n").split("\n\n");
        rest = blocks.pop();
        blocks.forEach(receive);
      }
    } catch (error) {
      problem = error instanceof Failure ? error : new Failure(0, error.message);
      mine.abort();
    }
    // Another attempt may have taken its place.
    if (ended || mine !== controller) return;
    clearTimeout(watch);
    closed(problem);
    if (problem.status === 401) {
      unauthorised();
      return;
    }
    timer = setTimeout(connect, pause);
    pause = Math.min(pause * 1.6, 10000);
  };

  connect();
  return {
    retry() {
      const last = controller;
      clearTimeout(timer);
      if (!ended) connect();
      last.abort();
    },
    close() {
      ended = true;
      clearTimeout(timer);
      clearTimeout(watch);
      controller.abort();
    },
  };
}
