/// What a session knows of the hosts that it has asked, by origin.
///
/// Pure; lives on the loop thread.
struct HostContacts: Sendable {
    /// Seconds for which a host that was given up is tried once only for each further file.
    static let memory = 5.0

    private(set) var served: Set<String> = []
    private var givenUp: [String: Double] = [:]

    /// A host has sent a file, or a part of one.
    mutating func served(_ origin: String) {
        served.insert(origin)
        givenUp[origin] = nil
    }

    /// A host was given up for a file.
    ///
    /// What lasted longer than one such time is not remembered anew by those that only rely on it.
    mutating func gaveUp(_ origin: String, now: Double) {
        if !isGivenUp(origin, now: now) { givenUp[origin] = now }
    }

    /// Whether a host has just been given up for another file.
    func isGivenUp(_ origin: String, now: Double) -> Bool {
        givenUp[origin].map { now - $0 < Self.memory } ?? false
    }
}
