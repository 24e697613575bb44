import FoundationEssentials
import Glibc

@testable import Assembler

/// The reader of ledgers.
enum LedgerTargets {
    /// Lines that get the right checksums first, because no other line is read.
    static func ledger(_ bytes: [UInt8]) {
        struct Named: Decodable { var set: String }
        let first = Data(bytes.prefix { $0 != UInt8(ascii: "\n") })
        let set = (try? JSONDecoder().decode(Named.self, from: first).set) ?? ""
        let name = set.utf8.count == 16 && !set.utf8.contains(UInt8(ascii: "/")) ? set : "0"
        check(ManifestTargets.sealing(bytes, seed: LedgerFormat.seed(set: name)), name)
    }

    private static func check(_ bytes: [UInt8], _ set: String) {
        guard let folder = try? Folder("/dev/shm") else { fatalError("there is no /dev/shm") }
        let path = "/dev/shm/\(set).ledger"
        unlink(path)
        defer { unlink(path) }
        let file = open(path, O_WRONLY | O_CREAT | O_EXCL, 0o600)
        expect(file >= 0 && writeFully(file, bytes) == 0, "the input cannot be written")
        close(file)
        let before = paths(set, folder)
        guard let ledger = try? LedgerFile(writing: set, in: folder, now: 1) else { return }
        expect(paths(set, folder) == before, "opening changes the records")
        guard (try? ledger.append([LedgerRecord(path: "p", event: .removed, at: 1)])) != nil else {
            fatalError("a record cannot be appended")
        }
        expect(paths(set, folder) == (before ?? []) + ["p"], "a record is lost or invented")
        guard (try? ledger.rewrite(now: 2) { _ in true }) != nil else {
            fatalError("the ledger cannot be rewritten")
        }
        let after = paths(set, folder) ?? []
        expect(after.count <= (before ?? []).count + 1 && after.last == "p", "records are lost")
    }

    private static func paths(_ set: String, _ folder: Folder) -> [String]? {
        guard let ledger = try? LedgerFile(reading: set, in: folder) else { return nil }
        var paths: [String] = []
        try? ledger.forEachMark { mark, place in
            paths.append(mark.path)
            _ = ledger.record(at: place)
        }
        return paths
    }
}
