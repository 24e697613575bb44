/// The hosts that have served files in a session, and those that were given up, by origin.
///
/// Pure: no I/O and no clock. Used on the loop thread.
package struct HostContacts: Sendable {
    /// The seconds for which a host that was given up gets only one attempt for each further file.
    package static let memory = 5.0

    package private(set) var served: Set<String> = []
    private var givenUp: [String: Double] = [:]

    /// Records that a host has sent a file, or a part of one.
    package mutating func served(_ origin: String) {
        served.insert(origin)
        givenUp[origin] = nil
    }

    /// Records that a host was given up for a file.
    ///
    /// A download that gives up because of an earlier record does not renew that record.
    package mutating func gaveUp(_ origin: String, now: Double) {
        if !isGivenUp(origin, now: now) { givenUp[origin] = now }
    }

    /// Returns whether a host was recently given up.
    package func isGivenUp(_ origin: String, now: Double) -> Bool {
        givenUp[origin].map { now - $0 < Self.memory } ?? false
    }
}
