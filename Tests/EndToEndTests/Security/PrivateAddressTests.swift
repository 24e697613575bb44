import Foundation
import Segmenter
import TestSupport
import Testing

/// Downloads that refuse private addresses, in one session with others that allow them.
@Suite(.timeLimit(.minutes(5))) struct PrivateAddressTests {
    private static func options(_ change: (inout DownloadOptions) -> Void = { _ in })
        -> DownloadOptions
    {
        var options = DownloadOptions()
        options.access.proxy = ""
        options.access.deniesPrivate = true
        change(&options)
        return options
    }

    private static func reason(
        _ stage: Stage, _ session: DownloadSession, _ url: String? = nil,
        _ options: DownloadOptions = options()
    ) async -> DownloadError.Reason? {
        let download = session.start(
            url ?? stage.origin.url("/file"), to: .file(stage.path("denied")), options: options)
        guard case .failure(let error) = await download.result else { return nil }
        #expect(error.bytesKept == 0)
        return error.reason
    }

    /// segget opens no connection, in whatever form the URL gives the address.
    @Test(arguments: ["127.0.0.1", "localhost", "[::ffff:127.0.0.1]", "2130706433", "127.1"])
    func opensNoConnectionToPrivateAddress(host: String) async throws {
        let stage = try Stage(size: 100_000)
        let session = DownloadSession()
        let reason = await Self.reason(
            stage, session, "http://\(host):\(stage.origin.port)/file")
        guard case .addressDenied(.privateAddress)? = reason else {
            Issue.record("\(String(describing: reason))")
            return
        }
        #expect(stage.origin.acceptedConnections == 0)
        await session.shutdown()
    }

    /// The idle connection of another download is not reused.
    @Test func doesNotReuseIdleConnection() async throws {
        let stage = try Stage(size: 100_000)
        let session = DownloadSession()
        _ = try await session.download(stage.origin.url("/file"), to: stage.path("free"))
        let (requests, connections) = (
            stage.origin.requests.count, stage.origin.acceptedConnections
        )
        #expect(stage.origin.openConnections > 0)
        #expect(
            await Self.reason(stage, session) == .addressDenied(.privateAddress("127.0.0.1")))
        #expect(stage.origin.requests.count == requests)
        #expect(stage.origin.acceptedConnections == connections)
        // Downloads that allow private addresses still work.
        _ = try await session.download(stage.origin.url("/other"), to: stage.path("again"))
        await session.shutdown()
    }

    /// segget sends no request on an HTTP/2 connection of other downloads, which continue.
    @Test func doesNotUseSharedHTTP2Connection() async throws {
        let (root, target) = (try Sandbox(), try Sandbox())
        let content = Content(size: 10_000, seed: 3)
        let free = (0..<40).map { "free\($0)" }
        for name in free + ["denied"] { try content.write(to: root.path(name)) }
        let port = try Nginx.freePort()
        let nginx = try Nginx(
            root: root.path, workers: 1, directives: "listen 127.0.0.1:\(port) ssl http2;")
        func item(_ name: String, _ options: DownloadOptions) -> BatchItem {
            var options = options
            options.caCertificate = nginx.authority
            return BatchItem(
                "https://127.0.0.1:\(port)/\(name)", to: .file(target.path(name)), options: options)
        }
        let session = DownloadSession()
        for part in [free[..<20], free[20...]] {
            var items = part.map { item($0, DownloadOptions()) }
            // In the first batch, segget has no connection yet or is opening it.
            items.insert(item("denied", Self.options()), at: 10)
            let batch = session.start(items)
            var denials = 0
            for await event in batch.events {
                guard case .ended(.failure(let error)) = event.kind else { continue }
                #expect(error.reason == .addressDenied(.privateAddress("127.0.0.1")))
                denials += 1
            }
            #expect(denials == 1)
        }
        await session.shutdown()
        #expect(try target.names() == free.sorted())
        #expect(eventually { (try? nginx.accessLog().count) ?? 0 >= 40 })
        let log = try nginx.accessLog()
        #expect(log.contains { $0.request.hasSuffix("HTTP/2.0") })
        #expect(!log.contains { $0.request.contains("denied") })
    }

    /// segget cannot know which address the proxy connects to.
    @Test func refusesProxy() async throws {
        let stage = try Stage(size: 100_000)
        let session = DownloadSession()
        let proxied = Self.options { $0.access.proxy = "http://127.0.0.1:\(stage.origin.port)" }
        #expect(
            await Self.reason(stage, session, "http://192.0.2.1/file", proxied)
                == .addressDenied(.proxy))
        #expect(stage.origin.acceptedConnections == 0)
        // `noProxy` excludes the host, so segget checks its address.
        let direct = Self.options {
            $0.access.proxy = "http://127.0.0.1:1"
            $0.access.noProxy = "*"
        }
        #expect(
            await Self.reason(stage, session, nil, direct)
                == .addressDenied(.privateAddress("127.0.0.1")))
        await session.shutdown()
    }
}
