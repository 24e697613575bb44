/// How fast a connection brings its part of the file: what was measured, smoothed.
///
/// Pure. What comes is written in order, so a packet that is lost holds up what follows for a round trip
/// or two, and then all of it comes at once: neither is the connection's rate.
struct ConnectionRate: Sendable, Hashable {
    /// Most that one measurement counts for.
    static let mostWeight = 0.3
    /// Time that measurements of a tick are smoothed over: seconds, and round trips beyond those.
    static let memory = (seconds: 0.2, trips: 3.0)
    /// Age up to which a connection may still be in slow start: seconds, and round trips beyond those.
    static let youth = (seconds: 0.5, trips: 5.0)
    /// Seconds between two measurements.
    private static let tick = 0.1

    /// In bytes per second; 0 when unknown.
    private(set) var value = 0.0

    /// Takes a measurement.
    ///
    /// What comes twice as fast as before is believed at once while the connection is young: that is
    /// slow start.
    ///
    /// - Parameters:
    ///   - sample: In bytes per second.
    ///   - age: Seconds since the first byte that came on the connection.
    ///   - roundTrip: In seconds; 0 when unknown.
    mutating func note(_ sample: Double, age: Double, roundTrip: Double) {
        let isYoung = age < Self.youth.seconds + Self.youth.trips * roundTrip
        if value == 0 || isYoung && sample > 2 * value {
            value = sample
        } else {
            let time = Self.memory.seconds + Self.memory.trips * roundTrip
            value += min(Self.mostWeight, Self.tick / time) * (sample - value)
        }
    }
}
