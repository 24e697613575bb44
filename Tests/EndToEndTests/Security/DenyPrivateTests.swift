import Foundation
import Glibc
import TestSupport
import Testing

/// `segget serve --deny-private`: whether tasks of clients may use private addresses.
///
/// Of the test's two servers, one has a private address.
@Suite(
    .serialized, .timeLimit(.minutes(5)),
    .enabled(if: NetworkPair.unavailable == nil, "\(NetworkPair.unavailable ?? "")"))
struct DenyPrivateTests {
    /// The service's address and options, and whether it denies private addresses.
    struct Case: Sendable {
        var address: String
        var option: [String] = []
        var denies: Bool
    }

    static let cases = [
        Case(address: "127.0.0.1", denies: false),
        Case(address: "127.0.0.1", option: ["--deny-private", "yes"], denies: true),
        Case(address: "198.51.100.2", denies: true),
        Case(address: "198.51.100.2", option: ["--deny-private", "no"], denies: false),
    ]
    private static let privateAddress = "10.9.8.7"

    private let network: NetworkPair
    private let stage: QueueStage
    /// The server with the private address.
    private let inner: Origin

    init() throws {
        network = try NetworkPair()
        try network.addServerAddress(Self.privateAddress)
        try network.addDefaultRoute()
        stage = try QueueStage(size: 2_000_000, network: network)
        inner = try Origin(address: Self.privateAddress, network: network) { request in
            .file(Content(size: 2_000_000, seed: 7), for: request, etag: "\"inner\"")
        }
    }

