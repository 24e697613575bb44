import Testing

@testable import SegmenterURLs

@Suite struct HTTPDateTests {
    /// The last dates are remembered, with their seconds.
    @Test func repeatedDatesKeepTheirSeconds() {
        let dates: [(String, Int64?)] = [
            ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777),
            ("Sun, 06 Nov 1994 08:49:38 GMT", 784_111_778),
            ("Mon, 07 Nov 1994 08:49:38 GMT", 784_198_178),
            ("Mon, 07 Nov 1994 08:49:61 GMT", nil),
        ]
        for number in [0, 0, 1, 0, 1, 2, 3, 3, 0, 2, 1, 0, 3, 1] {
            let (text, seconds) = dates[number]
            #expect(secondsSince1970(fixedDate: text) == seconds, "\(text)")
        }
    }
}
