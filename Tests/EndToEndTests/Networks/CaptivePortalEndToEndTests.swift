import Glibc
import TestSupport
import Testing

/// `--wait-for-network` on a network with a captive portal, which answers for every host.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct CaptivePortalEndToEndTests {
    private static let occupied = "\"network_occupied\""

    /// The portal's response to requests for other hosts.
    enum Portal: CaseIterable {
        case page, redirect, filePage, required

        func reply(to request: OriginRequest) -> OriginReply {
            let html = [HeaderField("Content-Type", "text/html")]
            let page = "<html><body>Please log in</body></html>"
            switch self {
            case .page: return .text(200, page, headers: html)
            case .redirect where request.path != "/login": return .redirect("/login?to=file")
            case .redirect: return .text(200, page, headers: html)
            // The login page has validators and supports ranges, as a static file does.
            case .filePage where request.path != "/login": return .redirect("/login")
            case .filePage:
                return .file(
                    Content(size: 612, seed: 9), for: request, etag: "\"login\"",
                    contentType: "text/html")
            case .required: return .text(511, page, headers: html)
            }
        }
    }

    private func trial(_ portal: Portal, isOn: Guarded<Bool>, ranges: Bool = true) throws
        -> WireTrial
    {
        try WireTrial(size: 8_000_000, sendBuffer: 64 << 10) { request, content in
            guard !isOn.withLock({ $0 }) else { return portal.reply(to: request) }
            return .file(content, for: request, etag: "\"a\"", ranges: ranges).with {
                $0.pace = 700_000
            }
        }
    }

    private let options = [
        "-x", "3", "--stall-timeout", "2", "--retries", "1", "--wait-for-network",
    ]

    private func expectGoingOn(
        _ trial: WireTrial, _ outcome: Run.Outcome, kept: Int64 = 1_000_000
    ) throws {
        try outcome.expectComplete(trial.content)
        #expect(trial.excess <= 2 << 20)
        #expect(try outcome.notices("started_over").isEmpty)
        #expect(try outcome.notices("network_occupied").count == 1)
        #expect(try #require(try outcome.events("started").last?.bytesResumed) >= kept)
    }

    /// The portal appears during the download.
    ///
    /// segget does not take its page for the file or for a new version.
    @Test(arguments: Portal.allCases)
    func resumesAfterPortalDuringDownload(portal: Portal) async throws {
        let isOn = Guarded(false)
        let trial = try trial(portal, isOn: isOn)
        let child = try trial.start(options)
        #expect(eventually { trial.origin.bytesServed > 2_000_000 })
        isOn.withLock { $0 = true }
        trial.origin.dropConnections()
        #expect(await soon { !child.isRunning || child.output.contains(Self.occupied) })
        isOn.withLock { $0 = false }
        try expectGoingOn(trial, try await child.ended())
    }

    /// The portal is active when segget resumes an earlier run's part file.
    @Test(arguments: [Portal.page, .filePage])
    func resumesAfterPortalAtStart(portal: Portal) async throws {
        let isOn = Guarded(false)
        let trial = try trial(portal, isOn: isOn)
        let first = try trial.start(options)
        #expect(eventually { trial.origin.bytesServed > 2_000_000 })
        first.signal(SIGINT)
        let kept = try #require(try await first.ended().events("error").first?.bytesKept)
        isOn.withLock { $0 = true }
        let child = try trial.start(options)
        #expect(await soon { !child.isRunning || child.output.contains(Self.occupied) })
        isOn.withLock { $0 = false }
        try expectGoingOn(trial, try await child.ended(), kept: kept)
    }

    /// Over TLS the portal has no certificate for the server's name.
    @Test func resumesAfterPortalOverTLS() async throws {
        let content = Content(size: 8_000_000, seed: 1)
        let server = try SecureFront { request in
            .file(content, for: request, etag: "\"a\"").with { $0.pace = 700_000 }
        }
        let portal = try SecureFront(certificate: .selfSigned) { Portal.page.reply(to: $0) }
        let isOn = Guarded(false)
        let ports = (server.nginx.securePort, portal.nginx.securePort)
        let relay = try Relay(toEach: { _ in isOn.withLock { $0 } ? ports.1 : ports.0 })
        let sandbox = try Sandbox()
        let child = try Run(
            ["https://127.0.0.1:\(relay.port)/file.bin", "--ca-certificate", server.authority]
                + ["--json", "-v"] + options, in: sandbox.path)
        #expect(eventually { server.origin.bytesServed > 2_000_000 })
        isOn.withLock { $0 = true }
        server.origin.dropConnections()
        #expect(await soon { !child.isRunning || child.output.contains(Self.occupied) })
        isOn.withLock { $0 = false }
        let outcome = try await child.ended()
        #expect(outcome.exitCode == 0, "\(outcome.errorOutput)")
        #expect(try sandbox.names() == ["file.bin"])
        #expect(try content.firstDifference(at: sandbox.path("file.bin")) == nil)
        #expect(try outcome.notices("started_over").isEmpty)
        #expect(server.origin.bytesServed - content.size <= 4 << 20)
    }

    /// Without the option, the portal's page ends the download.
    @Test func portalEndsDownloadWithoutOption() async throws {
        let isOn = Guarded(false)
        let trial = try trial(.page, isOn: isOn)
        let child = try trial.start(options.filter { $0 != "--wait-for-network" })
        #expect(eventually { trial.origin.bytesServed > 2_000_000 })
        isOn.withLock { $0 = true }
        trial.origin.dropConnections()
        let outcome = try await child.ended()
        #expect(outcome.exitCode == 76)
        #expect(try outcome.notices("network_occupied").isEmpty)
    }

    /// A server answers canary requests but sends no more of the file: the download ends.
    @Test func serverWithoutDataEndsDownload() async throws {
        let isMute = Guarded(false)
        let trial = try WireTrial(size: 8_000_000, sendBuffer: 64 << 10) { request, content in
            let isMute = isMute.withLock { $0 }
            return OriginReply.file(content, for: request, etag: "\"a\"").with {
                $0.pace = 700_000
                if isMute, request.range?.last != 0 { $0.delayBeforeHeaders = .infinity }
            }
        }
        let child = try trial.start(
            ["-x", "3", "--stall-timeout", "1", "--retries", "1", "--wait-for-network"])
        #expect(eventually { trial.origin.bytesServed > 2_000_000 })
        isMute.withLock { $0 = true }
        trial.origin.dropConnections()
        let outcome = try await child.ended()
        try outcome.expectFailure(code: 69, kind: "stalled")
        #expect(try outcome.notices("network_is_back").count == 2)
    }

    /// A new version of the file is not a portal: the download starts over.
    @Test func anotherVersionStartsOver() async throws {
        let isOther = Guarded(false)
        let other = Content(size: 8_000_100, seed: 2)
        let trial = try WireTrial(size: 8_000_000, sendBuffer: 64 << 10) { request, content in
            let isOther = isOther.withLock { $0 }
            return OriginReply.file(
                isOther ? other : content, for: request, etag: isOther ? "\"b\"" : "\"a\""
            ).with { $0.pace = isOther ? nil : 700_000 }
        }
        let child = try trial.start(options)
        #expect(eventually { trial.origin.bytesServed > 2_000_000 })
        isOther.withLock { $0 = true }
        trial.origin.dropConnections()
        let outcome = try await child.ended()
        #expect(outcome.exitCode == 0, "\(outcome.errorOutput)")
        #expect(try other.firstDifference(at: trial.sandbox.path("file.bin")) == nil)
        #expect(try outcome.notices("started_over").count == 1)
        #expect(try outcome.notices("waiting_for_network").isEmpty)
    }
}
