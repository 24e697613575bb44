import Foundation
import TestSupport
import Testing

/// Downloads files in rounds from faulty servers, with full disks and killed processes.
///
/// `SEGGET_SOAK_SECONDS` (60) sets for how many seconds rounds are started. `SEGGET_SOAK_SEED`
/// repeats a random sequence, `SEGGET_SOAK_ROUND` only one round of it.
@Suite(.serialized, .timeLimit(.minutes(60)))
struct SoakTests {
    private static func setting<Value: LosslessStringConvertible>(_ name: String) -> Value? {
        ProcessInfo.processInfo.environment["SEGGET_SOAK_\(name)"].flatMap(Value.init)
    }

    /// Two rounds at a time keep both cores busy, and no round waits long.
    private static let lanes = 2

    @Test func everyFileCompletesCorrectly() async throws {
        let seconds: Double = Self.setting("SECONDS") ?? 60
        let seed: UInt64 = Self.setting("SEED") ?? .random(in: 0...UInt64(UInt32.max))
        let only: Int? = Self.setting("ROUND")
        print("soak: SEGGET_SOAK_SEED=\(seed), rounds are begun for \(seconds) s")
        let deadline = TestSupport.monotonicSeconds() + seconds
        let next = Guarded(0)
        let total = Guarded(SoakReport())
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<(only == nil ? Self.lanes : 1) {
                group.addTask {
                    await withCheckedContinuation { continuation in
                        DispatchQueue.global().async {
                            while TestSupport.monotonicSeconds() < deadline {
                                let number =
                                    only
                                    ?? next.withLock {
                                        $0 += 1; return $0
                                    }
                                let report = Self.round(number, seed: seed)
                                total.withLock { $0.add(report) }
                                if only != nil { break }
                            }
                            continuation.resume()
                        }
                    }
                }
            }
        }
        let report = total.withLock { $0 }
        print("soak: \(report)")
        for failure in report.failures {
            Issue.record(
                """
                \(failure)
                to repeat: SEGGET_SOAK_SEED=\(seed) SEGGET_SOAK_ROUND=N swift test --filter SoakTests
                """)
        }
        #expect(report.files > 0)
    }

    /// One process with many files and faults uses no more resources at the end than in the middle.
    @Test func longRunLeaksNoResources() throws {
        let seconds: Double = Self.setting("SECONDS") ?? 60
        let seed: UInt64 = Self.setting("SEED") ?? .random(in: 0...UInt64(UInt32.max))
        print("soak: the list has SEGGET_SOAK_SEED=\(seed)")
        let files = SoakList(seed: seed, count: seconds > 60 ? Int(seconds * 3) : 80)
        let origin = try files.serve()
        let sandbox = try Sandbox("segget-soak")
        let list = try sandbox.write("list", files.list(origin))
        let arguments = ["-i", list, "-d", sandbox.path, "-j", "3", "-x", "4", "--retries", "2"]
        let process = try Run(
            arguments + ["--stall-timeout", "2", "--quiet"], in: sandbox.path)
        var samples: [(share: Double, memory: Int64, descriptors: Int)] = []
        let hasEnded = eventually(timeout: 60 + 10 * seconds, poll: 0.02) {
            let share = Double(files.asked) / Double(files.count)
            if let memory = residentMemory(process.pid) {
                samples.append((share, memory, openDescriptors(process.pid)))
            }
            return !process.isRunning
        }
        #expect(hasEnded)
        let first = try process.wait()
        let report = Comment(rawValue: "seed \(seed): \(first.errorOutput)")
        #expect([0, 65, 69, 76, 77].contains(first.exitCode), report)
        func peak(_ range: Range<Double>) -> (memory: Int64, descriptors: Int) {
            let some = samples.filter { range.contains($0.share) }
            return (some.map(\.memory).max() ?? 0, some.map(\.descriptors).max() ?? 0)
        }
        let (middle, end) = (peak(0.3..<0.65), peak(0.65..<2))
        print("soak: in the middle \(middle), at the end \(end), \(samples.count) samples")
        #expect(middle.memory > 0 && end.memory > 0)
        #expect(end.memory <= middle.memory + middle.memory / 5 + (4 << 20), report)
        #expect(end.descriptors <= middle.descriptors + 12, report)
        files.behave()
        let second = try Run(arguments + ["--quiet"], in: sandbox.path).wait(timeout: 300)
        #expect(second.exitCode == 0, "\(second.errorOutput)")
        #expect(try sandbox.names() == (files.names + ["list"]).sorted())
        for number in 0..<files.count {
            let path = sandbox.path(files.names[number])
            #expect(try files.content(number).firstDifference(at: path) == nil, report)
        }
    }

    private static func round(_ number: Int, seed: UInt64) -> SoakReport {
        var mixed = SplitMix64(seed: seed &+ UInt64(number) &* 0x9E37_79B9)
        let plan = SoakPlan(seed: mixed.next())
        do {
            let round = try SoakRound(plan)
            try round.run()
            var report = round.report
            report.failures = report.failures.map {
                "round \(number): \($0)\n\(plan)\n\(round.lastErrors)"
            }
            return report
        } catch {
            return SoakReport(failures: ["round \(number): \(error)\n\(plan)"])
        }
    }
}
