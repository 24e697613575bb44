import Testing

@testable import SeggetReports

struct UnitsTests {
    @Test(
        arguments: [
            (-5, "0 B"), (0, "0 B"), (1, "1 B"), (1023, "1023 B"), (1024, "1.00 KiB"),
            (10_229, "9.99 KiB"), (10_235, "10.0 KiB"), (102_348, "99.9 KiB"), (102_349, "100 KiB"),
            (102_400, "100 KiB"),
            (1_048_575, "1.00 MiB"), (1_048_063, "1023 KiB"), (1_610_612_736, "1.50 GiB"),
            (Int64.max, "8.00 EiB"),
        ] as [(Int64, String)])
    func sizesHaveThreeDigitsInBinaryUnits(bytes: Int64, text: String) {
        #expect(Units.size(bytes) == text)
    }

    @Test(
        arguments: [
            (0, "0 B/s"), (0.4, "0 B/s"), (12_897_485, "12.3 MiB/s"), (-1, "0 B/s"),
            (.nan, "0 B/s"), (.infinity, "4.00 EiB/s"),
        ] as [(Double, String)])
    func speedsAcceptAnyNumber(speed: Double, text: String) {
        #expect(Units.speed(speed) == text)
    }

    @Test(
        arguments: [
            (0, "0 s"), (12.4, "12 s"), (59.6, "1m00s"), (185, "3m05s"), (3599, "59m59s"),
            (3600, "1h00m"), (3720, "1h02m"), (86_399, "23h59m"), (183_600, "2d03h"),
            (86_400_000, nil), (.infinity, nil), (.nan, "0 s"), (-1, "0 s"),
        ] as [(Double, String?)])
    func durationsAreShort(seconds: Double, text: String?) {
        #expect(Units.duration(seconds) == text)
    }

    @Test(
        arguments: [
            (0.04, "0.0 s"), (4.25, "4.3 s"), (9.94, "9.9 s"), (9.96, "10 s"), (75, "1m15s"),
            (.infinity, "more than 999 days"), (.nan, "0.0 s"), (-3, "0.0 s"),
        ] as [(Double, String)])
    func elapsedTimesHaveTenthsBelowTenSeconds(seconds: Double, text: String) {
        #expect(Units.elapsed(seconds) == text)
    }

    @Test(
        arguments: [
            (0, 0, 100), (0, 10, 0), (5, 10, 50), (10, 10, 100), (11, 10, 100), (-1, 10, 0),
            (.max - 1, .max, 99), (5, nil, nil),
        ] as [(Int64, Int64?, Int?)])
    func hundredPercentMeansComplete(done: Int64, size: Int64?, percent: Int?) {
        #expect(Units.percent(done, of: size) == percent)
    }
}
