extension Int64 {
    /// Parses digits only, as HTTP's `1*DIGIT`; returns `nil` for a sign or a space.
    @inlinable
    package init?(digits text: some StringProtocol) {
        var value: Int64 = 0
        for byte in text.utf8 {
            guard (48...57).contains(byte) else { return nil }
            let (tens, isTooLarge) = value.multipliedReportingOverflow(by: 10)
            let (sum, isLarger) = tens.addingReportingOverflow(Int64(byte) - 48)
            guard !isTooLarge, !isLarger else { return nil }
            value = sum
        }
        guard !text.isEmpty else { return nil }
        self = value
    }
}
