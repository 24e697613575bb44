import Assembler
import SegmenterRules
import SegmenterTransport

/// Decides whether the part is discarded because of a server's response.
///
/// If another response may differ, one response does not suffice, unless the server may not be
/// asked again.
///
/// Pure: no I/O and no clock.
struct LossCheck: Sendable {
    /// The number of further requests, after pauses of 0.5, 1 and 2 s.
    private static let most = 3

    /// The step that follows a response that would discard the part.
    enum Step: Sendable, Hashable {
        /// Continue with the offer, which discards the part unless a sample of it matches.
        case accept
        /// Keep the part, and fail: the response is probably a login page or an error page.
        case refuse(ContractBreach)
        /// Send a `GET`, because only a `HEAD` has stated it.
        case prove
        /// Ask again, after a pause as after this number of failures; `nil` for no pause.
        case askAgain(pause: Int?, ContractBreach)
    }

    /// Whether a response for the whole file without validators counts as a page, if the part was
    /// downloaded in ranges.
    let isWary: Bool
    /// Whether the server may be asked again; if not, one response decides.
    let asksAgain: Bool
    private var asked = 0

    init(isWary: Bool = false, asksAgain: Bool = true) {
        self.isWary = isWary
        self.asksAgain = asksAgain
    }

    /// Judges a response.
    ///
    /// - Parameters:
    ///   - reason: Why the part would be discarded.
    ///   - begun: The version of the part, and whether it was downloaded in one stream; `nil` if
    ///     the manifest does not state them.
    ///   - file: The server's offer.
    ///   - isProven: Whether a `GET` has stated it.
    /// - Returns: The next step.
    mutating func step(
        _ reason: StartOverReason, begun: (identity: RemoteIdentity, isOneStream: Bool)?,
        offered file: RemoteFile, isProven: Bool
    ) -> Step {
        // Only the dates differ: a sample of the part decides.
        if begun?.identity.isDoubted(by: file.identity) == true { return .accept }
        // The server ignored ranges before, so that one further response suffices, without a pause.
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

    /// Returns why the offer is probably a page in place of the file; `nil` if it is not.
    ///
    /// The part has a strong validator (RFC 9110 §8.8.1). The offer has another size, no validators
    /// and no ranges.
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
    /// Whether the response had no validators (RFC 9110 §8.8).
    fileprivate var isAnonymous: Bool { etag == nil && lastModified == nil }
}

extension StartOverReason {
    /// Returns the statement of the server that another response may revoke.
    ///
    /// - Parameters:
    ///   - begun: The version of the part.
    ///   - offered: The version that the server states.
    /// - Returns: The statement; `nil` if asking again does not help.
    fileprivate func breach(
        _ begun: RemoteIdentity?, _ offered: RemoteIdentity
    ) -> ContractBreach? {
        // Another response does not help if the validators are unchanged but no longer trusted.
        if self == .noValidator, begun?.strongValidator != nil, offered.blank.isEmpty {
            return .otherLastModified(expected: begun?.lastModified, got: nil)
        }
        return self == .noRanges ? .wholeFileForRange : change
    }
}
