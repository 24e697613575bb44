public import ArgumentParser
import SeggetFormats
public import Segmenter

extension ConnectionCount: ExpressibleByArgument {
    /// Parses `auto`, `auto:N` or a number.
    public init?(argument: String) {
        // `check` reports numbers that are out of range.
        guard let count = Self(argument) ?? Int(argument).map(Self.fixed) else { return nil }
        self = count
    }

    /// Refuses a number that is out of range.
    package func check() throws {
        try TransferOption.check("connections", self)
    }
}
