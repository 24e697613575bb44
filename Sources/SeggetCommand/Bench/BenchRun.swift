// Bench: measurements of segget and other programs against one server. The code here runs processes
// and measures their CPU time and memory; it does not know how the measured programs work.

import FoundationEssentials
import Glibc
import SeggetReports
import Segmenter
import Synchronization

/// All measurements of `segget bench`, one after the other, and their report.
struct BenchRun: Sendable {
    /// Stops a run; any thread may use it.
    final class Stop: Sendable {
        /// Whether the run has started, so that its files must be cleaned up.
        let hasBegun = Atomic<Bool>(false)
        /// The signal that requested the stop; 0 for none.
        let signal = Atomic<Int32>(0)
    }

    var plan: BenchPlan
    /// The paths of the other programs.
    var programs: [BenchClient: String]
    var request: BenchPeer.Request
    /// The job of every worker, except its connections and its file.
    var job: BenchWorker.Job
    /// The folder of `--disk`.
    var disk: String?
    var file: RemoteFile
    var output: BenchOutputOptions
    /// Notes from before the first measurement.
    var notes: [String]
    let stop: Stop

    /// The path of this program, regardless of its name.
    private static let own = "/proc/self/exe"

    /// Measures, reports, and ends the process; runs on a separate thread.
    func callAsFunction() -> Never {
        let voice = BenchVoice(output)
        voice.begin(self)
        stop.hasBegun.store(true, ordering: .releasing)
        var folder: String?
        if disk != nil || plan.subjects.contains(where: needsFolder) {
            guard let made = Self.makeFolder(in: disk) else {
                let place = Diagnostic.quote(Self.parent(of: disk))
                voice.fail(
                    .cannotCreate, "cannot_create",
                    "cannot create a folder in \(place): \(Diagnostic.describe(errno: errno))",
                    hint: "give `--disk` a writable folder")
            }
            folder = made
        }
        var measurements: [BenchMeasurement] = []
        for turn in plan.turns {
            let measurement = measure(turn, in: folder)
            if let folder { Self.empty(folder) }
            guard let measurement, stop.signal.load(ordering: .acquiring) == 0 else { break }
            measurements.append(measurement)
            voice.report(measurement, of: plan)
        }
        if let folder, rmdir(folder) != 0 {
            voice.say(.note, "cannot remove the folder \(Diagnostic.quote(folder))")
        }
        let signal = stop.signal.load(ordering: .acquiring)
        guard signal == 0 else {
            voice.fail(
                ExitStatus(signal: signal), "cancelled",
                "the measurement was stopped\(Diagnostic.cause(signal)); no files remain",
                hint: "run the same command again")
        }
        Glibc.exit(voice.finish(measurements, self).rawValue)
    }

    private func needsFolder(_ subject: BenchSubject) -> Bool {
        subject.client != .segget && !BenchPeer.takesNull(subject.client)
    }

    /// Makes one measurement; returns `nil` if it was stopped.
    private func measure(_ turn: BenchPlan.Turn, in folder: String?) -> BenchMeasurement? {
        let launch = launch(turn.subject, in: folder)
        let bounds = BenchProcess.Bounds(seconds: plan.secondsEach, bytes: plan.bytesEach)
        var result = BenchMeasurement(
            turn: turn, samples: [], cpu: 0, peakMemory: 0, wall: 0, end: .complete,
            warmUp: plan.warmUp)
        let outcome: BenchProcess.Outcome
        do throws(BenchProcess.LaunchError) {
            outcome = try BenchProcess.run(
                launch.path, launch.arguments, input: launch.input, bounds: bounds,
                isStopped: { stop.signal.load(ordering: .acquiring) != 0 })
        } catch {
            result.end = .failed(
                kind: "not_run",
                message: "the program cannot be run (\(error.step)): "
                    + Diagnostic.describe(errno: error.code),
                status: .unavailable)
            return result
        }
        result.samples = outcome.samples
        result.cpu = outcome.cpu
        result.peakMemory = outcome.peakMemory
        result.wall = outcome.wall
        let report =
            turn.subject.client == .segget
            ? try? JSONDecoder().decode(BenchWorker.Report.self, from: Data(outcome.output)) : nil
        result.isOneStream = report?.isOneStream ?? false
        switch outcome.end {
        case .stopped: return nil
        case .time: result.end = .time
        case .bytes: result.end = .bytes
        case .itself(status: 0): result.end = .complete
        case .itself(let status): result.end = Self.failure(status, report)
        }
        return result
    }

    private static func failure(
        _ status: Int32, _ report: BenchWorker.Report?
    ) -> BenchMeasurement.End {
        if let report, report.code != 0 {
            return .failed(
                kind: report.kind, message: report.message,
                status: ExitStatus(rawValue: report.code) ?? .unavailable)
        }
        // wait(2), as in `Hooks`. The program's output is not shown, because it may contain the
        // URL.
        let words =
            status & 0x7f != 0
            ? "signal \(status & 0x7f) ended the program"
            : "the program ended with exit code \((status >> 8) & 0xff)"
        return .failed(kind: "exit", message: words, status: .unavailable)
    }

    private func launch(
        _ subject: BenchSubject, in folder: String?
    ) -> (path: String, arguments: [String], input: String) {
        guard subject.client == .segget else {
            let isFile = disk != nil || !BenchPeer.takesNull(subject.client)
            let peer = BenchPeer(subject, request, folder: isFile ? folder : nil)
            let name = subject.client.rawValue
            return (programs[subject.client] ?? name, [name] + peer.arguments, peer.input)
        }
        var job = job
        job.connections = subject.connections.number
        job.path = disk == nil ? nil : folder.map { "\($0)/file" }
        let input = (try? JSONEncoder().encode(job)).map { String(decoding: $0, as: UTF8.self) }
        return (Self.own, ["segget", BenchWorker.name], input ?? "")
    }

    // MARK: The folder

    /// Returns the folder for files: that of `--disk`, otherwise one on a disk.
    private static func parent(of disk: String?) -> String {
        if let disk { return disk }
        return getenv("TMPDIR").map { String(cString: $0) }.flatMap { $0.isEmpty ? nil : $0 }
            ?? "/var/tmp"
    }

    /// Creates a temporary folder; returns `nil` and sets `errno` on failure.
    private static func makeFolder(in disk: String?) -> String? {
        var template = Array("\(parent(of: disk))/segget-bench.XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { return nil }
        let path = template.withUnsafeBufferPointer { $0.baseAddress.map { String(cString: $0) } }
        guard let path, let absolute = realpath(path, nil) else { return nil }
        // aria2c would resolve a relative path against its own folder.
        defer { free(absolute) }
        return String(cString: absolute)
    }

    private static func empty(_ folder: String) {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        for name in names { try? FileManager.default.removeItem(atPath: "\(folder)/\(name)") }
    }
}