    /// Starts the service.
    ///
    /// - Returns: The process, and the URL of its JSON-RPC.
    private func serve(
        _ address: String, _ arguments: [String], environment: [String: String] = [:]
    ) throws -> (Run, String) {
        let service = try Run(
            ["serve", "--queue", stage.queue, "--rpc", "\(address):0", "-d", stage.folder]
                + arguments,
            in: stage.folder,
            environment: ["SEGGET_NO_CONFIG": "1"].merging(environment) { $1 }, network: network)
        let mark = "JSON-RPC at "
        func line() -> Substring? {
            service.errorOutput.split(separator: "\n").first { $0.contains(mark) }
        }
        _ = eventually { line() != nil || !service.isRunning }
        let place = try #require(line()?.firstRange(of: mark), "\(service.errorOutput)")
        return (service, String(try #require(line())[place.upperBound...]))
    }

    private func secret() throws -> String {
        try stage.done("serve", "--show-secret").trimmingCharacters(in: .newlines)
    }

    /// Waits until tasks have completed or failed.
    ///
    /// - Returns: For each task the kind of its error, or `completed`.
    private func ends(of ids: [String]) throws -> [String] {
        var tasks: [String: [String: Any]] = [:]
        _ = try eventually(timeout: 120, poll: 0.2) {
            tasks = [:]
            for task in try stage.tasks() { tasks[task["id"] as? String ?? ""] = task }
            return ids.allSatisfy {
                ["failed", "completed"].contains(tasks[$0]?["state"] as? String)
            }
        }
        return ids.map { id in
            let error = tasks[id]?["error"] as? [String: Any]
            return error?["kind"] as? String ?? tasks[id]?["state"] as? String ?? "gone"
        }
    }

    @Test(arguments: cases) func clientTasksObeyDenyPrivate(on row: Case) throws {
        stage.origin.bend { [inner] request, reply in
            guard request.target == "/away" else { return }
            reply = .text(302)
            reply.headers.append(HeaderField("Location", inner.url("/behind")))
        }
        let (service, url) = try serve(row.address, row.option)
        let secret = try secret()
        let client = Client(network: network, url: url, secret: secret)
        var ids: [String] = []
        // The private address is in the URL, behind a redirect, and in a command of the API.
        ids.append(try client.call("addUri", [inner.url("/direct")]))
        ids.append(try client.call("addUri", [stage.origin.url("/away")], ["out": "away"]))
        ids.append(
            try client.perform(["command": "add", "url": inner.url("/api"), "root": stage.folder]))
        // A client replaces the URL of a task, including one that was added on the command line.
        let changed = try client.call(
            "addUri", [stage.origin.url("/changed")], ["pause": "true"])
        let own = try stage.add("/own", "--paused")
        for (id, name) in [(changed, "/changed"), (own, "/own")] {
            try client.call("changeUri", id, 1, [stage.origin.url(name)], [inner.url(name)])
            try client.call("unpause", id)
        }
        let set = try stage.add("/set", "--paused")
        _ = try client.perform(["command": "set", "ids": [set], "urls": [inner.url("/set")]])
        _ = try client.perform(["command": "resume", "ids": [set]])
        ids += [changed, own, set]
        let denied = row.denies ? "address_denied" : "completed"
        #expect(try ends(of: ids) == Array(repeating: denied, count: ids.count))
        // The private address is the mirror of a URL that fails.
        let mirrored = try client.call(
            "addUri", [stage.origin.url("/none"), inner.url("/several")], ["out": "several"])
        // Addresses that are not private are always allowed.
        let plain = try client.call("addUri", [stage.origin.url("/plain")])
        #expect(
            try ends(of: [mirrored, plain]) == [row.denies ? "status" : "completed", "completed"])
        if row.denies { #expect(inner.acceptedConnections == 0) }

        // Tasks added on the command line may use private addresses.
        let outcome = try stage.start(["add", inner.url("/free")]).wait(timeout: 60)
        let free = outcome.output.trimmingCharacters(in: .newlines)
        #expect(try ends(of: [free]) == ["completed"])
        // A client's task does not reuse the idle connection of that task.
        let requests = inner.requests.count
        #expect(try ends(of: [try client.call("addUri", [inner.url("/late")])]) == [denied])
        if row.denies { #expect(inner.requests.count == requests) }
        kill(service.pid, SIGTERM)
        #expect(try service.wait(timeout: 60).end == .exit(0))
    }

    /// The proxy would connect to the server, so segget could not check the address.
    @Test func refusesProxyOfEnvironment() throws {
        let (service, url) = try serve(
            "127.0.0.1", ["--deny-private", "yes"], environment: ["http_proxy": inner.url("")])
        let client = Client(network: network, url: url, secret: try secret())
        let id = try client.call("addUri", [stage.origin.url("/proxied")])
        #expect(try ends(of: [id]) == ["address_denied"])
        let error = try #require(try stage.task(id)["error"] as? [String: Any])
        #expect((error["message"] as? String)?.contains("proxy") == true)
        #expect(inner.acceptedConnections == 0)
        kill(service.pid, SIGTERM)
        _ = try service.wait(timeout: 60)
    }
}

/// A client of the service, in the client's network namespace.
private struct Client {
    let network: NetworkPair
    /// The URL of JSON-RPC.
    let url: String
    let secret: String

    private func post(
        _ url: String, _ object: [String: Any], _ options: String...
    ) throws -> [String: Any] {
        let body = try JSONSerialization.data(withJSONObject: object)
        let command =
            network.entry
            + ["/usr/bin/curl", "-q", "-sS", "-d", String(decoding: body, as: UTF8.self), url]
            + options
        let outcome = try Run(command[0], Array(command[1...])).wait(timeout: 60)
        let answer = try JSONSerialization.jsonObject(with: Data(outcome.standardOutput))
        return try #require(answer as? [String: Any], "\(outcome.output)\(outcome.errorOutput)")
    }

    /// Calls a JSON-RPC method of aria2.
    @discardableResult
    func call(_ method: String, _ parameters: Any...) throws -> String {
        let answer = try post(
            url,
            [
                "jsonrpc": "2.0", "id": "1", "method": "aria2.\(method)",
                "params": ["token:\(secret)"] + parameters,
            ])
        let result = try #require(answer["result"], "\(answer)")
        return result as? String ?? ""
    }

    /// Sends a command to the API.
    ///
    /// - Returns: The id of the task.
    func perform(_ command: [String: Any]) throws -> String {
        let answer = try post(
            url.replacing("/jsonrpc", with: "/api/v2/commands"), ["commands": [command]],
            "-H", "Authorization: Bearer \(secret)")
        let results = try #require(answer["results"] as? [[[String: Any]]], "\(answer)")
        return try #require(results.first?.first?["id"] as? String, "\(answer)")
    }
}
