import Foundation
import TestSupport
import Testing

/// Tests the requests to each server.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct Aria2RequestTests {
    /// Credentials are not sent to another host after a redirect; harmless fields are.
    ///
    /// aria2c sends tokens to every redirect target (aria2#1176).
    @Test(arguments: [
        "Authorization: Bearer s3cret", "Cookie: a=s3cret", "X-Api-Key: s3cret",
        "Proxy-Authorization: s3cret",
        "Private-Token: s3cret",
    ])
    func redirectDoesNotForwardTokens(header: String) throws {
        let pair = try Aria2Pair(size: 3_000_000)
        let other = try Aria2Pair(size: 3_000_000, address: "127.0.0.2")
        pair.origin.bendGET { _, reply in
            reply = .text(302, headers: [HeaderField("Location", other.origin.url("/cdn/f.bin"))])
        }
        let line =
            "aria2c --no-conf -x4 -s4 -k1M -o f.bin --header '\(header)' --header 'Accept: x/y'"
            + " --header 'Accept-Language: de' -U Agent/7 $B/f.bin"
        let outcome = try pair.run(line, .segget)
        #expect(outcome.code == 0, "\(outcome.text.lines)")
        #expect(
            try other.content("/cdn/f.bin").firstDifference(at: pair.path("f.bin", .segget)) == nil)
        let name = String(header.prefix { $0 != ":" })
        #expect(!outcome.requests.isEmpty)
        if name != "Proxy-Authorization" {
            #expect(outcome.requests.allSatisfy { $0.header(name)?.contains("s3cret") == true })
        }
        #expect(!other.origin.requests.isEmpty)
        for request in other.origin.requests {
            #expect(!request.headers.contains { $0.value.contains("s3cret") })
            #expect(request.header("User-Agent") == "Agent/7")
            #expect(request.header("Accept") == "x/y")
            #expect(request.header("Accept-Language") == "de")
        }
        // The output does not show it either.
        #expect(!(outcome.text.lines.joined() + outcome.errors).contains("s3cret"))
    }

    /// The header of a list's item is protected in the same way.
    @Test func redirectDoesNotForwardTokensOfList() throws {
        let pair = try Aria2Pair(size: 300_000)
        let other = try Aria2Pair(size: 300_000, address: "127.0.0.2")
        pair.origin.bendGET { _, reply in
            reply = .text(302, headers: [HeaderField("Location", other.origin.url("/cdn/f.bin"))])
        }
        try pair.write("$B/f.bin\n out=f.bin\n header=Authorization: Bearer s3cret\n", to: "list")
        let outcome = try pair.run("aria2c --no-conf -U Agent/7 -i list", .segget)
        #expect(outcome.code == 0, "\(outcome.text.lines)")
        #expect(outcome.requests.allSatisfy { $0.header("Authorization") == "Bearer s3cret" })
        #expect(!other.origin.requests.isEmpty)
        for request in other.origin.requests {
            #expect(request.header("Authorization") == nil)
            #expect(request.header("User-Agent") == "Agent/7")
        }
    }

    /// Both send the same fields with the first request for the file.
    @Test(
        arguments: [
            ("--header 'X-A: b' --header 'X-C: d'", ["X-A", "X-C"]), ("-U Agent/7", ["User-Agent"]),
            ("--user-agent=Agent/7 --referer=http://a/b", ["User-Agent", "Referer"]),
            ("--referer='*'", ["Referer"]), ("--http-no-cache=true", ["Cache-Control", "Pragma"]),
            ("--http-user=me --http-passwd=s3cret --http-auth-challenge=false", ["Authorization"]),
            ("--load-cookies=cookies", ["Cookie"]), ("--header 'User-Agent: H/1'", ["User-Agent"]),
            ("--header 'Accept: */*'", ["Accept"]),
        ] as [(String, [String])])
    func sendsSameHeadersAsAria2c(options: String, names: [String]) throws {
        let pair = try Aria2Pair(size: 300_000)
        try pair.write(
            "# Netscape HTTP Cookie File\n127.0.0.1\tFALSE\t/\tFALSE\t0\tid\tabc\n", to: "cookies")
        let (aria2c, segget) = try pair.both("aria2c --no-conf \(options) $B/f.bin")
        #expect(aria2c.code == 0 && segget.code == 0, "\(segget.text.lines)")
        for name in names {
            // aria2c ends each cookie with a semicolon.
            let theirs = aria2c.requests.last?.header(name)?.trimmingCharacters(in: [";"])
            #expect(theirs != nil)
            #expect(segget.requests.allSatisfy { $0.header(name) == theirs }, "\(name)")
        }
    }

    /// The server requires the user and password of the URL or of options.
    @Test(arguments: [
        "http://me:s3cret@$HOST/f.bin", "--http-user=me --http-passwd=s3cret $B/f.bin",
    ])
    func sendsCredentialsOfURLOrOptions(line: String) throws {
        let pair = try Aria2Pair(size: 300_000)
        pair.origin.bendGET { request, reply in
            if request.header("Authorization") != "Basic bWU6czNjcmV0" {
                reply = .text(401, headers: [HeaderField("WWW-Authenticate", "Basic realm=\"x\"")])
            }
        }
        let (aria2c, segget) = try pair.both(
            "aria2c --no-conf \(line)", ["HOST": "127.0.0.1:\(pair.origin.port)"])
        #expect(aria2c.code == 0 && segget.code == 0, "\(segget.text.lines)")
        #expect(segget.tree == ["f.bin": "/f.bin"] && aria2c.tree == segget.tree)
        #expect(!(segget.text.lines.joined() + segget.errors).contains("s3cret"))
    }
}
