import Foundation
import Glibc

/// The thread that reads the output of a child process, samples its memory, and reaps it.
final class Collector: Sendable {
    /// The results until now.
    struct State {
        var output: [UInt8] = []
        var errors: [UInt8] = []
        var highWater: Int64 = 0
        var outcome: Run.Outcome?
    }

    private let command: [String]
    private let folder: String
    private let pid: pid_t
    private let started: Double
    private let output: Int32
    private let errors: Int32
    private let ownPeak: Int64
    private let state = Guarded(State())

    /// Milliseconds between two samples of the child's memory.
    private static let interval: Int32 = 20

    init(
        command: [String], folder: String, pid: pid_t, started: Double, output: Int32,
        errors: Int32
    ) {
        (self.command, self.folder) = (command, folder)
        self.pid = pid
        self.started = started
        self.output = output
        self.errors = errors
        ownPeak = Self.highWater(of: getpid()) ?? .max
    }

    var outcome: Run.Outcome? { state.withLock { $0.outcome } }

    func text(_ stream: KeyPath<State, [UInt8]>) -> String {
        String(decoding: state.withLock { $0[keyPath: stream] }, as: UTF8.self)
    }

    func wait(timeout: Double) -> Run.Outcome? {
        _ = state.wait(timeout: timeout) { $0.outcome != nil }
        return outcome
    }

    /// Sends a signal, unless the process was reaped: its id may then be another's.
    func send(_ signal: Int32) {
        state.withLock { state in
            if state.outcome == nil { kill(pid, signal) }
        }
    }

    func start() {
        let thread = Thread { self.collect() }
        thread.stackSize = 1 << 20
        thread.start()
    }

    private typealias Stream = (
        descriptor: Int32, buffer: WritableKeyPath<State, [UInt8]>
    )

    private func collect() {
        var streams: [Stream] = [(output, \.output), (errors, \.errors)]
        while !hasEnded {
            sampleMemory()
            // Once both streams have ended, the process ends soon.
            readAvailable(&streams, wait: streams.isEmpty ? 1 : Self.interval)
        }
        // A grandchild may keep a stream open, so only available output is read.
        while readAvailable(&streams, wait: 0) {}
        reap()
        close(output)
        close(errors)
    }

    /// Whether the process has ended; it is not reaped, so its id stays reserved.
    private var hasEnded: Bool {
        var info = siginfo_t()
        let result = waitid(P_PID, id_t(pid), &info, WEXITED | WNOHANG | WNOWAIT)
        return result != 0 || info.si_signo == SIGCHLD
    }

    /// Reads output, waiting up to `milliseconds`; returns whether there was any.
    @discardableResult
    private func readAvailable(_ streams: inout [Stream], wait milliseconds: Int32) -> Bool {
        var polled = streams.map { pollfd(fd: $0.descriptor, events: Int16(POLLIN), revents: 0) }
        guard poll(&polled, nfds_t(polled.count), milliseconds) > 0 else { return false }
        for index in polled.indices.reversed() where polled[index].revents != 0 {
            let stream = streams[index]
            let bytes = [UInt8](unsafeUninitializedCapacity: 64 << 10) { buffer, count in
                count = max(0, Glibc.read(stream.descriptor, buffer.baseAddress, buffer.count))
            }
            if bytes.isEmpty { streams.remove(at: index) }
            state.withLock { $0[keyPath: stream.buffer] += bytes }
        }
        return true
    }

    private func reap() {
        state.withLock { state in
            var status: Int32 = 0
            var usage = rusage()
            _ = wait4(pid, &status, 0, &usage)
            let signal = status & 0x7F
            state.outcome = Run.Outcome(
                command: command, folder: folder,
                end: signal == 0 ? .exit((status >> 8) & 0xFF) : .signal(signal),
                standardOutput: state.output, standardError: state.errors,
                wallSeconds: monotonicSeconds() - started,
                userSeconds: Self.seconds(usage.ru_utime),
                systemSeconds: Self.seconds(usage.ru_stime),
                peakMemory: peak(rusage: Int64(usage.ru_maxrss) << 10, sampled: state.highWater))
        }
    }

    /// Returns the peak memory.
    ///
    /// The kernel's value includes the memory of the tests at the time of the spawn. It is the
    /// child's only if it is larger than that; otherwise the samples are used.
    private func peak(rusage: Int64, sampled: Int64) -> Int64 {
        rusage > ownPeak || sampled == 0 ? rusage : sampled
    }

    private func sampleMemory() {
        guard let highWater = Self.highWater(of: pid) else { return }
        state.withLock { $0.highWater = max($0.highWater, highWater) }
    }

    /// Peak resident memory of a running process in bytes.
    private static func highWater(of pid: pid_t) -> Int64? {
        guard let status = try? String(contentsOfFile: "/proc/\(pid)/status", encoding: .utf8),
            let line = status.split(separator: "\n").first(where: { $0.hasPrefix("VmHWM:") })
        else { return nil }
        return line.split(whereSeparator: { !$0.isNumber }).first.flatMap { Int64($0) }
            .map { $0 << 10 }
    }

    private static func seconds(_ time: timeval) -> Double {
        Double(time.tv_sec) + Double(time.tv_usec) / 1_000_000
    }
}
