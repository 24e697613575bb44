/// The meaning of 403 (Forbidden) from a host that serves other requests at the same time.
///
/// Either the file is forbidden, or the host serves no more requests at a time. Pure: no I/O and no
/// clock.
package struct Forbidding: Sendable, Hashable {
    /// The known meaning of 403.
    package enum Meaning: Sendable, Hashable { case unknown, limit, refusal }

    /// The number of refusals in a row beside served requests after which a file counts as
    /// forbidden.
    package static let tries = 6
    /// The same for a host that is known to have a limit.
    static let triesAtLimit = 24

    package private(set) var meaning = Meaning.unknown

    package init() {}

    /// Returns whether to request a refused file again.
    ///
    /// A refusal that counts as final is remembered for the host.
    ///
    /// - Parameters:
    ///   - refusals: The number of refusals in a row.
    ///   - isBeside: Whether other requests were active: a single request is never over the
    ///     server's limit.
    ///   - isLimited: Whether the host is known to limit the number of requests at a time.
    /// - Returns: Whether to request the file again.
    package mutating func mayPass(_ refusals: Int, isBeside: Bool, isLimited: Bool = false) -> Bool
    {
        guard isBeside, meaning != .refusal else { return false }
        if meaning == .limit || isLimited { return refusals < Self.triesAtLimit }
        guard refusals >= Self.tries else { return true }
        meaning = .refusal
        return false
    }

    /// Records that the host has served a file that it had refused.
    package mutating func served() { meaning = .limit }
}
