extension FirstContact.Trouble {
    /// Classifies the failure of a request.
    ///
    /// - Parameters:
    ///   - failure: The reason why the request failed.
    ///   - retryAfter: The seconds in the `Retry-After` of the response; `nil` if there is none.
    ///   - verdict: The resolver's result for the name that libcurl could not resolve.
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
