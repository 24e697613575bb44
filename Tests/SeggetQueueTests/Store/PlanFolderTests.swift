import Foundation
import Glibc
import SeggetReports
import Segmenter
import TestSupport
import Testing

@testable import SeggetQueue
@testable import SegmenterValues

/// Tests the copies of plans beside a queue.
@Suite struct PlanFolderTests {
    private let queue: StoredQueue

    init() throws { queue = try StoredQueue() }

    private var plans: PlanFolder { PlanFolder(queue.files) }

    /// Writes a plan of a number of files, and returns its path.
    private func plan(_ count: Int, size: Int64 = 10, _ name: String = "set.plan") throws -> String
    {
        let files = (0..<count).map {
            Listing.File(path: "a/\($0)", address: "https://h/\($0)?key=1", size: size)
        }
        let path = queue.sandbox.path(name)
        try Listing(.init(.urls), files: files).writePlan(to: path)
        return path
    }

    private func names() -> [String] {
        (try? FileManager.default.contentsOfDirectory(atPath: plans.path).sorted()) ?? []
    }

    @Test func draftHasFactsOfPlanAndIsPrivate() throws {
        let source = try plan(3)
        try #require(chmod(source, 0o644) == 0)
        let draft = try plans.draft(source).get()
        #expect(draft.set == FileSet(name: try PlanFile(source).set, files: 3))
        #expect(draft.url == "https://h/0" && draft.size == 30)
        var status = stat()
        #expect(stat(draft.path, &status) == 0 && status.st_mode & 0o777 == 0o600)
        #expect(stat(plans.path, &status) == 0 && status.st_mode & 0o777 == 0o700)
        #expect(try Data(contentsOf: URL(filePath: draft.path)) == queue.sandbox.read("set.plan"))
        plans.discard([0: .success(draft)])
        #expect(names() == [])
    }

    /// A refused plan leaves no copy.
    @Test func refusesWhatIsNoPlan() throws {
        try queue.sandbox.write("text", "not a plan\n")
        try queue.sandbox.write("empty", "")
        var bytes = try Data(contentsOf: URL(filePath: plan(3)))
        bytes[bytes.count - 20] ^= 1
        try queue.sandbox.write("altered", String(decoding: bytes, as: UTF8.self))
        try #require(mkfifo(queue.sandbox.path("pipe"), 0o600) == 0)
        _ = try plan(0, "none")
        for name in ["text", "empty", "altered", "pipe", "none", "missing", "."] {
            guard case .failure(let refusal) = plans.draft(queue.sandbox.path(name)) else {
                Issue.record("\(name) was accepted")
                continue
            }
            #expect(refusal.message.contains(queue.sandbox.path(name)), "\(refusal.message)")
        }
        #expect(names() == [])
    }

    @Test func removedTaskTakesItsPlanWithItOnceThatIsRecorded() throws {
        let store = try queue.open()
        let task = QueueTask.plain()
        try store.insert(task)
        try plans.keep(try plans.draft(try plan(2)).get(), of: task.id)
        #expect(names() == ["\(task.id).plan"])
        #expect(throws: QueueError.self) {
            try store.transaction { () throws(QueueError) in
                try store.delete([task.id])
                throw QueueError(.shutDown)
            }
        }
        #expect(names() == ["\(task.id).plan"])
        try store.delete([task.id])
        #expect(names() == [])
    }

    @Test func plansWithoutTaskAreRemoved() throws {
        let id = QueueTask.ID()
        for id in [id, QueueTask.ID()] {
            try plans.keep(try plans.draft(try plan(2)).get(), of: id)
        }
        _ = try plans.draft(try plan(2)).get()
        #expect(names().count == 3)
        plans.removeOthers(than: [id])
        #expect(names() == ["\(id).plan"])
        let draft = try plans.draft(try plan(2)).get()
        #expect(plans.isSame(draft, as: id))
        let other = try plans.draft(try plan(2, size: 11)).get()
        #expect(!plans.isSame(other, as: id))
    }

    /// A set has the URL of its first file, which another task may have, too.
    @Test func setIsFoundByNameAndFolderOnly() throws {
        let store = try queue.open()
        var set = QueueTask.plain("https://h/0")
        set.place.name = nil
        set.fileSet = FileSet(name: "49de0fa02e77dc78", files: 2)
        let file = QueueTask.plain("https://h/0", at: 1)
        try store.insert([set, file])
        #expect(try store.known(url: "https://h/0").map(\.id) == [file.id])
        let folder = set.place.folderPath
        func found(_ name: String, _ folder: String) throws -> [QueueTask.ID] {
            try store.known(set: name, url: "https://h/0", folder: folder).map(\.id)
        }
        #expect(try found("49de0fa02e77dc78", folder) == [set.id])
        #expect(try found("49de0fa02e77dc78", folder + "/b") == [])
        #expect(try found("0000000000000000", folder) == [])
    }
}
