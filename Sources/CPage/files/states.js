// The states of tasks, by the words of the API.

/** States of tasks that have a slot. */
export const RUNNING = ["running", "verifying"];
/** States of tasks that wait. */
export const WAITING = ["waiting", "retrying", "waiting_for_network"];
/** States of tasks that have ended. */
export const ENDED = ["completed", "failed", "cancelled"];
/** States in which `retry` does something. */
export const AGAIN = ["failed", "cancelled", "retrying"];
