import Foundation
import Glibc
import TestSupport
import Testing

/// Tests that a date or an ETag that a host sent for two files of different size does not
/// distinguish versions there.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct SharedDateTests {
    private static let size: Int64 = 3_000_000
    private static let date = httpDate(unixTime: 1_700_000_000)

    /// The validator that two files have in common.
    enum Shared: CaseIterable { case date, tag }

    /// An origin with `/file` and a longer `/other`, and a folder for the server memory.
    private struct Site {
        let stage: Stage
        let state: Sandbox
        private let second: Guarded<Int64>

        init(_ shared: Shared?, second length: Int64 = SharedDateTests.size + 1) throws {
            let second = Guarded(length)
            self.second = second
            stage = try Stage(size: SharedDateTests.size)
            state = try Sandbox()
            change(shared, seed: 1)
        }

        func change(_ shared: Shared?, seed: UInt64, stallAfter: Int64? = nil) {
            stage.origin.change { [second] offer in
                offer.content = Content(size: SharedDateTests.size, seed: seed)
                offer.etag = nil
                offer.lastModified = nil
                offer.bend = { request, reply in
                    let isFile = request.target.hasPrefix("/file")
                    let content =
                        isFile
                        ? Content(size: SharedDateTests.size, seed: seed)
                        : Content(size: second.withLock { $0 }, seed: 9)
                    let own = isFile ? "\"own\"" : "\"another\""
                    let etag = shared == .tag ? "\"v1\"" : shared == nil ? own : nil
                    reply = .file(
                        content, for: request, etag: etag,
                        lastModified: shared == .tag ? nil : SharedDateTests.date)
                    if request.method == "GET", let stallAfter { reply.stallAfter = stallAfter }
                    reply = reply.silentToCanaries(request)
                }
            }
        }

        func start(_ arguments: [String], _ paths: [String]) throws -> Run {
            try Run(
                arguments + paths.map { stage.origin.url($0) }, in: stage.folder,
                environment: ["XDG_STATE_HOME": state.path])
        }

        func run(_ arguments: [String], _ paths: [String]) throws -> Run.Outcome {
            let outcome = try start(arguments, paths).wait()
            stage.origin.hearOut()
            return outcome
        }

        /// Kills a run, which leaves parts of one or several files.
        func leaveParts(_ shared: Shared?, _ paths: [String]) throws {
            change(shared, seed: 1, stallAfter: 200_000)
            let child = try start(["-x", "4"], paths)
            for path in paths {
                #expect(child.waits(for: 200_000, name: String(path.dropFirst())))
            }
            // segget stores dates and ETags after a moment.
            let memory = state.path("segget/servers.json")
            #expect(
                eventually(timeout: 60) {
                    let text = (try? String(contentsOfFile: memory, encoding: .utf8)) ?? ""
                    return text.contains(paths.count == 1 ? " \(SharedDateTests.size) " : " - ")
                })
            child.signal(SIGKILL)
            _ = try child.wait()
            stage.origin.dropConnections()
            change(shared, seed: 1)
        }
    }

    @Test(arguments: Shared.allCases)
    func sharedValidatorOfTwoRunsStartsOver(shared: Shared) throws {
        let site = try Site(shared)
        try site.leaveParts(shared, ["/file"])
        #expect(try site.run([], ["/other"]).end == .exit(0))
        site.change(shared, seed: 2)
        let outcome = try site.run(["--json"], ["/file"])
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        #expect(try site.stage.isRight())
        #expect(try outcome.notices("started_over").map(\.reason) == ["no_validator"])
        #expect(try outcome.events("started").last?.identity == "none")
        // The stored text contains neither the validators nor the host nor the path.
        let text = try String(
            contentsOfFile: site.state.path("segget/servers.json"), encoding: .utf8)
        for secret in ["v1", "2023", "127.0.0.1", "file"] { #expect(!text.contains(secret)) }
    }

    @Test func sharedDateInKilledListStartsOver() throws {
        let site = try Site(.date)
        try site.leaveParts(.date, ["/file", "/other"])
        site.change(.date, seed: 2)
        let outcome = try site.run(["--json"], ["/file"])
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        #expect(try site.stage.isRight())
        #expect(try outcome.notices("started_over").map(\.reason) == ["no_validator"])
    }

    /// Different ETags still distinguish versions, and so do dates of files of one size.
    @Test(arguments: [true, false])
    func otherValidatorsStillResume(haveTags: Bool) throws {
        let shared: Shared? = haveTags ? nil : .date
        let site = try Site(shared, second: haveTags ? Self.size + 1 : Self.size)
        try site.leaveParts(shared, ["/file"])
        #expect(try site.run([], ["/other"]).end == .exit(0))
        let outcome = try site.run(["--json"], ["/file"])
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        #expect(try site.stage.isRight())
        #expect(try outcome.notices("started_over").isEmpty)
        #expect((try outcome.events("finished").last?.bytesResumed ?? 0) >= 200_000)
    }
}
