import Foundation
import TestSupport

/// A client of a service that is reached over TCP: it asks how all tasks are, again and again, and listens on a
/// WebSocket; it connects anew with the same secret when the service ends.
final class DoorWatcher: Sendable {
    /// What it was told.
    struct Told {
        /// The services that answered a request and a call on the WebSocket, by their ids of session.
        var (asked, heard): (Set<String>, Set<String>) = ([], [])
        /// The state of each task that was asked for last, by its gid.
        var states: [String: String] = [:]
        /// Tasks that were said to be complete, in an answer or a notice.
        var complete: Set<String> = []
        /// Notices, each a method and a gid.
        var notices: Set<[String]> = []
        /// What cannot be true.
        var faults: [String] = []
    }

    private let door: Door
    private let isRight: @Sendable (String) throws -> Bool
    private let state = Guarded((told: Told(), gids: [String](), mayGoOn: true, hasEnded: false))

    /// Watches a service, and the next one that is at its place.
    ///
    /// - Parameters:
    ///   - door: The service.
    ///   - isRight: Whether the file of a task is there, and is what it has to be.
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

    /// What it was told up to now.
    var told: Told { state.withLock { $0.told } }

    /// Asks how a task is from now on.
    func watch(_ gid: String) { state.withLock { $0.gids.append(gid) } }

    /// Ends it.
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

    /// Asks, and waits for the answer.
    ///
    /// - Returns: The result, or the error; `nil` where the service has ended.
    private func ask(_ client: WebClient, _ method: String, _ parameter: String? = nil) -> Any? {
        let all = [parameter].compactMap { $0 }
        let body = all.isEmpty ? door.body(method) : door.body(method, all[0])
        client.send(Door.request("POST /jsonrpc", "", body))
        var reply: WebReply?
        _ = eventually(timeout: 400) {
            // What has come before the end counts.
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

    /// Takes a message of the WebSocket.
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

    /// Looks, when a task is said to be complete for the first time, whether that is true.
    private func complete(_ gid: String) {
        guard state.withLock({ $0.told.complete.insert(gid).inserted }) else { return }
        if (try? isRight(gid)) != true { fault("\(gid) is said to be complete, and is not") }
    }

    private func fault(_ text: String) { state.withLock { $0.told.faults.append(text) } }
}
