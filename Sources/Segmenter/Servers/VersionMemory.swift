import Assembler

/// Which origins do not speak HTTP/1.1, so that the next request goes out over HTTP/2.
///
/// May be used from any thread.
final class VersionMemory: Sendable {
    private enum Standing {
        /// It has answered over HTTP/2.
        case speaksHTTP2
        /// It refuses HTTP/1.1, and has answered over HTTP/2.
        case needsHTTP2
    }

    private struct State {
        var standings: [String: Standing] = [:]
        /// Where HTTP/2 was tried after HTTP/1.1 had failed, by method: not again, unless it helped.
        var tried: [RequestMethod: Set<String>] = [:]
    }

    private let state = Monitor(State())

    /// Whether an origin is asked over HTTP/2 only.
    func needsHTTP2(_ origin: String) -> Bool {
        state.withLock { $0.standings[origin] == .needsHTTP2 }
    }

    /// Notes a reply that has come over HTTP/2.
    func hasAnswered(_ origin: String) {
        state.withLock { state in
            if state.standings[origin] == nil { state.standings[origin] = .speaksHTTP2 }
        }
    }

    /// Whether a request that looks as if HTTP/1.1 was refused is to be made again over HTTP/2: once for
    /// an origin and a method (some answer `HEAD` with a body, which HTTP/2 does not forgive), and always
    /// where HTTP/2 was found to be needed after it had gone out.
    func begins(_ origin: String, _ method: RequestMethod) -> Bool {
        state.withLock { state in
            state.standings[origin] == .needsHTTP2
                || state.tried[method, default: []].insert(origin).inserted
        }
    }

    /// Notes that the request which `begins` has asked for was answered over HTTP/2.
    ///
    /// - Returns: Whether that is news: a request of another method may have shown it meanwhile.
    func helped(_ origin: String) -> Bool {
        state.withLock { state in
            state.standings.updateValue(.needsHTTP2, forKey: origin) != .needsHTTP2
        }
    }

    /// Whether a request that looks as if HTTP/1.1 was refused has failed because of that: the origin is
    /// known to speak HTTP/2.
    ///
    /// - Returns: Whether that is news; `nil` where it failed for another reason.
    func explains(_ origin: String) -> Bool? {
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
