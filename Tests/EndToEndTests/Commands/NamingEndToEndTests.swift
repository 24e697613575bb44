import Foundation
import TestSupport
import Testing

/// Tests the names of downloaded files.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct NamingEndToEndTests {
    @Test(arguments: [
        ("attachment; filename*=UTF-8''na%C3%AFve%20%E2%82%AC.txt", "naïve €.txt"),
        ("attachment; filename=\"größe.txt\"", "größe.txt"),
        ("attachment; filename=\"..\\\\..\\\\evil.exe\"", "evil.exe"),
        ("attachment; filename*=UTF-8''e%CC%81.txt", "\u{e9}.txt"),
        ("attachment; filename=\"file.bin.segget\"", "file.bin.segget_"),
    ])
    func usesServersSuggestion(disposition: String, name: String) async throws {
        let trial = try WireTrial(size: 1000) { $1.set("Content-Disposition", disposition) }
        try await trial.run().expectComplete(trial.content, name: name)
        let names = try trial.sandbox.names().map { Array($0.utf8) }
        #expect(names == [Array(name.utf8)])
    }

    @Test func decodesISO8859() async throws {
        let body = String(repeating: "x", count: 100)
        let head =
            "HTTP/1.1 200 OK\r\nContent-Length: 100\r\nConnection: close\r\n"
            + "Content-Disposition: attachment; filename=\"caf"
        let trial = try WireTrial(size: 1000) { _, reply in
            reply = .raw(Array(head.utf8) + [0xe9] + Array(".txt\"\r\n\r\n\(body)".utf8))
        }
        let outcome = try await trial.run()
        #expect(outcome.exitCode == 0, "\(outcome.errorOutput)")
        #expect(try trial.sandbox.names() == ["café.txt"])
    }

    @Test func remoteNameUsesGivenURL() async throws {
        let trial = try WireTrial(size: 1000) { request, reply in
            if request.path == "/given.bin" {
                reply = .text(302)
                reply.set("Location", "/other/moved.bin")
            } else {
                reply.set("Content-Disposition", "attachment; filename=suggested.bin")
            }
        }
        let outcome = try await trial.run("--remote-name", path: "/given.bin?token=hush")
        try outcome.expectComplete(trial.content, name: "given.bin")
        let suggested = try await trial.run(path: "/given.bin?token=hush")
        #expect(suggested.exitCode == 0)
        #expect(try trial.sandbox.names() == ["given.bin", "suggested.bin"])
    }

    @Test func acceptsInternationalURLs() async throws {
        let trial = try WireTrial(size: 1000)
        let url = trial.origin.url("/straße/日本 語.txt?ü=1")
            .replacingOccurrences(of: "127.0.0.1", with: "bücher.localhost")
        let outcome = try await trial.run(url: url)
        try outcome.expectComplete(trial.content, name: "日本 語.txt")
        let request = try #require(trial.origin.requests.first)
        #expect(request.header("Host")?.hasPrefix("xn--bcher-kva.localhost:") == true)
        #expect(request.target.utf8.allSatisfy { $0 < 0x80 })
    }

    @Test func autoRenameNumbersExistingNames() async throws {
        let trial = try WireTrial(size: 100_000)
        try trial.sandbox.write("file.bin", "old")
        let refused = try await trial.run()
        #expect(refused.exitCode == 73)
        for number in 1...3 {
            let outcome = try await trial.run("--auto-rename")
            #expect(outcome.exitCode == 0, "\(outcome.errorOutput)")
            let path = trial.sandbox.path("file.\(number).bin")
            #expect(try trial.content.firstDifference(at: path) == nil)
            #expect(outcome.output.contains("\"path\":\"file.\(number).bin\""))
        }
        let named = try await trial.run("--auto-rename", "-o", "file.bin")
        #expect(named.exitCode == 0, "\(named.errorOutput)")
        #expect(
            try trial.sandbox.names()
                == ["file.1.bin", "file.2.bin", "file.3.bin", "file.4.bin", "file.bin"])
        #expect(try String(decoding: trial.sandbox.read("file.bin"), as: UTF8.self) == "old")
    }

    @Test func resumedDownloadKeepsNumberedName() throws {
        let stage = try Stage(size: 24 << 20)
        try Data("old".utf8).write(to: URL(fileURLWithPath: stage.path("file")))
        // Another program's file.
        try Data("foreign".utf8).write(to: URL(fileURLWithPath: stage.path("file.1.part")))
        stage.origin.bendGET { $0.stallAfter = 2 << 20 }
        let process = try stage.start(["-x", "4", "--auto-rename"])
        #expect(process.waits(for: 8 << 20, name: "file.2"))
        process.signal(SIGKILL)
        _ = try process.wait()
        stage.origin.dropConnections()
        stage.origin.behave()
        // Another URL does not take the part of this one.
        let other = try stage.run(["--auto-rename"], path: "/file?other")
        #expect(other.exitCode == 0, "\(other.errorOutput)")
        #expect(try stage.isRight("file.3"))
        let before = stage.origin.requests.count
        let outcome = try stage.run(["--auto-rename"])
        #expect(outcome.exitCode == 0, "\(outcome.errorOutput)")
        #expect(outcome.errorOutput.contains("resuming"))
        #expect(stage.bytesAsked(after: before) <= 24 << 20 - 8 << 20)
        #expect(try stage.isRight("file.2"))
        #expect(try stage.names() == ["file", "file.1.part", "file.2", "file.3"])
    }

    @Test func refusesConflictingOptions() async throws {
        let trial = try WireTrial(size: 10)
        let outcome = try await trial.run("--auto-rename", "--overwrite")
        #expect(outcome.exitCode == 64)
        #expect(trial.origin.requests.isEmpty)
    }
}
