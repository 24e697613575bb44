import Dispatch
import TestSupport

/// A file on an origin that serves a limited number of requests at a time, and refuses others.
final class ServerLimitTrial: Sendable {
    /// How the origin refuses a request over the limit.
    enum Refusal: String, Sendable, CaseIterable {
        case status503, status429, status403, reset, closed, words, silence, refused, retryAfter

        var reply: OriginReply {
            switch self {
            case .status503: .text(503, "busy")
            case .status429: .text(429, "busy")
            case .status403: .text(403, "busy")
            case .reset, .refused: .resetWithoutReply
            case .closed: .closeWithoutReply
            case .words: .raw("Too many connections, go away\n")
            case .silence: OriginReply.text(200).with { $0.delayBeforeHeaders = .infinity }
            case .retryAfter:
                .text(503, "busy", headers: [HeaderField("Retry-After", "600")])
            }
        }
    }

    let trial: WireTrial
    private let gate: Gate

    /// Creates an origin; `limit` returns the number of simultaneous requests for the bytes served
    /// so far.
    init(
        size: Int64, pace: Double, refusal: Refusal,
        limit: @escaping @Sendable (_ served: Int64) -> Int
    ) throws {
        let gate = Gate()
        self.gate = gate
        trial = try WireTrial(size: size, sendBuffer: 32 << 10) { request, reply in
            guard request.method == "GET" else { return }
            // A request that the client cancelled counts until the origin notices.
            if eventually(timeout: 0.1, { gate.admits(request, limit) }) {
                reply.pace = pace
            } else {
                reply = refusal.reply
                gate.refusals.withLock { $0.append(monotonicSeconds()) }
            }
            if refusal == .refused { gate.shut(limit) }
        }
        gate.origin.withLock { $0 = trial.origin }
    }

    deinit { gate.origin.withLock { $0 = nil } }

    /// The times at which requests were refused.
    var refusals: [Double] { gate.refusals.withLock { $0 } }

    /// Counts the active requests.
    private final class Gate: Sendable {
        let origin = Guarded<Origin?>(nil)
        let refusals = Guarded<[Double]>([])
        private let held = Guarded<[Int]>([])

        func admits(_ request: OriginRequest, _ limit: (Int64) -> Int) -> Bool {
            guard let origin = origin.withLock({ $0 }) else { return true }
            let most = limit(origin.bytesServed)
            return held.withLock { held in
                let requests = origin.requests
                held.removeAll { requests[$0 - 1].finished != nil }
                guard held.count < most else { return false }
                held.append(request.number)
                return true
            }
        }

        /// Makes the kernel refuse new connections while the limit is reached.
        func shut(_ limit: (Int64) -> Int) {
            guard let origin = origin.withLock({ $0 }) else { return }
            held.withLock { held in
                if held.count < limit(origin.bytesServed) {
                    try? origin.acceptConnections()
                } else {
                    origin.refuseConnections()
                }
            }
        }
    }
}

/// Runs a blocking function on another thread.
func onThread<Value: Sendable>(
    _ body: @escaping @Sendable () throws -> Value
) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
        DispatchQueue.global().async { continuation.resume(with: Result { try body() }) }
    }
}
