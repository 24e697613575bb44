import Testing

@testable import Segmenter
@testable import SegmenterRules
@testable import SegmenterTransport

struct FolderNamesTests {
    @Test(
        arguments: [
            ("big.iso", 0, "big.iso"), ("big.iso", 1, "big.1.iso"), ("big.iso", 12, "big.12.iso"),
            ("x.tar.gz", 1, "x.1.tar.gz"), ("X.TAR.ZST", 2, "X.2.TAR.ZST"),
            ("a.b.gz", 1, "a.b.1.gz"),
            ("name", 1, "name.1"), (".tar.gz", 1, ".tar.1.gz"), ("tar.gz", 1, "tar.1.gz"),
            ("v1.2", 1, "v1.2.1"), ("ends.", 1, "ends..1"), ("文字.iso", 3, "文字.3.iso"),
            (
                "a." + String(repeating: "e", count: 40), 1,
                "a." + String(repeating: "e", count: 40) + ".1"
            ),
        ])
    func numberPrecedesExtension(name: String, number: Int, numbered: String) {
        #expect(FileName.numbered(name, number) == numbered)
    }

    @Test func numberedNamesAreShortEnough() {
        for stem in ["x", "é", "文", "👩‍👩‍👧"] {
            for ending in ["", ".iso", ".tar.gz"] {
                let long = String(repeating: stem, count: FileName.longest) + ending
                let name = FileName.numbered(long, 123)
                #expect(name.utf8.count <= FileName.longest)
                #expect(name.hasSuffix(".123\(ending)"))
                #expect(name.utf8.count > FileName.longest - 25)
            }
        }
    }

