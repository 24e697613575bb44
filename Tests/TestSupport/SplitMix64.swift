/// A random generator that produces the same numbers for the same seed on every machine.
public struct SplitMix64: RandomNumberGenerator {
    private var state: UInt64

    /// Creates a generator with `seed`.
    public init(seed: UInt64) { state = seed }

    /// The next number.
    public mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed >> 31)
    }

    /// Returns `count` random bytes.
    public mutating func bytes(_ count: Int) -> [UInt8] {
        (0..<count).map { _ in UInt8(truncatingIfNeeded: next()) }
    }
}

/// Runs a property for the seeds `0..<count`, each with its own generator.
public func forEachSeed(
    _ count: UInt64, _ body: (_ seed: UInt64, _ random: inout SplitMix64) throws -> Void
) rethrows {
    for seed in 0..<count {
        var random = SplitMix64(seed: seed)
        try body(seed, &random)
    }
}
