import Assembler
import CLinux
import Glibc

/// A program that runs for a limited time, and the resources that it used.
///
/// Every program is measured in the same way. The bytes that it wrote are `wchar` of `/proc/PID/io`
/// (proc(5)), the memory is `VmHWM` of `/proc/PID/status`, and wait4(2) returns the processor time.
struct BenchProcess {
    /// The limits after which the program is terminated (SIGTERM).
    struct Bounds: Sendable {
        /// The seconds since the start.
        var seconds: Double
        /// The bytes that the program has written.
        var bytes: Int64
    }

    /// The reason for the end of the program.
    enum End: Equatable {
        /// The program ended itself, with this status of waitpid(2).
        case itself(status: Int32)
        case time
        case bytes
        /// A stop was requested.
        case stopped
    }

    /// The outcome of a run.
    struct Outcome {
        var end: End
        var samples: [BenchMeasurement.Sample] = []
        var cpu = 0.0
        var peakMemory: Int64 = 0
        var wall = 0.0
        /// The output of the program.
        var output: [UInt8] = []
    }

    /// The reason why a program could not be measured: the step, and its `errno`.
    struct LaunchError: Error {
        var step: String
        var code: Int32
    }

    /// The milliseconds between samples: until the first byte, afterwards, and near the end.
    private static let looks = (first: 2.0, later: 20.0, last: 1.0)
    /// The milliseconds between SIGTERM and SIGKILL.
    private static let patience = 2000.0

    private let pid: pid_t
    private let handle: Int32
    private let begun = monotonicSeconds()

    /// Runs a program until it ends or reaches its limits.
    ///
    /// Blocks the calling thread. The program is killed when that thread ends.
    ///
    /// - Parameters:
    ///   - path: The path of the program; `PATH` is not searched.
    ///   - arguments: The arguments, with the program's name first.
    ///   - input: The text for standard input.
    ///   - bounds: The limits.
    ///   - isStopped: Returns whether to kill the program now.
    /// - Returns: The outcome.
    /// - Throws: `LaunchError`.
    static func run(
        _ path: String, _ arguments: [String], input: String, bounds: Bounds,
        isStopped: () -> Bool
    ) throws(LaunchError) -> Outcome {
        let inputFile = segget_memory_file("segget-bench")
        let outputFile = segget_memory_file("segget-bench")
        defer {
            close(inputFile)
            close(outputFile)
        }
        guard inputFile >= 0, outputFile >= 0,
            StandardStreams.write(input, to: inputFile), lseek(inputFile, 0, SEEK_SET) == 0
        else { throw LaunchError(step: "its input", code: errno) }
        var pid: pid_t = 0
        let code = Hooks.withCStrings(arguments) { arguments in
            Hooks.withCStrings(Hooks.environment(with: [:])) {
                segget_spawn_bound(path, arguments, $0, inputFile, outputFile, &pid)
            }
        }
        guard code == 0 else { throw LaunchError(step: "its start", code: code) }
        let handle = segget_open_process(pid)
        guard handle >= 0 else {
            let problem = LaunchError(step: "pidfd_open", code: errno)
            kill(pid, SIGKILL)
            waitpid(pid, nil, 0)
            throw problem
        }
        defer { close(handle) }
        var outcome = BenchProcess(pid: pid, handle: handle).follow(bounds, isStopped)
        lseek(outputFile, 0, SEEK_SET)
        outcome.output = readAll(outputFile, atMost: 64 << 10) ?? []
        return outcome
    }

    private init(pid: pid_t, handle: Int32) {
        self.pid = pid
        self.handle = handle
    }

    private func follow(_ bounds: Bounds, _ isStopped: () -> Bool) -> Outcome {
        var outcome = Outcome(end: .stopped)
        var ended: End?
        while ended == nil {
            let hasEnded = waits(milliseconds: Self.pause(outcome.samples, bounds))
            // The files of an ended process remain readable until it is waited for.
            let time = monotonicSeconds() - begun
            if let bytes = number("wchar:", in: "io") {
                outcome.samples.append(.init(time: time, bytes: bytes))
            }
            if !hasEnded, (outcome.samples.last?.bytes ?? 0) >= BenchMeasurement.beginning {
                let kibibytes = number("VmHWM:", in: "status") ?? 0
                outcome.peakMemory = max(outcome.peakMemory, kibibytes << 10)
            }
            if hasEnded {
                ended = .itself(status: 0)
            } else if isStopped() {
                ended = .stopped
            } else if let last = outcome.samples.last, last.bytes >= bounds.bytes {
                ended = .bytes
            } else if time >= bounds.seconds {
                ended = .time
            }
        }
        switch ended {
        case .stopped: kill(pid, SIGKILL)
        case .time, .bytes:
            kill(pid, SIGTERM)
            var left = Self.patience
            while !waits(milliseconds: 10), left > 0, !isStopped() { left -= 10 }
            kill(pid, SIGKILL)
        case .itself, nil: break
        }
        var status: Int32 = 0
        var usage = rusage()
        while wait4(pid, &status, 0, &usage) < 0, errno == EINTR {}
        outcome.wall = monotonicSeconds() - begun
        outcome.cpu = Self.seconds(usage.ru_utime) + Self.seconds(usage.ru_stime)
        if case .itself? = ended { ended = .itself(status: status) }
        outcome.end = ended ?? .stopped
        return outcome
    }

    /// Returns the milliseconds to the next sample, fewer near the limits to overshoot them less.
    private static func pause(
        _ samples: [BenchMeasurement.Sample], _ bounds: Bounds
    ) -> Double {
        guard let last = samples.last, last.bytes >= BenchMeasurement.beginning else {
            return looks.first
        }
        let toEnd = (bounds.seconds - last.time) * 1000
        let rate = Double(last.bytes) / max(last.time, 0.001) / 1000
        let toLast = Double(bounds.bytes - last.bytes) / max(rate, 1) / 2
        return max(looks.last, min(looks.later, min(toEnd, toLast)))
    }

    /// Waits for the end of the program; returns whether it ended within the time.
    private func waits(milliseconds: Double) -> Bool {
        var wanted = pollfd(fd: handle, events: Int16(POLLIN), revents: 0)
        return poll(&wanted, 1, Int32(milliseconds.rounded(.up))) > 0
    }

    /// Returns the number after a word in a file of `/proc/PID`.
    private func number(_ word: String, in file: String) -> Int64? {
        let descriptor = open("/proc/\(pid)/\(file)", O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        return withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 1) { buffer in
            let count = read(descriptor, buffer.baseAddress, buffer.count - 1)
            guard count > 0, let start = buffer.baseAddress else { return nil }
            buffer[count] = 0
            guard let place = strstr(start.assumingMemoryBound(to: CChar.self), word) else {
                return nil
            }
            return Int64(strtoll(place + strlen(word), nil, 10))
        }
    }

    private static func seconds(_ time: timeval) -> Double {
        Double(time.tv_sec) + Double(time.tv_usec) / 1e6
    }

    /// Reads a descriptor until end of file; `nil` if it cannot be read, or is longer.
    static func readAll(_ descriptor: Int32, atMost longest: Int) -> [UInt8]? {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 16 << 10)
        while bytes.count <= longest {
            let count = read(descriptor, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { return nil }
            guard count > 0 else { return bytes }
            bytes += buffer[..<count]
        }
        return nil
    }
}
