import Testing

@testable import SeggetFormats

struct QuantityTests {
    @Test(
        arguments: [
            ("0", 0), ("1", 1), ("1500", 1500), ("12.5", 12.5), (".5K", 512), ("1B", 1),
            ("7 b", 7), ("1K", 1024), ("1k", 1024), ("1Ki", 1024), ("1KiB", 1024), ("1kib", 1024),
            ("1kB", 1000), ("1KB", 1000), ("2M", 2_097_152), ("2MiB", 2_097_152),
            ("2 MiB", 2_097_152), ("2MB", 2e6), ("1.5G", 1_610_612_736), ("1.5GB", 1.5e9),
            ("1Gi", 1_073_741_824), ("3T", 3_298_534_883_328), ("3TB", 3e12),
            ("", nil), ("K", nil), (".", nil), ("1..2", nil),
            ("1.2.3", nil), ("-1", nil), ("+1", nil), ("1e3", nil), ("0x10", nil), ("nan", nil),
            ("inf", nil), ("1X", nil), ("1KX", nil), ("1iB", nil), ("1Bit", nil), ("1KiBs", nil),
            ("1  K", nil), (" 1", nil), ("1K ", nil), ("1,5M", nil), ("½", nil), ("١", nil),
            ("9999999T", nil), ("4611686018427387904", nil), ("1Mbit", nil), ("1M/s", nil),
            (String(repeating: "9", count: 400), nil),
        ] as [(String, Double?)])
    func readsSizes(text: String, bytes: Double?) {
        #expect(Quantity(text)?.bytes == bytes)
    }

    @Test(
        arguments: [
            ("0", 0), ("500", 500), ("500K", 512_000), ("500K/s", 512_000), ("1.5MiB/s", 1_572_864),
            ("8Mbit", 1e6), ("8mbit/s", 1e6), ("8 Mbit/s", 1e6), ("1Kbit", 125), ("1Gbit", 1.25e8),
            ("12bit", 1.5), ("2MB/s", 2e6), ("", nil), ("/s", nil), ("1Mbit/s/s", nil),
            ("1Mbits", nil), ("1Mibit", nil), ("-8Mbit", nil), ("8Mbps", nil), ("8/s/s", nil),
            ("99999999999999Gbit", nil),
            ("3Mb", nil), ("3MB", 3e6), ("3MiB", 3_145_728), ("1B", 1),
        ] as [(String, Double?)])
    func readsRates(text: String, bytesPerSecond: Double?) {
        #expect(Rate(text)?.bytesPerSecond == bytesPerSecond)
    }

    @Test(
        arguments: [
            ("3Mb", "3M", "3Mbit"), ("1.5mb/s", "1.5M", "1.5Mbit"), ("8 Kb", "8K", "8Kbit"),
            ("8kb", "8K", "8Kbit"), ("2Gib", "2G", "2Gbit"), ("500b", "500", "500bit"),
        ])
    func lowercaseBIsAmbiguousInARate(text: String, bytes: String, bits: String) {
        #expect(throws: RateSyntaxError.ambiguous(bytes: bytes, bits: bits)) {
            try Rate(parsing: text)
        }
    }
}
