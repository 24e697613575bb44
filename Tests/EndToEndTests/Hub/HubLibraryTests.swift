import Foundation
import TestSupport
import Testing

/// segget and `huggingface_hub` on one folder (`hf download --local-dir`), and on one cache.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct HubLibraryTests {
    /// Runs `hf download org/model --local-dir m`.
    private func download(_ stage: HubStage) throws -> Run.Outcome {
        try hf(["download", "org/model", "--local-dir", "m"], stage)
    }

    /// Runs `hf`.
    private func hf(
        _ arguments: [String], _ stage: HubStage, variables: [String: String] = [:]
    ) throws -> Run.Outcome {
        var environment = stage.environment.merging(variables) { $1 }
        for name in ["TELEMETRY", "UPDATE_CHECK", "PROGRESS_BARS", "XET"] {
            environment["HF_HUB_DISABLE_\(name)"] = "1"
        }
        return try Run(
            RealServer.Kind.program("hf"), arguments, in: stage.sandbox.path,
            environment: environment
        ).wait()
    }

    /// `hf` asks for no byte of what segget has downloaded.
    @Test func hfRequestsNoByteAfterSegget() throws {
        let stage = try HubStage(HubStage.model)
        let outcome = try stage.run("get", "hf://org/model", "-d", "m", "-q")
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        let (count, large) = (stage.hub.requests.count, stage.large.requests.count)
        let library = try download(stage)
        #expect(library.end == .exit(0), "\(library.output)\(library.errorOutput)")
        let later = stage.hub.requests.dropFirst(count)
        #expect(!later.isEmpty)
        #expect(!later.contains { $0.path.contains("/tree/") })
        #expect(!later.contains { $0.method == "GET" && $0.path.contains("/resolve/") })
        #expect(!stage.large.requests.dropFirst(large).contains { $0.method == "GET" })
        for file in stage.files { #expect(try stage.isRight(file.path)) }
    }

    /// segget reads what `hf` has downloaded, and requests nothing of it.
    @Test func seggetRequestsNoByteAfterHF() throws {
        let stage = try HubStage(HubStage.model)
        let library = try download(stage)
        #expect(library.end == .exit(0), "\(library.output)\(library.errorOutput)")
        let count = stage.requestsForBytes
        #expect(count > 0)
        let outcome = try stage.run("get", "hf://org/model", "-d", "m", "-q")
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        #expect(stage.requestsForBytes == count)
        for file in stage.files { #expect(try stage.isRight(file.path)) }
    }

    // MARK: The cache

    /// `hf` finds all in the cache that segget has filled, also without a network, and agrees.
    @Test func hfUsesCacheOfSegget() throws {
        let stage = try HubStage(HubStage.model)
        let outcome = try stage.run("get", "hf://org/model", "-q", "--print-path")
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        let (count, large) = (stage.hub.requests.count, stage.large.requests.count)
        let library = try hf(["download", "org/model"], stage)
        #expect(library.end == .exit(0), "\(library.output)\(library.errorOutput)")
        #expect(library.output.contains(outcome.output.dropLast()))
        let later = stage.hub.requests.dropFirst(count)
        #expect(!later.isEmpty)
        #expect(!later.contains { $0.path.contains("/resolve/") && $0.method == "GET" })
        let verified = try hf(["cache", "verify", "org/model"], stage)
        #expect(verified.end == .exit(0), "\(verified.output)\(verified.errorOutput)")
        let before = stage.hub.requests.count
        let offline = try hf(
            ["download", "org/model"], stage, variables: ["HF_HUB_OFFLINE": "1"])
        #expect(offline.end == .exit(0), "\(offline.output)\(offline.errorOutput)")
        #expect(offline.output.contains(outcome.output.dropLast()))
        #expect(stage.hub.requests.count == before)
        #expect(stage.large.requests.count == large)
    }

    /// segget reads what `hf` has put into the cache, and requests nothing of it.
    @Test func seggetUsesCacheOfHF() throws {
        let stage = try HubStage(HubStage.model)
        let library = try hf(["download", "org/model"], stage)
        #expect(library.end == .exit(0), "\(library.output)\(library.errorOutput)")
        let count = stage.requestsForBytes
        #expect(count > 0)
        let outcome = try stage.run("get", "hf://org/model", "-q", "--print-path")
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        #expect(library.output.contains(outcome.output.dropLast()))
        #expect(stage.requestsForBytes == count)
    }
}
