import Testing

@testable import Segmenter
@testable import SegmenterRules
@testable import SegmenterTransport

struct FolderReadingTests {
    private static let old: Int64 = 1_000_000_000

    /// Returns a folder that was read from 10 s to 10.5 s, and had last changed long before.
    private static func reading(date: Int64 = 90 * old) -> FolderReading {
        var reading = FolderReading()
        reading.took(from: 10, to: 10.5, modified: old, date: date)
        return reading
    }

    @Test func unreadFolderIsDue() {
        #expect(FolderReading().isDue(0, modified: 1))
        #expect(FolderReading().isDue(0, modified: nil))
    }

    @Test(arguments: [
        (10.6, Optional(old), false), (1e9, old, false), (10.6, old + 1, false),
        (14.9, old + 1, false), (15.0, old + 1, true), (14.9, nil, false), (15.0, nil, true),
    ])
    func rereadsTakeAtMostTenthOfTime(now: Double, modified: Int64?, isDue: Bool) {
        #expect(Self.reading().isDue(now, modified: modified) == isDue)
    }

    @Test func folderChangedDuringReadIsDueAgain() {
        let reading = Self.reading(date: Self.old + 1_000_000)
        #expect(!reading.isDue(10.6, modified: Self.old))
        #expect(reading.isDue(15, modified: Self.old))
    }
}
