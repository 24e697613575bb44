import Assembler
import Segmenter
import TestSupport
import Testing

@testable import SeggetReports
import SeggetAria2

/// Compares the exit codes of failures with those of aria2c.
///
/// Both programs use the same server; a row states any intended difference.
struct Aria2CodesTests {
    /// A failure of the server.
    enum Fault: CaseIterable {
        case badRequest, unauthorized, forbidden, notFound, gone, tooMany, failing, badGateway
        case unavailable, loop, refused, closed, reset, cutOff, noTLS, noName, silent

        /// segget's exit code if it intentionally differs from aria2c's.
        var ours: Int32? { nil }
    }

    @Test(.timeLimit(.minutes(8)), arguments: Fault.allCases)
    func errorCodesMatchAria2c(_ fault: Fault) async throws {
        let stage = try Stage(size: 100_000)
        let origin = try Origin { request in Self.reply(fault, request) }
        defer { origin.stop() }
        if fault == .refused { origin.refuseConnections() }
        let url =
            switch fault {
            case .noTLS: origin.url("/f").replacingPrefix("http:", with: "https:")
            case .noName: "http://nonexistent.invalid/f"
            default: origin.url("/f")
            }
        let theirs = try Run(
            "/usr/bin/env",
            [
                "aria2c", "--no-conf", "-q", "--max-tries=1", "--timeout=2", "--connect-timeout=2",
                url,
            ],
            in: stage.folder,
            environment: ["HOME": "/nonexistent", "XDG_CONFIG_HOME": "/nonexistent"]
        ).wait()

        let session = DownloadSession()
        var options = DownloadOptions()
        options.retries = 0
        options.stallTimeout = .seconds(2)
        let download = session.start(url, to: .file(stage.path("ours")), options: options)
        let result = await download.result
        await session.shutdown()
        let error = try #require(throws: DownloadError.self) { try result.get() }
        #expect(Aria2ErrorCode(error).rawValue == fault.ours ?? theirs.exitCode, "\(error.reason)")
        #expect(theirs.exitCode != 0)
    }

    private static func reply(_ fault: Fault, _ request: OriginRequest) -> OriginReply {
        switch fault {
        case .badRequest: .text(400)
        case .unauthorized:
            .text(401, headers: [HeaderField("WWW-Authenticate", "Basic realm=\"x\"")])
        case .forbidden: .text(403)
        case .notFound: .text(404)
        case .gone: .text(410)
        case .tooMany: .text(429)
        case .failing: .text(500)
        case .badGateway: .text(502)
        case .unavailable: .text(503)
        case .loop: .text(302, headers: [HeaderField("Location", "/f")])
        case .refused, .closed, .noTLS, .noName: .closeWithoutReply
        case .reset: .resetWithoutReply
        case .cutOff:
            OriginReply(body: .content(Content(size: 100_000, seed: 1), 0..<100_000)).with {
                $0.cutAfter = 50_000
            }
        case .silent: .text(200).with { $0.delayBeforeHeaders = .infinity }
        }
    }
}

extension String {
    /// Returns the text with another prefix.
    fileprivate func replacingPrefix(_ prefix: String, with other: String) -> String {
        hasPrefix(prefix) ? other + dropFirst(prefix.count) : self
    }
}