    @Test func numbersNamesThatFoldTogether() {
        func claims(_ folds: Bool) -> [String] {
            var names = FolderNames()
            return ["Data.bin", "data.bin", "DATA.BIN", "straße", "STRASSE", "other"].map {
                names.claim($0, folds: { folds }, owner: { _ in .nobody })
            }
        }
        #expect(
            claims(true)
                == ["Data.bin", "data.1.bin", "DATA.2.BIN", "straße", "STRASSE.1", "other"])
        #expect(
            claims(false) == ["Data.bin", "data.bin", "DATA.BIN", "straße", "STRASSE", "other"])
        var names = FolderNames()
        let taken = ["Data.bin", "data.bin", "DATA.bin.part"].map {
            names.take($0, folds: { true })
        }
        #expect(taken == [true, false, false])
    }

    /// The folder's case folding is checked once, and only if two names differ in case only.
    @Test func checksFoldingOnlyIfNeeded() {
        var (names, asked) = (FolderNames(), 0)
        for name in ["a", "b", "a", "c.part"] {
            _ = names.claim(
                name,
                folds: {
                    asked += 1; return true
                }, owner: { _ in .nobody })
        }
        #expect(asked == 0)
        for name in ["A", "B"] {
            _ = names.claim(
                name,
                folds: {
                    asked += 1; return true
                }, owner: { _ in .nobody })
        }
        #expect(asked == 1)
    }

    @Test func takesExistingFilesInNumberOrder() {
        var names = FolderNames()
        let there: Set = ["f.iso", "f.1.iso"]
        let taken = (0..<3).map { _ in names.takeExisting("f.iso", exists: there.contains) }
        #expect(taken == ["f.iso", "f.1.iso", nil])
        #expect(names.claim("f.iso", owner: { _ in .nobody }) == "f.2.iso")
    }

    @Test func parsesNumberedNames() {
        for name in ["big.iso", "x.tar.gz", "name", "v1.2", "a.7.b"] {
            for number in [1, 2, 30] {
                let found = FileName.unnumbered(FileName.numbered(name, number))
                #expect(found.contains { $0 == (name, number) }, "\(name) \(number)")
            }
        }
        #expect(FileName.unnumbered("big.iso").isEmpty)
        #expect(FileName.unnumbered("big.01.iso").isEmpty)
    }

    @Test func numbersRepeatedNames() {
        var names = FolderNames()
        let given = ["a.iso", "a.iso", "b", "a.iso", "a.1.iso", "b"].map {
            names.claim($0) { _ in .nobody }
        }
        #expect(given == ["a.iso", "a.1.iso", "b", "a.2.iso", "a.1.1.iso", "b.1"])
    }

    @Test func givenNameIsTakenOnce() {
        var names = FolderNames()
        let taken = [names.take("a"), names.take("a")]
        #expect(taken == [true, false])
        let numbered = names.claim("a") { _ in .nobody }
        #expect(numbered == "a.1")
        let isFree = names.take("a.1")
        #expect(!isFree)
    }

    @Test(arguments: [".part", ".segget", ".segget~"])
    func nameNeverEqualsAnothersPart(suffix: String) {
        var names = FolderNames()
        let given = ["a", "a" + suffix].map { names.claim($0) { _ in .nobody } }
        #expect(given == ["a", "a.1" + suffix])
        var others = FolderNames()
        let taken = [others.take("a" + suffix), others.take("a")]
        #expect(taken == [true, false])
    }

    /// Each row has the parts of an earlier run, with the indices of their files.
    ///
    /// Index 99 means another download.
    @Test(
        arguments: [
            // All parts exist under the names of the earlier run.
            (["f": 0, "f.1": 1, "f.2": 2], ["f", "f.1", "f.2"]),
            // The first file had failed, so the others got the first two names.
            (["f": 1, "f.1": 2], ["f.2", "f", "f.1"]),
            // The first file is finished, and was moved away.
            (["f.1": 1, "f.2": 2], ["f", "f.1", "f.2"]),
            // Only the last file has a part, with a high number.
            (["f.9": 2], ["f", "f.1", "f.9"]),
            // A part of another download does not change the names.
            (["f": 99], ["f", "f.1", "f.2"]), (["f.1": 99], ["f", "f.1", "f.2"]),
            ([:], ["f", "f.1", "f.2"]),
        ] as [([String: Int], [String])])
    func fileFindsItsOwnPart(left: [String: Int], expected: [String]) {
        var names = FolderNames(begun: Array(left.keys))
        let given = (0..<3).map { file in
            names.claim("f") { name in
                switch left[name] {
                case file?: .own
                case let other? where other < 3: .another
                default: .nobody
                }
            }
        }
        #expect(given == expected)
    }

    /// Repeated runs that are killed, with random failures.
    ///
    /// A file that has a part gets the name of that part, and no name is given twice.
    @Test func partsStayWithTheirFiles() {
        let seed = UInt64.random(in: 0...UInt64.max)
        var random = Seeded(state: seed)
        for _ in 0..<300 {
            let wanted = (0..<8).map { _ in
                ["a.iso", "a.iso", "a.1.iso", "b"].randomElement(using: &random) ?? ""
            }
            var left: [String: Int] = [:]
            for _ in 0..<4 {
                var names = FolderNames(begun: left.keys.shuffled(using: &random))
                var given: [String: Int] = [:]
                let before = left
                for (file, name) in wanted.enumerated()
                where Int.random(in: 0..<4, using: &random) > 0 {
                    let claimed = names.claim(name) { candidate in
                        before[candidate].map { $0 == file ? .own : .another } ?? .nobody
                    }
                    #expect(given[claimed] == nil, "seed \(seed)")
                    #expect(before[claimed] == nil || before[claimed] == file, "seed \(seed)")
                    if before.values.contains(file) {
                        #expect(before[claimed] == file, "seed \(seed)")
                    }
                    given[claimed] = file
                    left[claimed] = file
                }
            }
        }
    }

    private struct Seeded: RandomNumberGenerator {
        var state: UInt64
        mutating func next() -> UInt64 {
            state &+= 0x9e37_79b9_7f4a_7c15
            var z = state
            z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
            z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
            return z ^ (z >> 31)
        }
    }
}
