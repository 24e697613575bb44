/// The smoothed rate at which a connection receives its part of the file.
///
/// Pure: no I/O and no clock. Bytes are delivered in order. So a lost packet delays the following
/// bytes for a round trip or two, and they then arrive in one burst. Neither the gap nor the burst
/// is the connection's rate.
struct ConnectionRate: Sendable, Hashable {
    /// The maximum weight of one measurement.
    static let mostWeight = 0.3
    /// The time over which measurements are smoothed: seconds, plus this number of round trips.
    static let memory = (seconds: 0.2, trips: 3.0)
    /// The age up to which a connection may be in slow start: seconds, plus this number of round
    /// trips.
    static let youth = (seconds: 0.5, trips: 5.0)
    /// The seconds between two measurements.
    private static let tick = 0.1

    /// The rate in bytes per second; 0 when unknown.
    private(set) var value = 0.0

    /// Adds a measurement.
    ///
    /// A doubled rate is accepted immediately while the connection is young, because that is slow
    /// start.
    ///
    /// - Parameters:
    ///   - sample: The measured rate in bytes per second.
    ///   - age: The seconds since the first byte was received on the connection.
    ///   - roundTrip: The round trip in seconds; 0 when unknown.
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
