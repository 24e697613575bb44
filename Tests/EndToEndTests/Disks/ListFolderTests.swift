import Foundation
import Glibc
import TestSupport
import Testing

/// Folders in a list, which segget creates only below the current folder or `--directory`.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct ListFolderTests {
    private func tree(_ folder: String) throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: folder).sorted()
    }

    /// Small and large files.
    @Test(arguments: [5_000, 900_000] as [Int64])
    func createsFoldersOfAList(size: Int64) throws {
        let stage = try BatchStage(size: size)
        let list = """
            \(stage.origin.url("/1/f"))
              dir=a/b
            \(stage.origin.url("/2/f"))
              dir=./a//b/
            \(stage.origin.url("/3/f"))
              dir=\(stage.sandbox.path("a/c"))
            \(stage.origin.url("/4/f"))
              out=d/e/four
            \(stage.origin.url("/5/f"))
              dir=a
              out=g/five
            \(stage.origin.url("/none/f"))
              dir=none/at/all
            \(stage.origin.url("/6/f"))
            """
        let outcome = try stage.run(list: list, ["-d", "x/y"])
        #expect(outcome.end == .exit(69), "\(outcome.errorOutput)")
        let files = [
            ("a/b/f", "/1/f"), ("a/b/f.1", "/2/f"), ("a/c/f", "/3/f"), ("x/y/d/e/four", "/4/f"),
            ("a/g/five", "/5/f"), ("x/y/f", "/6/f"),
        ]
        for (name, path) in files { #expect(try stage.isRight(name, path), "\(name)") }
        let folders = ["a", "a/b", "a/c", "a/g", "x", "x/y", "x/y/d", "x/y/d/e"]
        #expect(try tree(stage.folder) == (folders + files.map(\.0)).sorted())
    }

    /// Sixty files download into new folders at once, and half of them do not exist.
    @Test func createsFoldersForManyFilesAtOnce() throws {
        let stage = try BatchStage(size: 3_000)
        var list = ""
        for index in 0..<60 {
            let isThere = index % 2 == 0
            list += "\(stage.origin.url(isThere ? "/\(index)/f" : "/none/f"))\n"
            list += " dir=new/\(index % 6)\n"
        }
        let outcome = try stage.run(list: list, ["-q"])
        #expect(outcome.end == .exit(69), "\(outcome.errorOutput)")
        // Folders 1, 3 and 5 are for files that do not exist.
        let numbers = (0..<10).map { $0 == 0 ? "f" : "f.\($0)" }
        let expected = [0, 2, 4].flatMap { folder in
            ["new/\(folder)"] + numbers.map { "new/\(folder)/\($0)" }
        }
        #expect(try tree(stage.folder) == (["new"] + expected).sorted())
        for (place, number) in stride(from: 0, to: 60, by: 6).enumerated() {
            #expect(try stage.isRight("new/0/\(numbers[place])", "/\(number)/f"))
        }
    }

    @Test func usesNameInNewFolderOnce() throws {
        let stage = try BatchStage(size: 10_000)
        let list = """
            \(stage.origin.url("/1/f"))
              dir=new
              out=x
            \(stage.origin.url("/2/f"))
              out=./new/x
            """
        let outcome = try stage.run(list: list)
        #expect(outcome.end == .exit(73), "\(outcome.errorOutput)")
        #expect(outcome.errorOutput.contains("an earlier file of this run is saved as"))
        #expect(try tree(stage.folder) == ["new", "new/x"])
        #expect(try stage.isRight("new/x", "/1/f"))
    }

    /// A list may come from another person, so it must not choose folders elsewhere.
    @Test func createsNoFolderElsewhere() throws {
        let stage = try BatchStage(size: 10_000)
        let outside = try Sandbox()
        #expect(mkdir(stage.sandbox.path("in"), 0o755) == 0)
        #expect(symlink(outside.path, stage.sandbox.path("link")) == 0)
        #expect(symlink("in", stage.sandbox.path("inner")) == 0)
        let name = URL(fileURLWithPath: stage.folder).lastPathComponent
        // Other programs may have a folder `new` in the folder for temporary files.
        let beside = "\(name)-new"
        for folder in [
            "../\(beside)", "a/../../\(beside)", "../\(name)x/new", outside.path("new"),
            "\(stage.folder)x/new",
            "link/new", "link/new/a", "inner/../../\(beside)", "in/../new",
            "\(stage.folder)/../\(beside)", "link/../\(beside)",
        ] {
            for setting in ["dir=\(folder)", "dir=\(folder)\n out=f"] {
                let outcome = try stage.run(list: "\(stage.origin.url("/1/f"))\n \(setting)\n")
                #expect(outcome.end == .exit(73), "\(setting): \(outcome.errorOutput)")
                #expect(outcome.errorOutput.contains("cannot be opened"), "\(outcome.errorOutput)")
            }
        }
        let out = try stage.run(list: "\(stage.origin.url("/1/f"))\n out=link/new/f\n")
        #expect(out.end == .exit(73), "\(out.errorOutput)")
        #expect(try tree(outside.path) == [])
        #expect(try tree(stage.folder) == ["in", "inner", "link"])
        let parent = URL(fileURLWithPath: stage.folder).deletingLastPathComponent().path
        #expect(!FileManager.default.fileExists(atPath: "\(parent)/\(beside)"))
        #expect(!FileManager.default.fileExists(atPath: "\(stage.folder)x"))
    }

    /// Existing folders may be anywhere, and so may `--directory`, which the user chooses.
    @Test func usesExistingFoldersAnywhere() throws {
        let stage = try BatchStage(size: 10_000)
        let outside = try Sandbox()
        #expect(mkdir(stage.sandbox.path("in"), 0o755) == 0)
        #expect(symlink("in", stage.sandbox.path("inner")) == 0)
        #expect(symlink(outside.path, stage.sandbox.path("link")) == 0)
        let list = """
            \(stage.origin.url("/1/f"))
              dir=\(outside.path)
              out=one
            \(stage.origin.url("/2/f"))
              dir=inner/new
            \(stage.origin.url("/3/f"))
              dir=\(outside.path("own/three"))
            \(stage.origin.url("/4/f"))
              out=sub/four
            \(stage.origin.url("/5/f"))
              dir=link
            """
        let outcome = try stage.run(list: list, ["-d", outside.path("own")])
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        #expect(
            try tree(outside.path) == [
                "f", "one", "own", "own/sub", "own/sub/four", "own/three", "own/three/f",
            ])
        #expect(try tree(stage.folder) == ["in", "in/new", "in/new/f", "inner", "link"])
    }

    /// Another process removes the new folder while it is empty, five times in six runs.
    @Test func survivesRemovalOfNewFolder() throws {
        let stage = try BatchStage(size: 900_000)
        let rival = try Run(
            "/bin/sh",
            ["-c", "for _ in 1 2 3 4 5; do until rmdir new 2>/dev/null; do :; done; done"],
            in: stage.folder)
        defer {
            rival.signal(SIGKILL)
            _ = try? rival.wait()
        }
        // A run may fail because its folder is missing, but in no other way.
        var done = 0
        for _ in 0..<6 {
            let outcome = try Run(
                ["-d", "new", stage.origin.url("/1/f")], in: stage.folder
            ).wait()
            #expect(
                [.exit(0), .exit(73), .exit(74)].contains(outcome.end), "\(outcome.errorOutput)")
            if outcome.end == .exit(0) {
                done += 1
                #expect(try stage.isRight("new/f", "/1/f"))
                try? FileManager.default.removeItem(atPath: stage.sandbox.path("new"))
            }
        }
        #expect(done >= 1)
    }
}
