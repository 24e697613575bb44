import Foundation
import TestSupport
import Testing

/// Tests where `--output`, `--name` and `--directory` save one file, in every command that has
/// them.
@Suite(.timeLimit(.minutes(5)))
struct PlaceTests {
    private static let size: Int64 = 300_000

    /// The command that downloads the file.
    enum Way: CaseIterable, Sendable {
        case get, add
    }

    /// Downloads the file of a stage.
    private func run(
        _ stage: Stage, _ way: Way, _ arguments: [String], _ environment: [String: String] = [:]
    ) throws -> Run.Outcome {
        let queue = ["--queue", stage.path("queue/q.db")]
        var environment = environment
        environment["SEGGET_NO_CONFIG"] = environment["SEGGET_CONFIG"] == nil ? "1" : "0"
        let command =
            switch way {
            case .get: ["get"] + arguments
            case .add: ["add"] + queue + arguments
            }
        let outcome = try Run(
            command + [stage.origin.url("/file")], in: stage.folder, environment: environment
        ).wait()
        guard way != .get, outcome.end == .exit(0) else { return outcome }
        return try Run(["run"] + queue, in: stage.folder, environment: environment).wait()
    }

    /// Returns the files below the folder, except those of the queue.
    private func files(_ stage: Stage) throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: stage.folder)
            .filter { !$0.hasPrefix("queue") }.sorted()
    }

    @Test(
        arguments: [
            (["-o", "n"], ["n"]), (["--name", "n"], ["n"]), (["-d", "new"], ["new", "new/file"]),
            (["-o", "n", "-d", "new"], ["new", "new/n"]),
            (["--name", "n", "-d", "./new//"], ["new", "new/n"]),
            (["-o", "sub/x"], ["sub", "sub/x"]), (["--name", "sub/x"], ["sub", "sub/x"]),
            (["-d", "a/b", "-o", "c/x"], ["a", "a/b", "a/b/c", "a/b/c/x"]),
        ], Way.allCases)
    func savesFileAtGivenPath(place: ([String], [String]), way: Way) throws {
        let stage = try Stage(size: Self.size)
        let outcome = try run(stage, way, place.0)
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        #expect(try files(stage) == place.1)
        #expect(try stage.isRight(place.1.last ?? ""))
    }

    /// A file that is missing on the server creates no folder.
    @Test(arguments: [["-o", "sub/x"], ["-o", "x", "-d", "new/deep"]])
    func failedDownloadLeavesNoFolder(arguments: [String]) throws {
        let stage = try Stage(size: Self.size)
        stage.origin.bend { _, reply in reply = .text(404) }
        let outcome = try run(stage, .get, arguments)
        #expect(outcome.end == .exit(69), "\(outcome.errorOutput)")
        #expect(try files(stage) == [])
    }

    @Test(arguments: Way.allCases)
    func givenNameIgnoresConfiguredFolder(way: Way) throws {
        for option in ["-o", "--output", "--name"] {
            let stage = try Stage(size: Self.size)
            let configured = ["SEGGET_DIRECTORY": stage.path("configured")]
            let outcome = try run(stage, way, [option, "n"], configured)
            #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
            #expect(try files(stage) == ["n"], "\(option)")
            let typed = try run(stage, way, [option, "n", "-d", "typed"], configured)
            #expect(typed.end == .exit(0), "\(typed.errorOutput)")
            #expect(try files(stage) == ["n", "typed", "typed/n"], "\(option)")
        }
    }

    /// A name and a folder that are both configured would apply to every download, so they are
    /// refused.
    @Test func refusesConfiguredNameAndFolder() throws {
        let stage = try Stage(size: Self.size)
        let outcome = try run(
            stage, .get, [], ["SEGGET_DIRECTORY": "d", "SEGGET_OUTPUT": "n"])
        #expect(outcome.end == .exit(64), "\(outcome.errorOutput)")
        #expect(outcome.errorOutput.contains("SEGGET_"), "\(outcome.errorOutput)")
        #expect(stage.origin.acceptedConnections == 0)
    }

    @Test(arguments: ["", "# nothing\n", "\n\n"])
    func emptyListSucceeds(text: String) throws {
        let stage = try Stage(size: Self.size)
        let lists = try Sandbox()
        let list = try lists.write("list", text)
        let queue = lists.path("q.db")
        let said = "nothing to download"
        for arguments in [
            ["-i", list], ["-i", list, "-i", list], ["--json", "-i", list],
            ["--dry-run", "-i", list],
            ["add", "--queue", queue, "-i", list],
            ["get", "--enqueue", "--queue", queue, "-i", list],
        ] {
            let outcome = try Run(arguments, in: stage.folder).wait()
            #expect(outcome.end == .exit(0), "\(arguments): \(outcome.errorOutput)")
            #expect(outcome.errorOutput.contains(said), "\(arguments): \(outcome.errorOutput)")
        }
        let quiet = try Run(["-q", "-i", list], in: stage.folder).wait()
        #expect(quiet.end == .exit(0) && quiet.errorOutput.isEmpty, "\(quiet.errorOutput)")
        #expect(try stage.names() == [])
    }
}
