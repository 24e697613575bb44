extension FirstContact.Trouble {
    /// Classifies the failure of a request.
    ///
    /// - Parameters:
    ///   - failure: The reason why the request failed.
    ///   - retryAfter: The seconds in the `Retry-After` of the response; `nil` if there is none.
    ///   - isUnknownName: Whether the resolver reports that the name does not exist.
    package init(
        _ failure: TransferFailure, retryAfter: Double?, isUnknownName: Bool = false
    ) {
        switch failure {
        case .status(let status):
            self = (500..<600).contains(status) && retryAfter == nil ? .passing : .other
        case _ where failure.isUnresolved:
            self = isUnknownName ? .unknownName : .passing
        case _ where failure.isSilentNameServer: self = .silentNameServer
        case _ where failure.isTimedOut: self = .other
        case .network(let code, _): self = isConnectionFailure(code) ? .passing : .other
        case .proxy: self = .passing
        case .stalled, .truncated, .breach, .retryAfterTooLong, .resting: self = .other
        }
    }
}
