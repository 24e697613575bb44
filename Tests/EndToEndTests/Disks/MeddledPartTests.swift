import Foundation
import Glibc
import TestSupport
import Testing

/// Other programs that change segget's files during a download.
struct MeddledPartTests {
    private static let size: Int64 = 1_000_000

    /// Starts a download whose connections pause in the middle of their ranges.
    private func begin(
        _ stage: Stage, _ goesOn: Guarded<Bool>, _ arguments: [String] = []
    ) throws -> Run {
        stage.origin.bendGET {
            $0.stallAfter = 100_000
            $0.release = goesOn
        }
        let process = try stage.start(["-x", "4"] + arguments)
        #expect(process.waits(for: 400_000))
        return process
    }

    /// Resumes the connections and expects that segget does not publish the part.
    private func expectRefused(
        _ stage: Stage, _ process: Run, _ goesOn: Guarded<Bool>,
        saying text: String = "another program removed, replaced or truncated `file.part`",
        _ location: SourceLocation = #_sourceLocation
    ) throws {
        goesOn.withLock { $0 = true }
        let outcome = try process.wait()
        let report = Comment(rawValue: outcome.errorOutput)
        #expect(outcome.end == .exit(74), report, sourceLocation: location)
        #expect(
            outcome.errorOutput.contains(text), report, sourceLocation: location)
        #expect(try !stage.names().contains("file"), report, sourceLocation: location)
    }

    private func expectNextIsRight(
        _ stage: Stage, _ arguments: [String] = [], _ location: SourceLocation = #_sourceLocation
    ) throws {
        stage.origin.behave()
        let next = try stage.run(arguments)
        #expect(next.end == .exit(0), "\(next.errorOutput)", sourceLocation: location)
        #expect(try stage.isRight(), sourceLocation: location)
    }

    /// The part has its full length from the start, or it grows.
    ///
    /// A later write may restore the length and leave a hole of zeros.
    @Test(
        .timeLimit(.minutes(5)), arguments: ["falloc", "trunc", "none"],
        [0, 50_000, 999_999] as [Int64])
    func truncatedPartIsNotPublished(allocation: String, length: Int64) throws {
        let stage = try Stage(size: Self.size)
        let goesOn = Guarded(false)
        let process = try begin(stage, goesOn, ["--file-allocation", allocation])
        let isShorter = try stage.status(of: "file.part").st_size > length
        #expect(truncate(stage.path("file.part"), off_t(length)) == 0)
        if isShorter, length < 900_000 {
            try expectRefused(stage, process, goesOn)
            try expectNextIsRight(stage)
        } else {
            // The truncated range had no data yet, so later writes fill it.
            goesOn.withLock { $0 = true }
            #expect(try process.wait().end == .exit(0))
        }
        #expect(try stage.isRight())
        #expect(try stage.names() == ["file"])
    }

    @Test(.timeLimit(.minutes(5))) func enlargedPartIsNotPublished() throws {
        let stage = try Stage(size: Self.size)
        let goesOn = Guarded(false)
        let process = try begin(stage, goesOn)
        #expect(truncate(stage.path("file.part"), off_t(Self.size + 1)) == 0)
        try expectRefused(stage, process, goesOn)
        try expectNextIsRight(stage)
        #expect(try stage.names() == ["file"])
    }

    @Test(.timeLimit(.minutes(5)), arguments: [false, true])
    func removedPartIsNotPublished(isReplaced: Bool) throws {
        let stage = try Stage(size: Self.size)
        let goesOn = Guarded(false)
        let process = try begin(stage, goesOn, ["--overwrite"])
        try stage.remove("file.part")
        if isReplaced { try stage.write([UInt8](repeating: 7, count: 5), to: "file.part") }
        try expectRefused(
            stage, process, goesOn, saying: "another program removed `file.part` or its folder")
        if isReplaced {
            #expect(try stage.read("file.part") == [UInt8](repeating: 7, count: 5))
        }
        try expectNextIsRight(stage)
        #expect(try stage.names() == ["file"])
    }

    /// segget still writes to the moved part, which must not get the file's name.
    @Test(.timeLimit(.minutes(5))) func movedPartIsNotPublished() throws {
        let stage = try Stage(size: Self.size)
        let goesOn = Guarded(false)
        let process = try begin(stage, goesOn)
        #expect(rename(stage.path("file.part"), stage.path("moved")) == 0)
        try expectRefused(
            stage, process, goesOn, saying: "another program removed or moved `file.part`")
        try expectNextIsRight(stage)
        #expect(try stage.names() == ["file", "moved"])
    }

    /// Only a later run needs the manifest.
    @Test(.timeLimit(.minutes(5)), arguments: [false, true])
    func completesWithoutRemovedManifest(isReplaced: Bool) throws {
        let stage = try Stage(size: Self.size)
        let goesOn = Guarded(false)
        let process = try begin(stage, goesOn)
        try stage.remove("file.segget")
        if isReplaced { try stage.write("notes".utf8, to: "file.segget") }
        goesOn.withLock { $0 = true }
        let outcome = try process.wait()
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        #expect(try stage.isRight())
        #expect(try stage.names() == (isReplaced ? ["file", "file.segget"] : ["file"]))
        if isReplaced { #expect(try stage.read("file.segget") == Array("notes".utf8)) }
    }

    /// A hard link to the part is the same file, so segget still publishes the part.
    @Test(.timeLimit(.minutes(5))) func partWithHardLinkIsPublished() throws {
        let stage = try Stage(size: Self.size)
        let goesOn = Guarded(false)
        let process = try begin(stage, goesOn)
        #expect(link(stage.path("file.part"), stage.path("second")) == 0)
        goesOn.withLock { $0 = true }
        #expect(try process.wait().end == .exit(0))
        #expect(try stage.isRight())
        #expect(try stage.names() == ["file", "second"])
    }

    @Test(.timeLimit(.minutes(5)), arguments: [false, true])
    func removedFolderFailsTheRun(isMadeAgain: Bool) throws {
        let stage = try Stage(size: Self.size)
        try FileManager.default.createDirectory(
            atPath: stage.path("sub"), withIntermediateDirectories: false)
        let goesOn = Guarded(false)
        stage.origin.bendGET {
            $0.stallAfter = 100_000
            $0.release = goesOn
        }
        let process = try stage.start(["-d", "sub", "-x", "4"])
        #expect(process.waits(for: 400_000, name: "sub/file"))
        try FileManager.default.removeItem(atPath: stage.path("sub"))
        if isMadeAgain {
            try FileManager.default.createDirectory(
                atPath: stage.path("sub"), withIntermediateDirectories: false)
        }
        goesOn.withLock { $0 = true }
        let outcome = try process.wait()
        #expect(outcome.end == .exit(74), "\(outcome.errorOutput)")
        #expect(outcome.errorOutput.contains("another program removed `sub/file.part`"))
        #expect(try stage.names() == (isMadeAgain ? ["sub"] : []))
        if isMadeAgain {
            #expect(try FileManager.default.contentsOfDirectory(atPath: stage.path("sub")).isEmpty)
        }
    }

    /// A renamed folder is the same folder, but a link with its old name is not.
    @Test(.timeLimit(.minutes(5)), arguments: [false, true])
    func completesInRenamedFolder(isReplaced: Bool) throws {
        let stage = try Stage(size: Self.size)
        try FileManager.default.createDirectory(
            atPath: stage.path("sub"), withIntermediateDirectories: false)
        let goesOn = Guarded(false)
        stage.origin.bendGET {
            $0.stallAfter = 100_000
            $0.release = goesOn
        }
        let process = try stage.start(["-d", "sub", "-x", "4"])
        #expect(process.waits(for: 400_000, name: "sub/file"))
        #expect(rename(stage.path("sub"), stage.path("moved")) == 0)
        if isReplaced {
            #expect(symlink("/", stage.path("sub")) == 0)
        }
        goesOn.withLock { $0 = true }
        #expect(try process.wait().end == .exit(0))
        #expect(try stage.isRight("moved/file"))
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: stage.path("moved")) == ["file"])
        #expect(access("/file", F_OK) != 0)
    }
}
