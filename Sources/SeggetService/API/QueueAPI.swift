import Assembler
import SeggetQueue

/// Answers requests that the ``Router`` has routed.
struct QueueAPI: Sendable {
    let door: any RPCQueue
    /// The permissions of clients over TCP; `nil` for this user's own processes, which may do everything.
    var policy: RPCPolicy?
    /// Whether the links of all tasks are given, not only of those that clients have added.
    var givesAllLinks = true
    /// The tokens that open the page.
    let openings: OpeningTokens
    /// When the service started, by `monotonicSeconds()`.
    let start = monotonicSeconds()

    /// Where the requests arrive.
    var listener: Listener { policy == nil ? .socket : .tcp }

    /// Returns the answer of an endpoint, in the words of the request's version.
    ///
    /// It carries the request out even if the client has disconnected.
    func answer(_ call: APICall) async -> APIReply {
        var call = call
        call.body = call.version.current(call.body)
        return await reply(to: call).encoded(for: call.version)
    }

    private func reply(to call: APICall) async -> APIReply {
        // Conversations send events: they are more than one answer.
        guard case .answer(let answer) = call.endpoint.handler else { return .empty }
        do {
            return try await answer(call, self)
        } catch let refusal as Refusal {
            return refusal.reply
        } catch let error as QueueError {
            return APIReply(policy == nil ? error : error.forClients)
        } catch {
            preconditionFailure("nothing else is thrown: \(error)")
        }
    }
}
