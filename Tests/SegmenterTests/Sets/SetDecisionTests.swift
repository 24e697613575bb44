import Assembler
import TestSupport
import Testing

@testable import Segmenter

/// Tests which files of a set are complete, read, replaced or left alone.
struct SetDecisionTests {
    private static let digest = Digest(crc32: 1)
    private static let other = Digest(crc32: 2)

    private static func file(
        size: Int64? = 5, digests: [Digest] = [], etag: String? = nil
    ) -> Listing.File {
        Listing.File(path: "f", address: "http://h/f", size: size, digests: digests, etag: etag)
    }

    /// Records that a file had the version of `planned`.
    private static func record(
        _ planned: Listing.File, size: Int64 = 5, digests: [Digest] = [digest]
    ) -> LedgerRecord {
        var record = LedgerRecord(path: "f", event: .complete, at: 0)
        record.version = PlanFormat.hex(planned.version)
        (record.size, record.digests) = (size, digests)
        return record
    }

    private static func decide(
        _ record: LedgerRecord, _ planned: Listing.File, attributes: RemoteIdentity? = nil,
        exists: Bool = true, isIntact: Bool = true, rechecks: Bool = false
    ) -> SetDecision {
        SetDecision(
            record, planned, attributes: attributes, exists: exists, isIntact: isIntact,
            rechecks: rechecks)
    }

    @Test func samePlanNeedsNoReading() {
        let planned = Self.file(etag: "\"a\"")
        #expect(Self.decide(Self.record(planned), planned) == .complete)
        #expect(
            Self.decide(Self.record(planned), planned, rechecks: true)
                == .read(Self.digest, otherwise: .replace))
    }

    @Test func missingFileIsDownloaded() {
        let planned = Self.file()
        for isIntact in [false, true] {
            #expect(
                Self.decide(Self.record(planned), planned, exists: false, isIntact: isIntact)
                    == .download)
        }
    }

    /// What the set did not write as it is now is never replaced.
    @Test func changedFileIsReadAndNeverReplaced() {
        let planned = Self.file(etag: "\"a\"")
        #expect(
            Self.decide(Self.record(planned), planned, isIntact: false)
                == .read(Self.digest, otherwise: .keep))
        #expect(
            Self.decide(Self.record(planned, digests: []), planned, isIntact: false) == .keep)
        let newer = Self.file(etag: "\"b\"")
        #expect(Self.decide(Self.record(planned), newer, isIntact: false) == .keep)
        let proven = Self.file(size: 6, digests: [Self.other])
        #expect(
            Self.decide(Self.record(planned), proven, isIntact: false)
                == .read(Self.other, otherwise: .keep))
    }

    @Test func otherVersionReplacesWhatTheSetWrote() {
        let old = Self.file(etag: "\"a\"")
        for newer in [
            Self.file(etag: "\"b\""), Self.file(size: 6), Self.file(digests: [Self.other]),
        ] {
            #expect(Self.decide(Self.record(old), newer) == .replace)
        }
    }

    /// A file that the user had put there stays, whatever is planned now.
    @Test func foundFileIsNeverReplaced() {
        let old = Self.file(etag: "\"a\"")
        var record = Self.record(old)
        record.found = true
        #expect(Self.decide(record, old) == .complete)
        #expect(
            Self.decide(record, old, rechecks: true) == .read(Self.digest, otherwise: .keep))
        #expect(Self.decide(record, Self.file(etag: "\"b\"")) == .keep)
    }

    /// A digest shows that a newer plan means the same bytes.
    @Test func digestOfNewerPlanDecides() {
        let old = Self.file(etag: "\"a\"")
        #expect(Self.decide(Self.record(old), Self.file(digests: [Self.digest])) == .complete)
        guard let sha = Digest(.sha256, [UInt8](repeating: 1, count: 32)) else { return }
        #expect(
            Self.decide(Self.record(old), Self.file(digests: [sha]))
                == .read(sha, otherwise: .replace))
    }

    /// A plan that states nothing accepts what is recorded; a later one asks the attributes.
    @Test func plansWithoutVersions() {
        let open = Self.file(size: nil)
        #expect(Self.decide(Self.record(Self.file()), open) == .complete)
        let pinned = Self.file(etag: "\"a\"")
        let same = RemoteIdentity(size: 5, etag: "\"a\"")
        let differing = RemoteIdentity(size: 5, etag: "\"b\"")
        let record = Self.record(open)
        #expect(Self.decide(record, pinned, attributes: same) == .complete)
        #expect(Self.decide(record, pinned, attributes: differing) == .replace)
        #expect(Self.decide(record, pinned) == .replace)
    }

    /// Whatever is recorded and planned: a file that is not as recorded is never replaced, and no
    /// file of another version counts as complete.
    @Test func randomFilesAreSafe() {
        var random = SplitMix64(seed: 41)
        for _ in 0..<20_000 {
            func digests() -> [Digest] {
                Bool.random(using: &random)
                    ? [Digest(crc32: .random(in: 1...2, using: &random))] : []
            }
            func file() -> Listing.File {
                Self.file(
                    size: [nil, 5, 6].randomElement(using: &random) ?? nil, digests: digests(),
                    etag: [nil, "\"a\"", "\"b\""].randomElement(using: &random) ?? nil)
            }
            let (old, new, content) = (file(), file(), Digest(crc32: 1))
            let record = Self.record(old, size: 5, digests: [content])
            let isIntact = Bool.random(using: &random)
            let decision = Self.decide(
                record, new, exists: true, isIntact: isIntact,
                rechecks: Bool.random(using: &random))
            if !isIntact { #expect(decision != .replace) }
            if case .read(_, .replace) = decision { #expect(isIntact) }
            let isOther = new.size == 6 || new.digests.contains { $0 != content }
            let wasOther = old.size == 6 || old.digests.contains { $0 != content }
            if isOther, !wasOther { #expect(decision != .complete, "\(old) \(new)") }
        }
    }
}
