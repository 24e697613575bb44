import Foundation
import TestSupport

/// A client of a service over TCP that polls the status of tasks and listens on a WebSocket.
///
/// It reconnects with the same secret when the service ends.
final class DoorWatcher: Sendable {
    /// The reports of the service.
    struct Told {
        /// The session ids of services that answered a request, and of those that answered on the
        /// WebSocket.
        var (asked, heard): (Set<String>, Set<String>) = ([], [])
        /// The latest state of each task, by its gid.
        var states: [String: String] = [:]
        /// Tasks that a response or a notification reported as complete.
        var complete: Set<String> = []
        /// Notifications, each a method and a gid.
        var notices: Set<[String]> = []
        /// Reports that contradict each other or the files.
        var faults: [String] = []
    }

    private let door: Door
    private let isRight: @Sendable (String) throws -> Bool
    private let state = Guarded((told: Told(), gids: [String](), mayGoOn: true, hasEnded: false))

    /// Watches a service, and the next one at the same address.
    ///
    /// - Parameters:
    ///   - door: The service.
    ///   - isRight: Whether the file of a task exists and has the right content.
    init(_ door: Door, isRight: @escaping @Sendable (String) throws -> Bool) {
        (self.door, self.isRight) = (door, isRight)
        let thread = Thread { [self] in
            while state.withLock({ $0.mayGoOn }) {
                guard let socket = try? door.connect(), let asking = try? door.connect() else {
                    _ = poll(nil, 0, 20)
                    continue
                }
                watch(socket, asking)
            }
            state.withLock { $0.hasEnded = true }
        }
        thread.start()
    }

    /// The reports until now.
    var told: Told { state.withLock { $0.told } }

    /// Polls the status of a task from now on.
    func watch(_ gid: String) { state.withLock { $0.gids.append(gid) } }

    /// Stops watching, and waits until the thread has ended.
    func stop() {
        state.withLock { $0.mayGoOn = false }
        _ = eventually { state.withLock { $0.hasEnded } }
    }

    /// Watches until the service ends.
    private func watch(_ socket: WebClient, _ asking: WebClient) {
        socket.send(WebClient.upgrade())
        var isOpen = false
        let call = Data(door.body("aria2.getSessionInfo").utf8)
        while state.withLock({ $0.mayGoOn }) {
            if !isOpen, let reply = socket.takeReply() {
                guard reply.status == 101 else { return fault("no WebSocket: \(reply)") }
                isOpen = true
                socket.say(String(decoding: call, as: UTF8.self))
            }
            while isOpen, let message = socket.takeMessage() { take(message.text) }
            guard let session = ask(asking, "aria2.getSessionInfo") as? [String: Any] else {
                return
            }
            state.withLock { _ = $0.told.asked.insert(session["sessionId"] as? String ?? "") }
            for gid in state.withLock({ $0.gids }) {
                guard let status = ask(asking, "aria2.tellStatus", "\"\(gid)\"") else { return }
                take(status as? [String: Any] ?? [:], of: gid)
            }
        }
    }

    /// Sends a call, and waits for the response.
    ///
    /// - Returns: The result, or the error; `nil` if the service has ended.
    private func ask(_ client: WebClient, _ method: String, _ parameter: String? = nil) -> Any? {
        let all = [parameter].compactMap { $0 }
        let body = all.isEmpty ? door.body(method) : door.body(method, all[0])
        client.send(Door.request("POST /jsonrpc", "", body))
        var reply: WebReply?
        _ = eventually(timeout: 400) {
            // A response that arrives before the connection closes counts.
            let isEnded = client.isEnded
            reply = client.takeReply()
            return reply != nil || isEnded
        }
        guard let reply else {
            if !client.isEnded { fault("no answer to \(method)") }
            return nil
        }
        let object = try? JSONSerialization.jsonObject(with: Data(reply.body.utf8))
        let answer = object as? [String: Any]
        return answer?["result"] ?? answer?["error"] ?? [:] as [String: Any]
    }

    private func take(_ status: [String: Any], of gid: String) {
        let word = status["status"] as? String ?? ""
        guard ["active", "waiting", "complete"].contains(word), status["gid"] as? String == gid
        else {
            return fault("\(gid) is \(status)")
        }
        let wasComplete = state.withLock { state in
            state.told.states[gid] = word
            return state.told.complete.contains(gid)
        }
        if word == "complete" {
            complete(gid)
        } else if wasComplete {
            fault("\(gid) was complete, and is \(word)")
        }
    }

    /// Handles a message of the WebSocket.
    private func take(_ text: String) {
        let object = try? JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any]
        guard let object else { return fault("no message: \(text)") }
        if let session = object["result"] as? [String: Any] {
            state.withLock { _ = $0.told.heard.insert(session["sessionId"] as? String ?? "") }
            return
        }
        let method = object["method"] as? String ?? ""
        guard let gid = (object["params"] as? [[String: Any]])?.first?["gid"] as? String,
            ["aria2.onDownloadStart", "aria2.onDownloadComplete"].contains(method)
        else { return fault(text) }
        if method.hasSuffix("Complete") { complete(gid) }
        state.withLock { _ = $0.told.notices.insert([method, gid]) }
    }

    /// Checks the file of a task when it is first reported as complete.
    private func complete(_ gid: String) {
        guard state.withLock({ $0.told.complete.insert(gid).inserted }) else { return }
        if (try? isRight(gid)) != true { fault("\(gid) is said to be complete, and is not") }
    }

    private func fault(_ text: String) { state.withLock { $0.told.faults.append(text) } }
}
