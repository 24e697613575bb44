import Foundation
import TestSupport
import Testing

/// Several URLs of one command line are mirrors of one file, unless an option changes that.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct Aria2MirrorTests {
    private static let size: Int64 = 4_000_000

    @Test(arguments: [
        "$B/a.bin $B/a.bin?mirror", "$B/none $B/a.bin", "$B/none $B/none2 $B/a.bin",
        "http://127.0.0.1:1/a.bin $B/a.bin", "-o a.bin $B/none $B/a.bin",
        "-x4 -s4 -k1M $B/a.bin $B/a.bin?m",
    ])
    func usesFirstWorkingMirror(line: String) throws {
        let pair = try Aria2Pair(size: Self.size)
        let (aria2c, segget) = try pair.both("aria2c --no-conf -o a.bin --max-tries=2 \(line)")
        #expect(aria2c.code == 0 && segget.code == 0, "\(segget.text.lines)")
        #expect(segget.tree == ["a.bin": "/a.bin"], "\(segget.tree)")
        #expect(segget.tree == aria2c.tree)
    }

    /// If the second URL has another file, aria2c mixes them; segget downloads one of them.
    @Test(arguments: [1, 2, 4, 16], [true, false])
    func doesNotMixDifferentFiles(connections: Int, isTagged: Bool) throws {
        let pair = try Aria2Pair(size: Self.size)
        pair.origin.bendGET { request, reply in
            if !isTagged {
                reply.set("ETag", nil)
                reply.set("Last-Modified", nil)
            }
        }
        let other = try Aria2Pair(size: Self.size, address: "127.0.0.2")
        let line =
            "aria2c --no-conf -x\(connections) -s\(connections) -k1M -o f.bin $B/a.bin $OTHER/b.bin"
        let outcome = try pair.run(
            line, .segget, ["OTHER": String(other.origin.url("").dropLast())])
        if outcome.code == 0 {
            let isOther =
                try other.content("/b.bin").firstDifference(at: pair.path("f.bin", .segget)) == nil
            #expect(outcome.tree["f.bin"] == "/a.bin" || isOther, "\(outcome.text.lines)")
        } else {
            #expect(outcome.tree["f.bin"] == nil, "\(outcome.text.lines)")
        }
    }

    @Test(arguments: [
        "-Z $B/a.bin $B/b.bin $B/c/c.bin", "--force-sequential $B/a.bin $B/b.bin",
        "-Z -d sub $B/a.bin $B/none.bin $B/b.bin", "-Z -o same.bin $B/a.bin $B/b.bin",
    ])
    func forceSequentialDownloadsEachURL(line: String) throws {
        let pair = try Aria2Pair(size: 300_000)
        let (aria2c, segget) = try pair.both("aria2c --no-conf \(line)")
        #expect(segget.code == aria2c.code, "\(segget.text.lines)")
        #expect(segget.tree == aria2c.tree)
        #expect(segget.text.told == aria2c.text.told)
    }

    @Test(arguments: [
        "-P '$B/{a,a}.bin'", "-P -Z '$B/[1-3].bin'", "-j1 -P -Z '$B/[01-05:2]/x.bin' -d out",
        "-j1 -P -Z '$B/{x,y}/[a-c].bin'", "-P '$B/[1-'", "-P '$B/{a'", "'$B/[1-2].bin'",
    ])
    func expandsParameterizedURIs(line: String) throws {
        let pair = try Aria2Pair(size: 100_000)
        let line = line.replacingOccurrences(of: "'$B", with: "\"$B\"'")
        let (aria2c, segget) = try pair.both("aria2c --no-conf \(line)")
        #expect(segget.code == aria2c.code, "\(segget.text.lines) \(segget.errors)")
        #expect(segget.tree == aria2c.tree)
        #expect(segget.text.told == aria2c.text.told)
    }

    // MARK: Connections

    /// A maximum number of connections.
    struct Bound: Sendable, CustomTestStringConvertible {
        var options: String
        var most: Int
        var testDescription: String { options }
    }

    /// segget chooses the number of connections automatically up to this limit, although a slow
    /// origin would justify more.
    @Test(arguments: [
        Bound(options: "-x1", most: 1), Bound(options: "-x1 -s16", most: 1),
        Bound(options: "-x16 -s1", most: 1), Bound(options: "-x3 -s16 -k1M", most: 3),
        Bound(options: "-x16 -s2 -k1M", most: 2), Bound(options: "-x16 -s16 -k4M", most: 2),
        Bound(options: "-x16 -s16 -k100M", most: 1), Bound(options: "-x16 -s16 -k1M", most: 8),
    ])
    func respectsConnectionLimits(bound: Bound) throws {
        let pair = try Aria2Pair(size: 8 << 20)
        let line = "aria2c --no-conf \(bound.options) $B/f.bin"
        let open = try pair.mostAtATime(line, waitingFor: bound.most)
        #expect(open == bound.most)
        #expect(try pair.tree(.segget) == ["f.bin": "/f.bin"])
    }

    /// Without a limit, segget opens more connections.
    @Test func opensMoreConnectionsWithoutLimit() throws {
        let pair = try Aria2Pair(size: 8 << 20)
        #expect(try pair.mostAtATime("aria2c --no-conf $B/f.bin", waitingFor: 9) > 8)
    }

    /// All files together have at most 64 connections.
    @Test func allFilesShareConnectionLimit() throws {
        let pair = try Aria2Pair(size: 4 << 20)
        let list = (1...40).map { "$B/\($0).bin\n" }.joined()
        try pair.write(list, to: "list")
        let open = try pair.mostAtATime(
            "aria2c --no-conf -q -j40 -x16 -s16 -k1M -i list", waitingFor: 40)
        #expect(open <= 64)
        #expect(try pair.tree(.segget).count == 41)
    }

    /// `-j` limits the number of files at a time.
    @Test(arguments: [1, 3]) func jobsLimitFilesAtATime(jobs: Int) throws {
        let pair = try Aria2Pair(size: 300_000)
        try pair.write((1...9).map { "$B/\($0).bin\n" }.joined(), to: "list")
        let open = try pair.mostAtATime(
            "aria2c --no-conf -q -j\(jobs) -x1 -i list", waitingFor: jobs)
        #expect(open == jobs)
        #expect(try pair.tree(.segget).count == 10)
    }
}

