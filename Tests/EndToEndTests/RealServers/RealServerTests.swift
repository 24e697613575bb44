import Foundation
import TestSupport
import Testing

/// The built command against third-party servers in their own configuration.
///
/// Their responses that a client has to know (the versions are those of
/// Tests/Servers/requirements.txt and Debian 12):
///
/// - `rclone serve s3`: for `bytes=0-99` of 8,000,000 bytes, `200 OK` with `Content-Length: 100`
///   and `Content-Range: bytes 0-99/8000000`; for a range of an empty file, 416; for folders, 404.
/// - webfs: for `bytes=0-262143` of a smaller file, and for any range of an empty one,
///   `400 Bad Request`; for a range of a listing, 200 with the whole listing.
/// - RangeHTTPServer: HTTP/1.0; for any range of a folder, `404 File not found`, although it lists
///   the folder without a range.
/// - WEBrick: `Etag: f7c221-7a1200-6b062399`, without quotes; `Last-Modified` in 200 only, not in
///   206.
/// - Tornado: for a range of an empty file, 416 with `Content-Range: bytes */0`; for a range that
///   exceeds the file, 200; for folders, 403.
/// - Sanic: for `bytes=0-262143` of 100,000 bytes, 206 with `Content-Range: bytes 0-262143/100000`
///   and `content-length: 100000`; for a range of an empty file, 206 with `bytes 0-0/0`; for
///   folders, 500.
/// - Flask, Django, Apache: `Content-Encoding: gzip` (`x-gzip`) for a stored .tgz and .tar.gz, also
///   in a 206 and in the response to `HEAD`; Twisted, mini_httpd: for a .tar.gz only.
/// - mini_httpd, `http.server`: no ranges, 200 with the whole file. Flask, Starlette: for folders,
///   500.
@Suite(.timeLimit(.minutes(5)))
struct RealServerTests {
    @Test(arguments: RealServer.Kind.allCases)
    func downloadsEveryFile(of kind: RealServer.Kind) throws {
        let trial = try RealServerTrial(kind)
        for file in trial.files {
            let url = trial.server.url(file.path)
            for options in [[], ["-x", "1"]] {
                let folder = try Sandbox()
                let outcome = try Run(options + [url], in: folder.path).wait()
                let what = Comment("\(file.name) \(options): \(outcome.errorOutput)")
                #expect(outcome.end == .exit(0), what)
                // `#expect` of the bytes themselves would print both arrays.
                let isRight = (try? folder.read(file.name)).map(Array.init) == file.bytes
                #expect(isRight, what)
                #expect(try folder.names() == [file.name], what)
            }
            let folder = try Sandbox()
            let outcome = try Run(["-o", "-", url], in: folder.path).wait()
            let what = Comment("\(file.name) to standard output: \(outcome.errorOutput)")
            #expect(outcome.end == .exit(0), what)
            let isRight = outcome.standardOutput == file.bytes
            #expect(isRight, what)
            #expect(try folder.names() == [], what)
        }
    }

    @Test(arguments: RealServer.Kind.allCases)
    func downloadsListOfAllFiles(of kind: RealServer.Kind) throws {
        let trial = try RealServerTrial(kind)
        let folder = try Sandbox()
        let lists = try Sandbox()
        let list = trial.files.map { trial.server.url($0.path) + "\n" }.joined()
        try lists.write("list", list)
        let outcome = try Run(["-i", lists.path("list")], in: folder.path).wait()
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        for file in trial.files {
            let isRight = (try? folder.read(file.name)).map(Array.init) == file.bytes
            #expect(isRight, "\(file.name)")
        }
        #expect(try folder.names() == trial.files.map(\.name).sorted())
    }

    @Test(arguments: RealServer.Kind.allCases)
    func resumesAfterKill(with kind: RealServer.Kind) throws {
        let trial = try RealServerTrial(kind)
        let folder = try Sandbox()
        let file = try trial.file("large.bin")
        let killed = try trial.startSlowly(file.name, rate: "4M", until: 1 << 20, in: folder)
        killed.signal(SIGKILL)
        #expect(try killed.wait().end == .signal(SIGKILL))
        let outcome = try Run([trial.server.url(file.path)], in: folder.path).wait()
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        let isRight = (try? folder.read(file.name)).map(Array.init) == file.bytes
        #expect(isRight, "\(outcome.errorOutput)")
        #expect(try folder.names() == [file.name])
    }

    /// With and without the slash that most servers redirect to.
    ///
    /// If curl fails, segget also fails, and it leaves no file.
    @Test(arguments: RealServer.Kind.allCases, ["files/folder/", "files/folder"])
    func savesFolderListing(of kind: RealServer.Kind, path: String) throws {
        let trial = try RealServerTrial(kind)
        let folder = try Sandbox()
        var expected = try trial.broughtByCurl(path)
        let arguments = ["-o", "list", "--overwrite", trial.server.url(path)]
        var outcome = try Run(arguments, in: folder.path).wait()
        if expected != nil {
            // Some pages state the second in which they were made: compares two pages of the same
            // second.
            for _ in 0..<10 where (try? folder.read("list")).map(Array.init) != expected {
                expected = try trial.broughtByCurl(path)
                outcome = try Run(arguments, in: folder.path).wait()
            }
            #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
            let isRight = (try? folder.read("list")).map(Array.init) == expected
            #expect(isRight, "\(outcome.errorOutput)")
            #expect(try folder.names() == ["list"])
        } else {
            // Tornado answers 403.
            #expect([.exit(69), .exit(77)].contains(outcome.end), "\(outcome.errorOutput)")
            #expect(try folder.names() == [])
        }
    }
}
