public import ArgumentParser
import SeggetFormats
public import Segmenter

extension ConnectionCount: ExpressibleByArgument {
    /// Reads `auto`, `auto:N` or a number.
    public init?(argument: String) {
        // What is out of range is reported by `check`.
        guard let count = Self(argument) ?? Int(argument).map(Self.fixed) else { return nil }
        self = count
    }

    /// Refuses a number that is out of range.
    package func check() throws {
        try TransferOption.check("connections", self)
    }
}
