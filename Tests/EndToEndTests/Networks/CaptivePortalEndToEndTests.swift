import Glibc
import TestSupport
import Testing

/// `--wait-for-network`: a network that comes back as another one, whose login page answers for everybody.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct CaptivePortalEndToEndTests {
    private static let occupied = "\"network_occupied\""

    /// How a network answers for somebody else.
    enum Portal: CaseIterable {
        case page, redirect, filePage, required

        func reply(to request: OriginRequest) -> OriginReply {
            let html = [HeaderField("Content-Type", "text/html")]
            let page = "<html><body>Please log in</body></html>"
            switch self {
            case .page: return .text(200, page, headers: html)
            case .redirect where request.path != "/login": return .redirect("/login?to=file")
            case .redirect: return .text(200, page, headers: html)
            // A file on a real web server, with validators and ranges of its own.
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
        _ trial: WireTrial, _ outcome: ChildProcess.Outcome, kept: Int64 = 1_000_000
    ) throws {
        try trial.expectComplete(outcome)
        #expect(trial.excess <= 2 << 20)
        #expect(try outcome.notices("started_over").isEmpty)
        #expect(try outcome.notices("network_occupied").count == 1)
        #expect(try #require(try outcome.events("started").last?.bytesResumed) >= kept)
    }

    /// It takes over in the middle: its page is neither the file, nor another version of it, nor the end.
    @Test(arguments: Portal.allCases)
    func aPortalInTheMiddle(portal: Portal) async throws {
        let isOn = Guarded(false)
        let trial = try trial(portal, isOn: isOn)
        let child = try trial.start(options)
        #expect(eventually { trial.origin.bytesServed > 2_000_000 })
        isOn.withLock { $0 = true }
        trial.origin.dropConnections()
        #expect(await soon { !child.isRunning || child.output.contains(Self.occupied) })
        isOn.withLock { $0 = false }
        try expectGoingOn(trial, try await Trials.end(of: child))
    }

    /// It is there when an earlier run's part is to be continued.
    @Test(arguments: [Portal.page, .filePage])
    func aPortalAtTheStart(portal: Portal) async throws {
        let isOn = Guarded(false)
        let trial = try trial(portal, isOn: isOn)
        let first = try trial.start(options)
        #expect(eventually { trial.origin.bytesServed > 2_000_000 })
        first.signal(SIGINT)
        let kept = try #require(try await Trials.end(of: first).events("error").first?.bytesKept)
        isOn.withLock { $0 = true }
        let child = try trial.start(options)
        #expect(await soon { !child.isRunning || child.output.contains(Self.occupied) })
        isOn.withLock { $0 = false }
        try expectGoingOn(trial, try await Trials.end(of: child), kept: kept)
    }

    /// Over TLS it has no certificate for the server's name.
    @Test func aPortalOverTLS() async throws {
        let content = Content(size: 8_000_000, seed: 1)
        let server = try SecureFront { request in
            .file(content, for: request, etag: "\"a\"").with { $0.pace = 700_000 }
        }
        let portal = try SecureFront(certificate: .selfSigned) { Portal.page.reply(to: $0) }
        let isOn = Guarded(false)
        let ports = (server.nginx.securePort, portal.nginx.securePort)
        let relay = try Relay(toEach: { _ in isOn.withLock { $0 } ? ports.1 : ports.0 })
        let sandbox = try Sandbox()
        let child = try Segget.start(
            ["https://127.0.0.1:\(relay.port)/file.bin", "--ca-certificate", server.authority]
                + ["--json", "-v"] + options, in: sandbox.path)
        #expect(eventually { server.origin.bytesServed > 2_000_000 })
        isOn.withLock { $0 = true }
        server.origin.dropConnections()
        #expect(await soon { !child.isRunning || child.output.contains(Self.occupied) })
        isOn.withLock { $0 = false }
        let outcome = try await Trials.end(of: child)
        #expect(outcome.exitCode == 0, "\(outcome.errorOutput)")
        #expect(try sandbox.names() == ["file.bin"])
        #expect(try content.firstDifference(at: sandbox.path("file.bin")) == nil)
        #expect(try outcome.notices("started_over").isEmpty)
        #expect(server.origin.bytesServed - content.size <= 4 << 20)
    }

    /// Without the option a page ends a download as ever, and what is there is kept.
    @Test func withoutTheOptionItEnds() async throws {
        let isOn = Guarded(false)
        let trial = try trial(.page, isOn: isOn)
        let child = try trial.start(options.filter { $0 != "--wait-for-network" })
        #expect(eventually { trial.origin.bytesServed > 2_000_000 })
        isOn.withLock { $0 = true }
        trial.origin.dropConnections()
        let outcome = try await Trials.end(of: child)
        #expect(outcome.exitCode == 76)
        #expect(try outcome.notices("network_occupied").isEmpty)
    }

    /// A server that answers canaries, and sends nothing of the file any more, is not waited for without end.
    @Test func aServerThatBringsNothingIsNoNetwork() async throws {
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
        let outcome = try await Trials.end(of: child)
        try trial.expectFailure(outcome, code: 69, kind: "stalled")
        #expect(try outcome.notices("network_is_back").count == 2)
    }

    /// A file that is another one by now is no portal: that ends, or starts over, as ever.
    @Test func anotherVersionIsNoPortal() async throws {
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
        let outcome = try await Trials.end(of: child)
        #expect(outcome.exitCode == 0, "\(outcome.errorOutput)")
        #expect(try other.firstDifference(at: trial.sandbox.path("file.bin")) == nil)
        #expect(try outcome.notices("started_over").count == 1)
        #expect(try outcome.notices("waiting_for_network").isEmpty)
    }
}
