import Testing

@testable import Segmenter
@testable import SegmenterRules
@testable import SegmenterTransport

@Suite struct DurationSecondsTests {
    @Test(arguments: [0, 0.1, 0.3, 1.25, 2.5, 8.5, 10, 86_400, 1e8, 12_345.678, -0.5, 1e-9])
    func convertsSecondsWithoutLoss(seconds: Double) {
        #expect(Duration(seconds: seconds).inSeconds == seconds)
        #expect(Duration(seconds: seconds) == .seconds(seconds))
    }

    /// A server may request any wait, and a very low rate yields a very long time.
    @Test func infiniteAndInvalidNumbersAreClamped() {
        #expect(Duration(seconds: .infinity).inSeconds == 9.2e18)
        #expect(Duration(seconds: 1e300) == Duration(seconds: .infinity))
        #expect(Duration(seconds: -.infinity).inSeconds == -9.2e18)
        #expect(Duration(seconds: .nan) == .zero)
    }
}
