import Foundation
import Glibc
import TestSupport
import Testing

/// What `segget add` makes of what it is given.
struct QueueAddTests {
    @Test(.timeLimit(.minutes(5))) func theFilesOfATaskAreFoundFromElsewhere() throws {
        let stage = try QueueStage(size: 1000)
        stage.files.bend { request, reply in
            let isOurs =
                request.target.hasPrefix("/1/")
                ? request.header("Authorization") == "Basic bWU6cGFzcw=="
                : request.header("Cookie") == "key=5"
            if !isOurs { reply = .text(403) }
        }
        let folder = stage.files.sandbox
        try folder.write("netrc", "machine 127.0.0.1 login me password pass\n")
        try folder.write("jar", "127.0.0.1\tFALSE\t/\tFALSE\t0\tkey\t5\n")
        try folder.write("list", "\(stage.origin.url("/3/c.iso"))\n load-cookies=jar\n")
        let ids = [
            try stage.add("/1/a.iso", "--netrc-file", "netrc"),
            try stage.add("/2/b.iso", "--cookie", "jar"),
            try stage.done("add", "-i", "list").trimmingCharacters(in: .newlines),
        ]
        let run = try Segget.run(
            ["run", "--queue", stage.queue], in: stage.home.path,
            environment: ["SEGGET_NO_CONFIG": "1"])
        #expect(run.end == .exit(0), "\(run.errorOutput)")
        for id in ids { #expect(try stage.state(id) == "completed") }
    }

    @Test(.timeLimit(.minutes(5))) func aListMakesFoldersWhereItMayOnly() throws {
        let stage = try QueueStage(size: 1000)
        let outside = try Sandbox()
        #expect(symlink(outside.path, stage.files.sandbox.path("link")) == 0)
        let folders = ["sub/a", outside.path("new/deep"), "link/new", "../new"]
        let list = folders.enumerated().map { number, folder in
            "\(stage.origin.url("/\(number)/f.iso"))\n dir=\(folder)\n"
        }
        try stage.files.sandbox.write("list", list.joined())
        let ids = try stage.done("add", "-i", "list").split(separator: "\n").map(String.init)
        let run = try stage.run("run")
        #expect(run.end == .exit(73), "\(run.errorOutput)")
        #expect(try ids.map(stage.state) == ["completed"] + Array(repeating: "failed", count: 3))
        #expect(try stage.isRight("sub/a/f.iso", "/0/f.iso"))
        #expect(try outside.names().isEmpty)
        let parent = URL(fileURLWithPath: stage.folder).deletingLastPathComponent().path
        #expect(!FileManager.default.fileExists(atPath: "\(parent)/new"))
        // Where the user says so, they are made.
        try stage.done("rename", ids[1], "--directory", outside.path("mine/deep"))
        try stage.done("retry", ids[1])
        #expect(try stage.run("run").end == .exit(0))
        #expect(try outside.names() == ["mine"])
    }
}
