import CCurl

extension FirstContact.Trouble {
    /// - Parameters:
    ///   - failure: Why a request failed.
    ///   - retryAfter: Seconds that the server asked to wait for; `nil` when it did not.
    ///   - verdict: What the resolver says of the name that libcurl could not resolve.
    init(_ failure: TransferFailure, retryAfter: Double?, verdict: NameVerdict = .noAnswer) {
        switch failure {
        case .status(let status):
            self = (500..<600).contains(status) && retryAfter == nil ? .passing : .other
        case .network(let code, _) where isUnresolved(code),
            .proxy(let code, _) where isUnresolved(code):
            self = verdict == .unknown ? .unknownName : .passing
        // libcurl's resolver runs into the limit of connecting.
        case .network(let code, let text)
        where code == Int(CURLE_OPERATION_TIMEDOUT.rawValue)
            && text.hasPrefix("Resolving timed out"):
            self = .silentNameServer
        case .network(let code, _) where code == Int(CURLE_OPERATION_TIMEDOUT.rawValue),
            .proxy(let code, _) where code == Int(CURLE_OPERATION_TIMEDOUT.rawValue):
            self = .other
        case .network(let code, _):
            self = isConnectionFailure(code) ? .passing : .other
        case .proxy: self = .passing
        case .stalled, .truncated, .breach, .retryAfterTooLong: self = .other
        }
    }
}

/// Whether a `CURLcode` says that a name was not resolved, whatever the reason.
private func isUnresolved(_ code: Int) -> Bool {
    [CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY].contains {
        Int($0.rawValue) == code
    }
}

extension TransferFailure {
    /// The name that libcurl could not resolve.
    ///
    /// - Parameter host: The host that was asked for.
    /// - Returns: `nil` when it was something else.
    func unresolvedName(host: String?) -> String? {
        switch self {
        case .network(let code, _) where isUnresolved(code): return host
        case .proxy(let code, let text) where isUnresolved(code):
            // "Could not resolve proxy: NAME", as the environment may name it, too.
            guard let colon = text.firstRange(of: ": ") else { return nil }
            return String(text[colon.upperBound...])
        default: return nil
        }
    }
}

extension Worker {
    /// Whether a host has sent a file, or a part of one, in this session.
    func hasServed(_ origin: String) -> Bool {
        contacts.served.contains(origin)
            || transfers.values.contains { $0.hasServed && $0.request.url.origin == origin }
    }

    /// Notes what a transfer that is over says of its host.
    func noteContact(_ transfer: Transfer) {
        if transfer.hasServed { contacts.served(transfer.request.url.origin) }
    }
}

extension Transfer {
    /// Whether the reply is a file, or a part of one.
    fileprivate var hasServed: Bool {
        request.method == .get && (reply?.status == 200 || reply?.status == 206)
    }
}
