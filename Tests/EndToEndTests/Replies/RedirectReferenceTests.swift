import TestSupport
import Testing

/// `Location` references are followed as browsers follow them (WHATWG URL).
@Suite(.serialized, .timeLimit(.minutes(5)))
struct RedirectReferenceTests {
    /// Returns a redirect whose `Location` has exactly these bytes.
    private static func redirect(_ location: [UInt8]) -> OriginReply {
        .raw(
            Array("HTTP/1.1 302 Found\r\nContent-Length: 0\r\nLocation: ".utf8) + location
                + Array("\r\n\r\n".utf8))
    }

    static let references: [(location: [UInt8], target: String)] = [
        (Array("/a b/ü/end".utf8), "/a%20b/%c3%bc/end"),
        (Array("end of it".utf8), "/d/end%20of%20it"),
        (Array("../x y?a b=c d".utf8), "/x%20y?a%20b=c%20d"),
        (Array("?q=ü x".utf8), "/d/go?q=%c3%bc%20x"),
        (Array("?q=a+b c".utf8), "/d/go?q=a+b%20c"),
        (Array("/x\ty\t/z".utf8), "/xy/z"),
        ([0x2f, 0xfc, 0x2f, 0x65, 0x20, 0xe4], "/%fc/e%20%e4"),
        ([0x3f, 0x71, 0x3d, 0xfc], "/d/go?q=%fc"),
        (Array("/100%/x%zz y".utf8), "/100%/x%zz%20y"),
        (Array("/x?u=http://h/ y".utf8), "/x?u=http://h/%20y"),
        (Array("./a b/../c d".utf8), "/d/c%20d"),
        (Array("/a%20b%2fc/ü".utf8), "/a%20b%2fc/%c3%bc"),
        (
            Array("/日本語/ファイル".utf8),
            "/%e6%97%a5%e6%9c%ac%e8%aa%9e/%e3%83%95%e3%82%a1%e3%82%a4%e3%83%ab"
        ),
        (Array("/x#a b".utf8), "/x"),
    ]

    @Test(arguments: references)
    func followsReferencesAsBrowsersDo(location: [UInt8], target: String) async throws {
        let trial = try WireTrial(size: 1000) { request, reply in
            if request.target == "/d/go" { reply = Self.redirect(location) }
        }
        let outcome = try await trial.run("-o", "file.bin", path: "/d/go")
        try outcome.expectComplete(trial.content)
        #expect(
            trial.origin.requests.contains { $0.target.lowercased() == target },
            "\(trial.origin.requests.map(\.target))")
        for request in trial.origin.requests {
            #expect(request.target.utf8.allSatisfy { (33...126).contains($0) })
        }
    }

    @Test func followsReferencesWithHost() async throws {
        let trial = try WireTrial(size: 1000) { request, reply in
            let host = request.header("Host") ?? ""
            switch request.path {
            case "/1": reply = Self.redirect(Array("//\(host)/x y/2?a b".utf8))
            case "/x%20y/2": reply = Self.redirect(Array("http://\(host)/ü x".utf8) + [0x09])
            default: break
            }
        }
        let outcome = try await trial.run("-o", "file.bin", path: "/1")
        try outcome.expectComplete(trial.content)
        #expect(trial.origin.requests.contains { $0.target == "/x%20y/2?a%20b" })
        #expect(trial.origin.requests.contains { $0.target.lowercased() == "/%c3%bc%20x" })
    }

    /// A fragment alone refers to the same resource, which may have set a cookie.
    @Test func fragmentRefersToSameResource() async throws {
        let visits = Tally()
        let trial = try WireTrial(size: 1000) { request, reply in
            if request.method == "HEAD", visits.add() == 1 {
                reply = Self.redirect(Array("#here we are".utf8))
            }
        }
        let outcome = try await trial.run(path: "/d/file.bin?q=1")
        try outcome.expectComplete(trial.content)
        #expect(trial.origin.requests.allSatisfy { $0.target == "/d/file.bin?q=1" })
    }

    /// References that browsers reject as URLs are not requested, encoded or not.
    @Test(arguments: [
        "http://a b/", "//a b/x", "http://a\tb c/", "http://[::1 ]/", "http:// /x",
        "htt p://h/x y:",
        "//%20/x", "http://a%20b/",
    ])
    func refusesHostWithSpace(location: String) async throws {
        let trial = try WireTrial(size: 1000) { request, reply in
            if request.target == "/d/go" { reply = Self.redirect(Array(location.utf8)) }
        }
        let outcome = try await trial.run(
            "-o", "file.bin", "--retries", "0", "--connect-timeout", "5", path: "/d/go")
        // `htt p:` is not a scheme, so the reference is a path.
        if location.hasPrefix("htt p") {
            try outcome.expectComplete(trial.content)
        } else {
            try outcome.expectFailure(code: 77, kind: "unsafe_redirect", keepsPart: false)
        }
        for request in trial.origin.requests {
            #expect(request.header("Host") == "127.0.0.1:\(trial.origin.port)")
        }
    }
}
