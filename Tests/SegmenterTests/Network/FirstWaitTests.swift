import Foundation
import TestSupport
import Testing

@testable import Segmenter
@testable import SegmenterRules
@testable import SegmenterTransport

/// Tests ``DownloadOptions/waitsForNetworkFirst``: no network exists when a download starts.
///
/// The download runs in a separate process, ``FirstWaitProcess``, because a network namespace
/// applies to all threads.
@Suite(
    .serialized, .timeLimit(.minutes(5)),
    .enabled(if: NetworkPair.unavailable == nil, "\(NetworkPair.unavailable ?? "")"))
struct FirstWaitTests {
    private let network: NetworkPair
    private let origin: Origin
    private let sandbox: Sandbox
    private let content = Content(size: 100_000, seed: 3)

    init() throws {
        network = try NetworkPair()
        sandbox = try Sandbox()
        origin = try Origin(network: network) { [content] request in
            .file(content, for: request, etag: "\"a\"")
        }
    }

    private func start(
        byName: Bool = false, isAsked: Bool = true, retries: String = ""
    ) throws -> Run {
        let program = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        let command =
            network.entry + [
                program, "--testing-library", "swift-testing", "--filter", "FirstWaitProcess",
            ]
        let url = byName ? "http://origin.test:\(origin.port)/file" : origin.url("/file")
        return try Run(
            command[0], Array(command.dropFirst()),
            environment: [
                "SEGGET_FIRST_WAIT": url, "SEGGET_FIRST_WAIT_FILE": sandbox.path("file"),
                "SEGGET_FIRST_WAIT_ASKED": isAsked ? "yes" : "no",
                "SEGGET_FIRST_WAIT_RETRIES": retries,
            ])
    }

    /// Waits until the process prints a word, or ends.
    private func expect(
        _ word: String, of child: Run, _ location: SourceLocation = #_sourceLocation
    ) {
        _ = eventually { child.output.contains(word) || !child.isRunning }
        #expect(
            child.output.contains(word), Comment(rawValue: child.output), sourceLocation: location)
    }

    private func expectFile(
        of child: Run, _ location: SourceLocation = #_sourceLocation
    ) throws {
        expect("@finished", of: child, location)
        expect("@networkIsBack", of: child, location)
        guard child.output.contains("@finished") else { return }
        #expect(
            try content.firstDifference(at: sandbox.path("file")) == nil, sourceLocation: location)
    }

    private func expectFailure(
        of child: Run, waited: Bool = false, _ location: SourceLocation = #_sourceLocation
    ) throws {
        expect("@failed transfer", of: child, location)
        #expect(
            child.output.contains("@waitingForNetwork") == waited, Comment(rawValue: child.output),
            sourceLocation: location)
        #expect(try sandbox.names() == [], sourceLocation: location)
    }

    @Test(arguments: [false, true])
    func waitsForLink(byName: Bool) throws {
        let names = try byName ? NameServer(network, .answers, options: "timeout:1") : nil
        defer { names?.stop() }
        try network.unplug(.client)
        let child = try start(byName: byName)
        expect("@waitingForNetwork", of: child)
        #expect(origin.requests.isEmpty)
        try network.plug(.client)
        try expectFile(of: child)
    }

    @Test func unresolvedNameWithoutRouteWaits() throws {
        let names = try NameServer(network, .fails, options: "timeout:1 attempts:1")
        defer { names.stop() }
        try network.unplug(.client)
        let child = try start(byName: true)
        expect("@waitingForNetwork", of: child)
        names.become(.answers)
        try network.plug(.client)
        try expectFile(of: child)
    }

    @Test func unresolvedNameWithRouteFails() throws {
        let names = try NameServer(network, .fails, options: "timeout:1 attempts:1")
        defer { names.stop() }
        try network.addDefaultRoute()
        try expectFailure(of: start(byName: true))
    }

    @Test func refusedConnectionFails() throws {
        origin.refuseConnections()
        try expectFailure(of: start())
    }

    /// The client's link has no carrier, and the kernel still has the route.
    @Test func unreachableServerFails() throws {
        try network.unplug(.server)
        try expectFailure(of: start(retries: "2"))
    }

    @Test func refusedConnectionAfterWaitFails() throws {
        try network.unplug(.client)
        let child = try start()
        expect("@waitingForNetwork", of: child)
        origin.refuseConnections()
        try network.plug(.client)
        try expectFailure(of: child, waited: true)
    }

    @Test func failsWithoutOption() throws {
        try network.unplug(.client)
        try expectFailure(of: start(isAsked: false))
    }

    // MARK: Routes in the kernel

    @Test func routeDisappearsWithLink() throws {
        func leads(_ address: String) throws -> Bool? {
            try network.inClient { HostRoute.leads(to: address) }
        }
        #expect(try leads(NetworkPair.serverAddress) == true)
        #expect(try leads("192.0.2.1") == false)
        #expect(try leads("2001:db8::1") == false)
        try network.unplug(.client)
        #expect(try leads(NetworkPair.serverAddress) == false)
        #expect(try leads("127.0.0.1") == true)
        #expect(try leads("::1") == true)
    }
}

/// Runs a download in a separate process; not a test.
@Suite(
    .enabled(
        if: ProcessInfo.processInfo.environment["SEGGET_FIRST_WAIT"] != nil,
        "it is a part of FirstWaitTests"))
struct FirstWaitProcess {
    @Test func runsDownload() async throws {
        let environment = ProcessInfo.processInfo.environment
        let url = try #require(environment["SEGGET_FIRST_WAIT"])
        let path = try #require(environment["SEGGET_FIRST_WAIT_FILE"])
        var options = DownloadOptions()
        options.waitsForNetwork = true
        options.waitsForNetworkFirst = environment["SEGGET_FIRST_WAIT_ASKED"] == "yes"
        if let retries = environment["SEGGET_FIRST_WAIT_RETRIES"].flatMap({ Int($0) }) {
            options.retries = retries
        }
        options.connectTimeout = .seconds(1)
        options.stallTimeout = .seconds(1)
        let session = DownloadSession()
        let download = session.start(url, to: .file(path), options: options)
        for await event in download.events {
            guard case .notice(let notice) = event else { continue }
            Self.report("\(notice)")
        }
        switch await download.result {
        case .success: Self.report("finished")
        case .failure(let error): Self.report("failed \(error.reason)")
        }
        await session.shutdown()
    }

    private static func report(_ text: String) {
        FileHandle.standardOutput.write(Data("\n@\(text)\n".utf8))
    }
}
