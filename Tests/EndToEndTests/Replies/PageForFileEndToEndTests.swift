import Foundation
import TestSupport
import Testing

/// The server sends an HTML page although the file name has another extension.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct PageForFileEndToEndTests {
    private static func page(_ size: Int) -> [UInt8] {
        let start = Array("<!DOCTYPE html><title>Log in</title>\n".utf8)
        return start + [UInt8](repeating: 0x20, count: size - start.count)
    }

    /// Returns an origin that serves a page of this many bytes at every path, also in ranges.
    private func origin(_ size: Int, type: String = "text/html") throws -> Origin {
        try Origin { request in
            let content = Self.page(size)
            guard let range = request.range?.bytes(of: Int64(size)), request.method == "GET" else {
                return .text(200, String(decoding: content, as: UTF8.self)).with {
                    $0.set("Content-Type", type)
                    $0.set("ETag", "\"a\"")
                    $0.set("Accept-Ranges", "bytes")
                }
            }
            let bytes = content[Int(range.lowerBound)..<Int(range.upperBound)]
            return .text(206, String(decoding: bytes, as: UTF8.self)).with {
                $0.set("Content-Type", type)
                $0.set("ETag", "\"a\"")
                $0.set(
                    "Content-Range", "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(size)")
            }
        }
    }

    @Test(arguments: [300, 3_000_000])
    func warnsOfHTMLPage(size: Int) throws {
        let (origin, sandbox) = (try origin(size), try Sandbox())
        let outcome = try Run(
            [origin.url("/model.safetensors"), "--json"], in: sandbox.path
        ).wait()
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        #expect(
            outcome.errorOutput.contains("WARNING: the file is an HTML page"),
            "\(outcome.errorOutput)")
        #expect(try jsonEvents(outcome.output).last?["html"] as? Bool == true)
        let page = try Run([origin.url("/index.html")], in: sandbox.path).wait()
        #expect(page.end == .exit(0) && !page.errorOutput.contains("WARNING"))
    }

    @Test(arguments: [300, 3_000_000])
    func refuseHTMLRefusesPage(size: Int) throws {
        let (origin, sandbox) = (try origin(size, type: "application/octet-stream"), try Sandbox())
        let urls = ["/model.gguf", "/2/disk.iso"].map(origin.url)
        let one = try Run([urls[0], "--refuse-html", "--json"], in: sandbox.path).wait()
        #expect(one.end == .exit(69), "\(one.errorOutput)")
        #expect(try jsonEvents(one.output).last?["kind"] as? String == "html_page")
        let list = try sandbox.write(
            "list", urls.map { "\($0)\n refuse-html=true\n" }.joined())
        #expect(try Run(["-i", list], in: sandbox.path).wait().end == .exit(69))
        #expect(try sandbox.names() == ["list"])
        // With a checksum, the bytes are verified instead.
        let digest = try Run(
            [urls[0], "--refuse-html", "--checksum", "crc32:00000000"], in: sandbox.path
        ).wait()
        #expect(digest.end == .exit(65), "\(digest.errorOutput)")
    }

    @Test func refusedPageIsNotWrittenToStandardOutput() throws {
        let (origin, sandbox) = (try origin(3_000_000), try Sandbox())
        let outcome = try Run(
            [origin.url("/a.tar.gz"), "--refuse-html", "-o", "-"], in: sandbox.path
        ).wait()
        #expect(outcome.end == .exit(69) && outcome.standardOutput.isEmpty)
    }

    @Test func queueReportsHTMLPage() throws {
        let stage = try QueueStage(size: 1000)
        let bad = try origin(500)
        func add(_ options: String...) throws -> String {
            try stage.start(["add", bad.url("/\(options.count).zip")] + options).wait().output
                .trimmingCharacters(in: .newlines)
        }
        let (warned, refused) = (try add(), try add("--refuse-html"))
        #expect(try stage.run("run").end == .exit(69))
        #expect(try stage.task(warned)["html"] as? Bool == true)
        #expect(try stage.state(refused) == "failed")
        // Renaming the file does not change the flag.
        try stage.done("rename", warned, "other.zip")
        #expect(try stage.task(warned)["html"] as? Bool == true)
    }
}
