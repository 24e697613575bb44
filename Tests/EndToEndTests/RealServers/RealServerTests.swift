import Foundation
import TestSupport
import Testing

/// The built command against servers that others wrote, in their own configuration.
///
/// What each of them answers that a client has to know (the versions are those of
/// Tests/Servers/requirements.txt and Debian 12):
///
/// - `rclone serve s3`: to `bytes=0-99` of 8,000,000 bytes `200 OK` with `Content-Length: 100` and
///   `Content-Range: bytes 0-99/8000000`; to a range of an empty file 416; 404 for folders.
/// - webfs: to `bytes=0-262143` of a smaller file, and to any range of an empty one,
///   `400 Bad Request`; to a range of a listing 200 and all of it.
/// - RangeHTTPServer: HTTP/1.0; to any range of a folder `404 File not found`, though without a range
///   it lists it.
/// - WEBrick: `Etag: f7c221-7a1200-6b062399`, without quotes; its 206 has no `Last-Modified`, its 200
///   has one.
/// - Tornado: 416 with `Content-Range: bytes */0` to a range of an empty file; 200 to a range that
///   reaches over the end; 403 for folders.
/// - Sanic: to `bytes=0-262143` of 100,000 bytes 206 with `Content-Range: bytes 0-262143/100000` and
///   `content-length: 100000`; to a range of an empty file 206 with `bytes 0-0/0`; 500 for folders.
/// - Flask, Django, Apache: `Content-Encoding: gzip` (`x-gzip`) on a stored .tgz and .tar.gz, in a 206
///   and in the answer to `HEAD`, too; Twisted, mini_httpd: on a .tar.gz alone.
/// - mini_httpd, `http.server`: no ranges, 200 and all of it. Flask, Starlette: 500 for folders.
@Suite(.timeLimit(.minutes(5)))
struct RealServerTests {
    @Test(arguments: RealServer.Kind.allCases)
    func bringsEveryFile(of kind: RealServer.Kind) throws {
        let trial = try RealServerTrial(kind)
        for file in trial.files {
            let url = trial.server.url(file.path)
            for options in [[], ["-x", "1"]] {
                let folder = try Sandbox()
                let outcome = try Segget.run(options + [url], in: folder.path)
                let what = Comment("\(file.name) \(options): \(outcome.errorOutput)")
                #expect(outcome.end == .exit(0), what)
                // Not the bytes themselves: a failure shows both sides.
                let isRight = (try? folder.read(file.name)).map(Array.init) == file.bytes
                #expect(isRight, what)
                #expect(try folder.names() == [file.name], what)
            }
            let folder = try Sandbox()
            let outcome = try Segget.run(["-o", "-", url], in: folder.path)
            let what = Comment("\(file.name) to standard output: \(outcome.errorOutput)")
            #expect(outcome.end == .exit(0), what)
            let isRight = outcome.standardOutput == file.bytes
            #expect(isRight, what)
            #expect(try folder.names() == [], what)
        }
    }

    @Test(arguments: RealServer.Kind.allCases)
    func bringsAListOfAll(of kind: RealServer.Kind) throws {
        let trial = try RealServerTrial(kind)
        let folder = try Sandbox()
        let lists = try Sandbox()
        let list = trial.files.map { trial.server.url($0.path) + "\n" }.joined()
        try lists.write("list", list)
        let outcome = try Segget.run(["-i", lists.path("list")], in: folder.path)
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        for file in trial.files {
            let isRight = (try? folder.read(file.name)).map(Array.init) == file.bytes
            #expect(isRight, "\(file.name)")
        }
        #expect(try folder.names() == trial.files.map(\.name).sorted())
    }

    @Test(arguments: RealServer.Kind.allCases)
    func goesOnAfterAKill(with kind: RealServer.Kind) throws {
        let trial = try RealServerTrial(kind)
        let folder = try Sandbox()
        let file = try trial.file("large.bin")
        let killed = try trial.startSlowly(file.name, rate: "4M", until: 1 << 20, in: folder)
        killed.signal(SIGKILL)
        #expect(try killed.wait().end == .signal(SIGKILL))
        let outcome = try Segget.run([trial.server.url(file.path)], in: folder.path)
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        let isRight = (try? folder.read(file.name)).map(Array.init) == file.bytes
        #expect(isRight, "\(outcome.errorOutput)")
        #expect(try folder.names() == [file.name])
    }

    /// With and without the slash that most servers redirect to; where curl fails segget does, and
    /// leaves nothing.
    @Test(arguments: RealServer.Kind.allCases, ["files/folder/", "files/folder"])
    func savesAListing(of kind: RealServer.Kind, path: String) throws {
        let trial = try RealServerTrial(kind)
        let folder = try Sandbox()
        var expected = try trial.broughtByCurl(path)
        let arguments = ["-o", "list", "--overwrite", trial.server.url(path)]
        var outcome = try Segget.run(arguments, in: folder.path)
        if expected != nil {
            // Some pages state the second in which they were made: two of the same one are
            // compared.
            for _ in 0..<10 where (try? folder.read("list")).map(Array.init) != expected {
                expected = try trial.broughtByCurl(path)
                outcome = try Segget.run(arguments, in: folder.path)
            }
            #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
            let isRight = (try? folder.read("list")).map(Array.init) == expected
            #expect(isRight, "\(outcome.errorOutput)")
            #expect(try folder.names() == ["list"])
        } else {
            // Tornado forbids it.
            #expect([.exit(69), .exit(77)].contains(outcome.end), "\(outcome.errorOutput)")
            #expect(try folder.names() == [])
        }
    }
}
