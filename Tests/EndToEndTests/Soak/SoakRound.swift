import Assembler
import Foundation
import Glibc
import TestSupport

/// One file, downloaded in run after run until it is complete.
final class SoakRound {
    private let plan: SoakPlan
    private let server: SoakOrigin
    private let disk: Tmpfs?
    private let sandbox: Sandbox?
    private let folder: String
    private(set) var report = SoakReport()
    private(set) var lastErrors = ""
    /// Whether a run without faults rejected the bytes of an earlier run.
    private var wasRejected = false

    /// The maximum duration of a run in seconds, for retries, stalls and a slow machine.
    private static let patience = 180.0
    /// The maximum memory of a run in bytes, for a debug build and its libraries.
    private static let mostMemory: Int64 = 64 << 20
    /// The maximum number of open descriptors of a run.
    private static let mostDescriptors = 48
    /// The exit codes of network and disk failures, as in docs/guide/exit-codes.md.
    private static let failures: Set<Int32> = [65, 69, 74, 76, 77]

    init(_ plan: SoakPlan) throws {
        self.plan = plan
        server = try SoakOrigin(plan)
        disk = try plan.disk.map { try Tmpfs(size: $0) }
        sandbox = disk == nil ? try Sandbox("segget-soak") : nil
        folder = disk?.path ?? sandbox?.path ?? ""
    }

    private var path: String { "\(folder)/file" }

    /// Runs segget until the file is complete.
    func run() throws {
        var isDone = false
        for number in 0...plan.stops.count where !isDone {
            if number == min(1, plan.stops.count) { try disk?.resize(to: 256 << 20) }
            isDone = try once(number)
        }
        // A run may reject bytes of an earlier run; one more run downloads them again.
        if wasRejected { isDone = try once(plan.stops.count) }
        if !isDone { report.failures.append("the server behaves, and the file did not come") }
        report.files += isDone ? 1 : 0
        report.faults = server.faults
    }

    /// Runs segget once.
    ///
    /// - Returns: Whether the file is complete.
    private func once(_ number: Int) throws -> Bool {
        let isHonest = number == plan.stops.count
        // The run downloads again what was rejected, and what a change has made invalid.
        let before = manifest()
        server.begin(run: number)
        let served = server.origin.bytesServed
        let process = try Run(
            plan.arguments(sha256: server.versions[server.hasChanged ? 1 : 0].sha256Hex)
                + [server.origin.url("/file")], in: folder)
        report.runs += 1
        let signal = isHonest ? nil : watch(process, plan.stops[number], since: served)
        let outcome: Run.Outcome
        do {
            outcome = try process.wait(timeout: Self.patience)
        } catch let timeout as Run.TimedOut {
            lastErrors = timeout.outcome.errorOutput
            report.failures.append("run \(number) did not end in \(Self.patience) s")
            return true
        }
        lastErrors = "run \(number): \(outcome.end)\n\(outcome.errorOutput.suffix(6000))"
        report.peakMemory = max(report.peakMemory, outcome.peakMemory)
        // The peak of a run that ended immediately may be that of the test process before `exec`.
        if outcome.peakMemory > Self.mostMemory, outcome.wallSeconds > 1 {
            report.failures.append("run \(number) took \(outcome.peakMemory >> 20) MiB")
        }
        server.origin.dropConnections()
        if report.peakDescriptors > Self.mostDescriptors {
            report.failures.append("run \(number): \(report.peakDescriptors) descriptors")
        }
        try check(outcome, signal, number)
        // The process was killed after its last step and before its exit.
        let left = plan.keepsManifest && manifest()?.finished != nil ? ["file.segget"] : []
        if signal == .kill, outcome.exitCode == nil, try names() == ["file"] + left { return true }
        guard outcome.exitCode == 0 else {
            if isHonest, outcome.exitCode == 65, plan.faults.contains(.corrupt), !wasRejected {
                wasRejected = true
                return false
            }
            if isHonest { report.failures.append("the server behaves, and segget fails") }
            return isHonest
        }
        let fetched = server.origin.bytesServed - served
        // If a faulty response started a download of another version, segget rightly starts over.
        if isHonest, plan.keepsParts, let before, before.rejected == nil,
            before.header.size == plan.size, before.header.etag != "\"other\""
        {
            let missing = plan.size - before.extents.covered.count
            // Ranges that were stolen while they were in flight, and the first requests.
            let excess = fetched - missing - (4 << 20) - Int64(plan.connections) * (256 << 10)
            if excess > 0 {
                report.failures.append("\(fetched) bytes fetched, where \(missing) were missing")
            }
        }
        report.bytes += plan.size
        return true
    }

