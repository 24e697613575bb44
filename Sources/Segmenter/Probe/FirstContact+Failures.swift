extension FirstContact.Trouble {
    /// What kind of failure it was.
    ///
    /// - Parameters:
    ///   - failure: Why a request failed.
    ///   - retryAfter: Seconds that the server asked to wait for; `nil` when it did not.
    ///   - verdict: What the resolver says of the name that libcurl could not resolve.
    init(_ failure: TransferFailure, retryAfter: Double?, verdict: NameVerdict = .noAnswer) {
        switch failure {
        case .status(let status):
            self = (500..<600).contains(status) && retryAfter == nil ? .passing : .other
        case _ where failure.isUnresolved:
            self = verdict == .unknown ? .unknownName : .passing
        case _ where failure.isSilentNameServer: self = .silentNameServer
        case _ where failure.isTimedOut: self = .other
        case .network(let code, _): self = isConnectionFailure(code) ? .passing : .other
        case .proxy: self = .passing
        case .stalled, .truncated, .breach, .retryAfterTooLong, .resting: self = .other
        }
    }
}
