/// The origins that do not support HTTP/1.1, so that the next request uses HTTP/2.
///
/// May be used from any thread.
package final class VersionMemory: Sendable {
    private enum Standing {
        /// The origin has responded over HTTP/2.
        case speaksHTTP2
        /// The origin refuses HTTP/1.1, and has responded over HTTP/2.
        case needsHTTP2
    }

    private struct State {
        var standings: [String: Standing] = [:]
        /// The origins at which HTTP/2 was tried after HTTP/1.1 had failed, by method.
        ///
        /// HTTP/2 is not tried again at them unless it helped.
        var tried: [RequestMethod: Set<String>] = [:]
    }

    private let state = Monitor(State())

    /// Returns whether requests to an origin have to use HTTP/2.
    package func needsHTTP2(_ origin: String) -> Bool {
        state.withLock { $0.standings[origin] == .needsHTTP2 }
    }

    /// Records a response over HTTP/2.
    package func hasAnswered(_ origin: String) {
        state.withLock { state in
            if state.standings[origin] == nil { state.standings[origin] = .speaksHTTP2 }
        }
    }

    /// Returns whether to repeat a request over HTTP/2 after a failure that may mean that HTTP/1.1
    /// is refused.
    ///
    /// That happens once for an origin and a method, because some servers respond to `HEAD` with a
    /// body, which is an error in HTTP/2. It always happens if another request has found in the
    /// meantime that HTTP/2 is needed.
    package func begins(_ origin: String, _ method: RequestMethod) -> Bool {
        state.withLock { state in
            state.standings[origin] == .needsHTTP2
                || state.tried[method, default: []].insert(origin).inserted
        }
    }

    /// Records that a request for which `begins` returned `true` was answered over HTTP/2.
    ///
    /// - Returns: Whether this was unknown: a request of another method may have shown it in the
    ///   meantime.
    package func helped(_ origin: String) -> Bool {
        state.withLock { state in
            state.standings.updateValue(.needsHTTP2, forKey: origin) != .needsHTTP2
        }
    }

    /// Returns whether HTTP/1.1 was refused because the origin needs HTTP/2.
    ///
    /// The failure of a request may mean that, if the origin is known to speak HTTP/2.
    ///
    /// - Returns: Whether this was unknown; `nil` if the request failed for another reason.
    package func explains(_ origin: String) -> Bool? {
        state.withLock { state in
            switch state.standings[origin] {
            case .needsHTTP2: return false
            case .speaksHTTP2:
                state.standings[origin] = .needsHTTP2
                return true
            case nil: return nil
            }
        }
    }
}
