import TestSupport
import Testing

/// Hosts with several addresses: segget uses all, and drops slow or broken ones.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct AddressEndToEndTests {
    @Test func allAddressesAreUsed() async throws {
        let trial = try AddressTrial(3)
        let outcome = try await trial.run(["-x", "6"])
        try outcome.expectComplete(trial.content)
        // The probe's connection to the first address is reused.
        #expect(trial.origins.map(\.acceptedConnections) == [2, 2, 2], "\(outcome.errorOutput)")
        #expect(
            try outcome.notices("address_used").compactMap(\.address).sorted() == trial.addresses)
        #expect(try outcome.notices("address_left").isEmpty)
        #expect(trial.origins.allSatisfy { $0.bytesServed > 1_000_000 })
        for origin in trial.origins {
            #expect(origin.requests.allSatisfy { $0.header("Host") == "a.test:\(trial.port)" })
        }
    }

    @Test(arguments: [0, 1, 2])
    func slowAddressIsDropped(slow: Int) async throws {
        let trial = try AddressTrial(3, size: 16_000_000, pace: 800_000) { index, request, reply in
            if index == slow, request.method == "GET" { reply.pace = 40_000 }
        }
        let outcome = try await trial.run(["-x", "6"])
        try outcome.expectComplete(trial.content)
        let left = try outcome.notices("address_left")
        #expect(left.compactMap(\.address) == [trial.addresses[slow]], "\(outcome.errorOutput)")
        #expect(left.first?.reason == "slow")
        #expect(trial.gets[slow] <= 3)
        #expect(trial.origins[slow].bytesServed < 2_000_000)
    }

    /// A fault of an address other than the first.
    enum Fault: CaseIterable {
        case refuses, unavailable, notFound, forbidden, silent, closes, resets, empty, garbage
        case otherVersion, otherRange, wholeFile, otherSize, redirect
    }

    private static func bend(_ fault: Fault, _ content: Content, _ reply: inout OriginReply) {
        guard case .content(_, let range) = reply.body else { return }
        switch fault {
        case .refuses: break
        case .unavailable: reply = .text(503, headers: [HeaderField("Retry-After", "600")])
        case .notFound: reply = .text(404)
        case .forbidden: reply = .text(403)
        case .silent: reply.delayBeforeHeaders = .infinity
        case .closes: reply = .closeWithoutReply
        case .resets: reply = .resetWithoutReply
        case .empty: reply.cutAfter = 0
        case .garbage: reply = .raw("no HTTP at all\r\n\r\n")
        case .otherVersion:
            reply.set("ETag", "\"b\"")
            reply.body = .content(Content(size: content.size, seed: 9), range)
        case .otherRange:
            let other = 0..<Int64(range.count)
            reply.set("Content-Range", "bytes 0-\(other.upperBound - 1)/\(content.size)")
            reply.body = .content(content, other)
        case .wholeFile:
            reply.status = 200
            reply.set("Content-Range", nil)
            reply.body = .content(content, 0..<content.size)
        case .otherSize:
            reply.set(
                "Content-Range",
                "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(content.size + 1)")
        case .redirect:
            reply = .redirect("http://127.0.0.1:1/elsewhere")
        }
    }

    /// The failure costs no retry (`--retries 0`), and the file consists of one version.
    @Test(arguments: Fault.allCases)
    func failingAddressIsDropped(fault: Fault) async throws {
        let content = Content(size: 8_000_000, seed: 5)
        let trial = try AddressTrial(3, pace: 500_000) { index, request, reply in
            guard index == 1, request.method == "GET" else { return }
            Self.bend(fault, content, &reply)
        }
        if fault == .refuses { trial.origins[1].refuseConnections() }
        let outcome = try await trial.run(["-x", "6", "--retries", "0"])
        try outcome.expectComplete(trial.content)
        let left = try outcome.notices("address_left").compactMap(\.address)
        // segget repeats the request without `If-Range`, and keeps the address.
        let isLeft = fault != .wholeFile
        #expect(left == (isLeft ? ["127.0.0.2"] : []), "\(outcome.errorOutput)")
        #expect(trial.origins[1].bytesServed < 1_000_000 || fault == .otherVersion)
        for kind in ["retrying", "server_limit", "started_over", "resolving_again", "stalled"] {
            let isExpected = fault == .wholeFile && kind == "retrying"
            #expect(try outcome.notices(kind).isEmpty || isExpected, "\(outcome.errorOutput)")
        }
    }

    @Test func failsWhenAllAddressesFail() async throws {
        let trial = try AddressTrial(3) { _, request, reply in
            if request.method == "GET" { reply = .text(503) }
        }
        let outcome = try await trial.run(["-x", "6", "--retries", "1"])
        #expect(outcome.exitCode == 69, "\(outcome.errorOutput)")
        #expect(outcome.wallSeconds < 60)
    }

    /// The first address already fails at `HEAD`.
    @Test(arguments: [Fault.unavailable, .closes, .silent])
    func continuesAfterFirstAddressFails(fault: Fault) async throws {
        let content = Content(size: 8_000_000, seed: 5)
        let trial = try AddressTrial(3) { index, _, reply in
            if index == 0 { Self.bend(fault, content, &reply) }
        }
        let outcome = try await trial.run(["-x", "4", "--retries", "0", "--stall-timeout", "3"])
        try outcome.expectComplete(trial.content)
        #expect(trial.origins[0].bytesServed < 1000)
    }

    /// Two addresses fail one after the other, and the first of them recovers.
    @Test func recoveredAddressIsUsedAgain() async throws {
        let trial = try AddressTrial(2, size: 6_000_000, pace: 300_000)
        let child = try Run(
            [
                "http://a.test:\(trial.port)/dir/file.bin", "--json", "-v", "--resolve",
                "a.test:\(trial.port):127.0.0.1,127.0.0.2", "-x", "4",
            ], in: trial.sandbox.path)
        #expect(eventually { trial.origins.allSatisfy { $0.bytesServed > 200_000 } })
        trial.origins[1].refuseConnections()
        trial.origins[1].dropConnections()
        #expect(eventually { trial.origins[0].openConnections == 4 })
        try trial.origins[1].acceptConnections()
        trial.origins[0].refuseConnections()
        trial.origins[0].dropConnections()
        let outcome = try await child.ended()
        try outcome.expectComplete(trial.content)
        #expect(trial.gets[1] > 2)
    }

    /// After a redirect to another host, segget uses that host's addresses.
    @Test func redirectTargetUsesItsOwnAddresses() async throws {
        let trial = try AddressTrial(2) { _, request, reply in
            if request.path == "/dir/file.bin" {
                let port = request.header("Host")?.split(separator: ":").last ?? ""
                reply = .redirect("http://b.test:\(port)/there.bin")
            }
        }
        let outcome = try await trial.run([
            "-x", "4", "-o", "file.bin", "-H", "X-Token: hush", "--resolve",
            "b.test:\(trial.port):127.0.0.2",
        ])
        try outcome.expectComplete(trial.content)
        #expect(trial.origins[0].requests.allSatisfy { $0.path == "/dir/file.bin" })
        #expect(trial.origins[1].requests.allSatisfy { $0.header("X-Token") == nil })
        #expect(try outcome.notices("address_used").isEmpty)
    }

    /// The redirect changes to another host: segget sends its requests only to that host's
    /// addresses.
    @Test func requestsGoOnlyToAddressesOfTheirHost() async throws {
        let tally = Tally()
        let trial = try AddressTrial(3) { _, request, reply in
            let port = request.header("Host")?.split(separator: ":").last ?? ""
            if request.path == "/dir/file.bin" {
                let hasMoved = tally.count() > 6
                reply = .redirect("http://\(hasMoved ? "d" : "c").test:\(port)/there.bin")
            } else if request.method == "GET", request.header("Host")?.hasPrefix("c") == true {
                reply.cutAfter = 200_000
                if tally.add() > 6 { reply = .text(403) }
            }
        }
        let outcome = try await trial.run([
            "-x", "4", "-o", "file.bin", "--resolve", "c.test:\(trial.port):127.0.0.1,127.0.0.2",
            "--resolve", "d.test:\(trial.port):127.0.0.3",
        ])
        try outcome.expectComplete(trial.content)
        #expect(Set(try outcome.notices("address_used").compactMap(\.address)).count == 2)
        func hosts(_ index: Int) -> Set<Character> {
            Set(
                trial.origins[index].requests.filter { $0.path == "/there.bin" }
                    .compactMap { $0.header("Host")?.first })
        }
        #expect([0, 1, 2].map(hosts) == [["c"], ["c"], ["d"]], "\(outcome.errorOutput)")
    }

    /// With one connection, or through a proxy, segget does not spread connections over addresses.
    @Test func doesNotSpreadSingleConnectionOrProxy() async throws {
        let trial = try AddressTrial(2, pace: nil)
        try await trial.run(["-x", "1"]).expectComplete(trial.content)
        let proxy = try Origin { .file(trial.content, for: $0, etag: "\"a\"") }
        let outcome = try await trial.run([
            "--overwrite", "-x", "4", "--proxy", "http://127.0.0.1:\(proxy.port)",
        ])
        try outcome.expectComplete(trial.content)
        #expect(trial.gets[1] == 0)
        #expect(try outcome.notices("address_used").isEmpty)
    }

    /// The name server returns three addresses, one of which no host has.
    @Test(.enabled(if: NetworkPair.unavailable == nil, "\(NetworkPair.unavailable ?? "")"))
    func dropsUnreachableAddressFromDNS() async throws {
        let network = try NetworkPair()
        let trial = try WireTrial(size: 8_000_000, network: network) { request, reply in
            if request.method == "GET" { reply.pace = 500_000 }
        }
        let (port, content) = (trial.origin.port, trial.content)
        try network.addServerAddress("198.51.100.7")
        let other = try Origin(address: "198.51.100.7", port: port, network: network) {
            OriginReply.file(content, for: $0, etag: "\"a\"").with { $0.pace = 500_000 }
        }
        let names = try NameServer(
            network, .answers, hosts: [1, 7, 99], options: "timeout:1 attempts:1")
        defer { names.stop() }
        let child = try trial.start(
            ["-x", "6", "--retries", "0"], url: "http://origin.test:\(port)/dir/file.bin")
        let outcome = try await child.ended()
        try outcome.expectComplete(trial.content)
        #expect(!trial.gets.isEmpty)
        #expect(!other.requests.isEmpty)
        let left = try outcome.notices("address_left").compactMap(\.address)
        #expect(left == ["198.51.100.99"], "\(outcome.errorOutput)")
    }
}
