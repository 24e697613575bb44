import TestSupport
import Testing

@testable import Assembler

/// Dates and ETags that are no validators, because another file of the same size has them too.
@Suite struct BlankValidatorTests {
    private static let size: Int64 = 20_971_520
    /// 2024-07-25 02:06:59 UTC.
    private static let modern: Int64 = 1_721_873_219
    private static let npm: Int64 = 499_162_500

    @Test(
        arguments: [
            (0, true), (1, true), (315_532_800, true), (315_619_200, true), (315_619_201, false),
            (499_162_499, false), (499_162_500, true), (499_162_501, false),
            (1_721_873_219, false), (-1, true),
        ] as [(Int64, Bool)])
    func recognisesPlaceholderDates(seconds: Int64, isPlaceholder: Bool) {
        #expect(RemoteIdentity.isPlaceholder(date: seconds) == isPlaceholder)
    }

    /// Returns the ETags that servers derive from a time and a size.
    ///
    /// Those in `usable` also contain an inode or a fraction.
    static func tags(_ time: Int64, _ size: Int64) -> [String] {
        func hex(_ number: Int64) -> String { String(number, radix: 16) }
        let base36 = String(size, radix: 36)
        return [
            // nginx, also with a content coding.
            "\"\(hex(time))-\(hex(size))\"", "W/\"\(hex(time))-\(hex(size))\"",
            "\"\(hex(time))-\(hex(size))-gzip\"",
            // Apache 2.4 and 2.2.
            "\"\(hex(size))-\(hex(time * 1_000_000))\"",
            "\"2a04f6-\(hex(size))-\(hex(time * 1_000_000))\"",
            // Decimal, in any order and unit.
            "\"\(time)-\(size)\"", "\"\(size)-\(time)\"", "\"\(time * 1000)_\(size)\"",
            "\"\(time).0-\(size)\"",
            // aiohttp, werkzeug.
            "\"\(hex(time * 1_000_000_000))-\(hex(size))\"", "\"\(time).0-\(size)-2863311530\"",
            // Caddy.
            "\"\(String(time, radix: 36))\(base36)\"",
        ]
    }

    @Test(arguments: [0, 1, 86_400, 315_532_800, 499_162_500] as [Int64])
    func tagOfPlaceholderAndSizeIsBlank(time: Int64) {
        for tag in Self.tags(time, Self.size) {
            #expect(RemoteIdentity.isBlank(etag: tag, size: Self.size, date: time), "\(tag)")
            // For a file of another size, the ETag is a validator.
            #expect(
                !RemoteIdentity.isBlank(etag: tag, size: Self.size + 1, date: time), "\(tag)")
        }
    }

    /// Tests any size, and any time since 1996.
    @Test func tagOfTimeAndSizeIsNotBlank() {
        let seed = UInt64.random(in: 0...UInt64.max)
        var random = SplitMix64(seed: seed)
        for _ in 0..<2000 {
            let time = Int64.random(in: 820_454_400..<4_000_000_000, using: &random)
            let size = Int64.random(in: 1...1 << 40, using: &random)
            for tag in Self.tags(time, size) {
                #expect(
                    !RemoteIdentity.isBlank(etag: tag, size: size, date: time),
                    "\(tag) of \(size) bytes, seed \(seed)")
            }
        }
    }

    /// Tests hashes, version numbers and strings that only look like numbers.
    @Test func otherTagIsNotBlank() {
        let seed = UInt64.random(in: 0...UInt64.max)
        var random = SplitMix64(seed: seed)
        var tags = ["v1", "1", "2", "1.2.3", "1-2", "0-1", "a"].map { "\"\($0)\"" }
        for _ in 0..<2000 {
            let (one, other) = (UInt64.random(in: 1...UInt64.max, using: &random), random.next())
            tags += [
                "\"\(one)\"", "\"\(String(one, radix: 16))\"",
                "\"\(String(one, radix: 16))\(String(other, radix: 16))\"",
                "\"\(UInt32(truncatingIfNeeded: one))\"", "\"\(String(one, radix: 16))-2\"",
            ]
        }
        for tag in tags {
            #expect(
                !RemoteIdentity.isBlank(etag: tag, size: Self.size, date: 1), "\(tag), seed \(seed)"
            )
        }
    }

    @Test(
        arguments: [
            ("\"0\"", true), ("\"\"", true), ("W/\"0\"", true), ("\"0-0\"", true),
            ("\"20971520\"", true), ("\"1400000\"", true), ("W/\"1400000\"", true),
            ("\"20971521\"", false), ("\"10\"", false),
        ])
    func tagOfSizeOrZerosIsBlank(tag: String, isBlank: Bool) {
        #expect(RemoteIdentity.isBlank(etag: tag, size: Self.size, date: Self.modern) == isBlank)
        #expect(RemoteIdentity.isBlank(etag: tag, size: Self.size, date: nil) == isBlank)
    }

    /// A blank ETag is treated as a weak one: equality proves nothing, and a difference means a
    /// change.
    @Test func blankTagCountsAsWeak() {
        var mine = RemoteIdentity(
            size: 9, etag: "\"a\"", lastModified: "x", lastModifiedIsStrong: true)
        let before = mine
        #expect(mine.obstacle(toContinuingWith: mine) == nil)
        mine.distrust(.etag)
        #expect((mine.kind, mine.ifRange, mine.strongValidator) == ("last-modified", "x", "x"))
        mine.distrust(.lastModified)
        #expect((mine.kind, mine.ifRange, mine.strongValidator) == ("none", nil, nil))
        #expect(mine.obstacle(toContinuingWith: mine) == .noValidator)
        // An earlier run had still trusted it.
        #expect(before.obstacle(toContinuingWith: mine) == .noValidator)
        #expect(mine.obstacle(toContinuingWith: before) == .noValidator)
        #expect(!before.hasSameStrongETag(as: mine) && !before.isDoubted(by: mine))
        var other = mine
        other.etag = "\"b\""
        #expect(
            mine.obstacle(toContinuingWith: other) == .etagChanged(was: "\"a\"", now: "\"b\""))
        other = mine
        other.lastModified = "y"
        #expect(
            mine.obstacle(toContinuingWith: other) == .lastModifiedChanged(was: "x", now: "y"))
    }

    /// The ETag from a `HEAD` response stays blank when a `GET` response is merged with it.
    @Test func staysBlankIfOnlyHeadHasIt() {
        var said = RemoteIdentity(
            size: 9, etag: "\"9\"", lastModified: "x", lastModifiedIsStrong: true)
        said.distrust([.etag, .lastModified])
        var got = RemoteIdentity(size: 9)
        got.remember(said)
        #expect((got.etag, got.lastModified, got.strongValidator) == ("\"9\"", "x", nil))
    }

    /// `--timestamping` ignores placeholder dates and blank ETags.
    @Test func placeholderIsNotATime() {
        var offered = RemoteIdentity(size: 100, etag: "\"1-64\"")
        let known = offered
        offered.distrust(.etag)
        func decision(_ modified: Int64) -> TimestampDecision {
            TimestampDecision(
                size: 100, time: 1_800_000_000, known: known, offered: offered,
                modified: modified)
        }
        #expect(decision(1) == .fetch)
        #expect(decision(Self.npm) == .fetch)
        #expect(decision(Self.modern) == .keep)
        offered.etag = "\"1-65\""
        #expect(decision(Self.modern) == .fetch)
    }
}
