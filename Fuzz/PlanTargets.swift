import FoundationEssentials
import Glibc

@testable import Assembler
@testable import Segmenter

/// The reader of plans.
enum PlanTargets {
    /// Lines that get the right checksums first, because no other line is read.
    static func plan(_ bytes: [UInt8]) {
        struct Named: Decodable { var set: String }
        let first = Data(bytes.prefix { $0 != UInt8(ascii: "\n") })
        guard let set = try? JSONDecoder().decode(Named.self, from: first).set else {
            return check(bytes)
        }
        check(ManifestTargets.sealing(bytes, seed: PlanFormat.seed(set: set)))
    }

    private static func check(_ bytes: [UInt8]) {
        let lines = bytes.count { $0 == UInt8(ascii: "\n") } + 1
        let plan: PlanFile
        do throws(PlanError) {
            plan = try read(bytes)
        } catch {
            expect((1...lines).contains(error.line ?? 1), "an error on line \(error)")
            return
        }
        expect(plan.count < lines, "more files than lines")
        var files: [Listing.File] = []
        for index in 0..<plan.count {
            guard let file = try? plan.file(at: index) else { fatalError("a line does not read") }
            expect(!file.path.hasPrefix("/"), "an absolute path")
            let parts = file.path.split(separator: "/", omittingEmptySubsequences: false)
            expect(!parts.contains("..") && !parts.contains(""), "a path that leads elsewhere")
            expect(!file.path.utf8.contains(0), "a NUL in a path")
            expect(file.size ?? 0 >= 0, "a negative size")
            expect(file.address.contains("://"), "no URL")
            files.append(file)
        }
        expect(Set(files.map(\.path)).count == files.count, "two files of one path")
        var written: [UInt8] = []
        Listing(plan.source, files: files).forEachPlanLine { written += $0 }
        guard let again = try? read(written) else { fatalError("what was written does not read") }
        expect(again.count == files.count, "written again, another number of files")
        for (index, file) in files.enumerated() {
            expect((try? again.file(at: index)) == file, "written again, another file")
        }
    }

    private static func read(_ bytes: [UInt8]) throws(PlanError) -> PlanFile {
        var template = Array("/dev/shm/segget-fuzz-XXXXXX".utf8CString)
        let descriptor = mkstemp(&template)
        defer { close(descriptor) }
        unlink(template)
        expect(descriptor >= 0 && writeFully(descriptor, bytes) == 0, "no memory")
        return try PlanFile("/proc/self/fd/\(descriptor)")
    }
}
