/// What a host means by 403 (Forbidden) while it serves other requests: that this file is forbidden,
/// or that it serves no more at a time.
///
/// Pure.
struct Forbidding: Sendable, Hashable {
    /// What is known of it.
    enum Meaning: Sendable, Hashable { case unknown, limit, refusal }

    /// Times in a row that a file is refused beside others before it is believed to be forbidden.
    static let tries = 6
    /// The same where the host is known to mean a limit.
    static let triesAtLimit = 24

    private(set) var meaning = Meaning.unknown

    /// Whether a file that was refused is asked for again.
    ///
    /// - Parameters:
    ///   - refusals: How many times in a row it was.
    ///   - isBeside: Whether other requests were under way: alone, none is over the server's limit.
    ///   - isLimited: Whether the host is known to serve only so many requests at a time.
    /// - Returns: Whether it is; that it is not after so many times is remembered of the host.
    mutating func mayPass(_ refusals: Int, isBeside: Bool, isLimited: Bool = false) -> Bool {
        guard isBeside, meaning != .refusal else { return false }
        if meaning == .limit || isLimited { return refusals < Self.triesAtLimit }
        guard refusals >= Self.tries else { return true }
        meaning = .refusal
        return false
    }

    /// A file that had been refused was served.
    mutating func served() { meaning = .limit }
}