    /// Waits until the signal is due, and sends it.
    private func watch(
        _ process: Run, _ stop: SoakPlan.Stop, since served: Int64
    ) -> SoakPlan.Stop.Signal? {
        let isDue = eventually(timeout: Self.patience, poll: 0.002) {
            look(at: process)
            return !process.isRunning || server.origin.bytesServed - served >= stop.served
        }
        guard isDue, process.isRunning else { return nil }
        switch stop.signal {
        case .kill: process.signal(SIGKILL)
        case .terminate: process.signal(SIGTERM)
        case .interrupt: process.signal(SIGINT)
        case .pause:
            process.signal(SIGSTOP)
            process.signal(SIGCONT)
        case .none: return nil
        }
        report.signals += 1
        return stop.signal
    }

    private func look(at process: Run) {
        report.peakDescriptors = max(report.peakDescriptors, openDescriptors(process.pid))
    }

    /// Checks the conditions that hold after every run.
    private func check(
        _ outcome: Run.Outcome, _ signal: SoakPlan.Stop.Signal?, _ number: Int
    ) throws {
        let names = try names()
        func fail(_ text: String) {
            report.failures.append("run \(number): \(text); left: \(names)")
        }
        switch outcome.end {
        case .signal(let which):
            if which != SIGKILL || signal != .kill { fail("signal \(which) ended it") }
        case .exit(let code):
            report.codes[code, default: 0] += 1
            let stopped: Int32? = signal == .terminate ? 143 : signal == .interrupt ? 130 : nil
            if code != 0, code != stopped, !Self.failures.contains(code) {
                fail("exit code \(code)")
            }
            if outcome.errorOutput.contains("Fatal error") { fail("it crashed") }
        }
        let isPublished = names.contains("file")
        if outcome.exitCode == 0,
            names != (plan.keepsManifest ? ["file", "file.segget"] : ["file"])
        {
            fail("not just the file is there")
        }
        if isPublished {
            let isRight = try server.possible.contains { try $0.firstDifference(at: path) == nil }
            if !isRight { fail("THE FILE IS WRONG") }
        }
        if case .exit(let code) = outcome.end, code != 0, isPublished {
            fail("a file, and \(code)")
        }
        if names.contains("file.segget"), manifest() == nil { fail("the manifest cannot be read") }
    }

    private func names() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
    }

    private func manifest() -> Manifest? { Manifest(of: path) }
}

/// The results of the rounds.
struct SoakReport: Sendable, CustomStringConvertible {
    var files = 0
    var runs = 0
    var signals = 0
    var bytes: Int64 = 0
    var faults: [SoakFault: Int] = [:]
    var codes: [Int32: Int] = [:]
    var peakMemory: Int64 = 0
    var peakDescriptors = 0
    var failures: [String] = []

    mutating func add(_ other: SoakReport) {
        files += other.files
        runs += other.runs
        signals += other.signals
        bytes += other.bytes
        faults.merge(other.faults) { $0 + $1 }
        codes.merge(other.codes) { $0 + $1 }
        peakMemory = max(peakMemory, other.peakMemory)
        peakDescriptors = max(peakDescriptors, other.peakDescriptors)
        failures += other.failures
    }

    var description: String {
        let kinds = faults.sorted { $0.key.rawValue < $1.key.rawValue }
            .map { "\($0.key.rawValue) \($0.value)" }.joined(separator: ", ")
        let ends = codes.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }
        return """
            \(files) files, \(bytes >> 20) MiB, \(runs) runs, \(signals) signals, \
            \(failures.count) failures; exit codes \(ends.joined(separator: ", ")); \
            at most \(peakMemory >> 20) MiB and \(peakDescriptors) descriptors; faults: \(kinds)
            """
    }
}
