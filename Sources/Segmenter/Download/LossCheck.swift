import Assembler

/// Decides whether what is there is given up because of what a server says: not for a reply or two.
///
/// Pure.
struct LossCheck: Sendable {
    /// Times that a server is asked again, after 0.5, 1 and 2 s.
    private static let most = 3

    /// What is to be done about a reply that would cost what is there.
    enum Step: Sendable, Hashable {
        /// Act on it.
        case accept
        /// Act on nothing: that is rather a login or error page.
        case refuse(ContractBreach)
        /// `HEAD` alone has said so: a `GET` is to say the same.
        case prove
        /// Ask again, after a pause as after so many failures, where `pause` says how many.
        case askAgain(pause: Int?, ContractBreach)
    }

    /// Whether whatever comes in one reply, and states no version, is taken for a page in place of a part
    /// that came in ranges.
    let isWary: Bool
    /// Whether the server may be asked again: else one reply decides.
    let asksAgain: Bool
    private var asked = 0

    init(isWary: Bool = false, asksAgain: Bool = true) {
        self.isWary = isWary
        self.asksAgain = asksAgain
    }

    /// Judges a reply.
    ///
    /// - Parameters:
    ///   - reason: Why what is there would be lost.
    ///   - begun: What is there, and whether it came in one stream; `nil` when nothing says so.
    ///   - file: What the server offers.
    ///   - isProven: Whether a `GET` has said so.
    /// - Returns: What is to be done.
    mutating func step(
        _ reason: StartOverReason, begun: (identity: RemoteIdentity, isOneStream: Bool)?,
        offered file: RemoteFile, isProven: Bool
    ) -> Step {
        // A sample of the part decides.
        if begun?.identity.isDoubted(by: file.identity) == true { return .accept }
        // That is no news, then: one other reply is enough, and it need not be waited for.
        let isExpected = reason == .noRanges && begun?.isOneStream ?? false
        let checks = !asksAgain ? 0 : isExpected ? 1 : Self.most
        let breach = asked < checks ? reason.breach(begun?.identity, file.identity) : nil
        guard isProven else { return .prove }
        guard let breach else {
            if isWary, let begun, !begun.isOneStream, file.transfer != .segments, file.isAnonymous {
                return .refuse(
                    reason.breach(begun.identity, file.identity) ?? .wholeFileForRange)
            }
            return Self.page(in: file, begun?.identity, reason).map { .refuse($0) } ?? .accept
        }
        asked += 1
        return .askAgain(pause: isExpected ? nil : asked, breach)
    }

    /// What speaks against giving up a part whose version is known by a strong validator: a reply of
    /// another size with no validator and without ranges.
    private static func page(
        in file: RemoteFile, _ begun: RemoteIdentity?, _ reason: StartOverReason
    ) -> ContractBreach? {
        guard case .sizeChanged(let was, let now) = reason, begun?.strongValidator != nil,
            file.transfer != .segments, file.isAnonymous
        else { return nil }
        return .otherSize(expected: was, got: now)
    }
}

extension RemoteFile {
    /// Whether nothing says which version it is.
    fileprivate var isAnonymous: Bool { etag == nil && lastModified == nil }
}

extension StartOverReason {
    /// What of the server's replies this is about, so that asking again may bring another answer.
    ///
    /// - Parameters:
    ///   - begun: The version of the part.
    ///   - offered: What the server states.
    /// - Returns: `nil` when asking again is of no use.
    fileprivate func breach(
        _ begun: RemoteIdentity?, _ offered: RemoteIdentity
    ) -> ContractBreach? {
        // What is stated as before, and counts for nothing by now, is no news.
        if self == .noValidator, begun?.strongValidator != nil, offered.blank.isEmpty {
            return .otherLastModified(expected: begun?.lastModified, got: nil)
        }
        return self == .noRanges ? .wholeFileForRange : change
    }
}