extension Aria2Pair {
    /// Runs a command line with segget and a slow origin, and counts simultaneous replies.
    ///
    /// The origin sends slowly until there are `count` replies and 2 s more have passed; then it
    /// sends everything.
    ///
    /// - Returns: The maximum number of simultaneous replies with a body until then.
    fileprivate func mostAtATime(_ line: String, waitingFor count: Int) throws -> Int {
        let release = Guarded(false)
        let open = Guarded((now: Set<Int>(), most: 0))
        origin.bendGET { [origin] request, reply in
            guard reply.body.count > 1 else { return }
            reply.pace = 2000
            reply.release = release
            open.withLock { open in
                let requests = origin.requests
                open.now = open.now.filter {
                    $0 <= requests.count && requests[$0 - 1].finished == nil
                }
                open.now.insert(request.number)
                open.most = max(open.most, open.now.count)
            }
        }
        let process = try start(line, .segget)
        _ = eventually { open.withLock { $0.most } >= count || !process.isRunning }
        _ = eventually(timeout: 2) { open.withLock { $0.most } > count || !process.isRunning }
        // Later, a reply's end may be recorded after the next reply's start.
        let most = open.withLock { $0.most }
        release.withLock { $0 = true }
        let outcome = try process.wait()
        #expect(outcome.exitCode == 0, "\(outcome.output) \(outcome.errorOutput)")
        return most
    }
}
