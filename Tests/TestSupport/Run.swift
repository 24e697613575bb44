import CTestSupport
import Dispatch
import Foundation
import Glibc

/// A run of a program, segget by default, with its output captured and its resources measured.
///
/// Its standard input is empty, and it inherits no descriptor and no blocked or ignored signal.
/// It is killed when its last reference is released.
public final class Run: Sendable {
    /// How a program ended.
    public enum End: Sendable, Hashable {
        /// It exited with this code.
        case exit(Int32)
        /// This signal ended it.
        case signal(Int32)
    }

    /// The result of a program.
    public struct Outcome: Sendable {
        /// The program and its arguments.
        public let command: [String]
        /// Its working folder.
        public let folder: String
        /// How it ended.
        public let end: End
        /// All of its standard output.
        public let standardOutput: [UInt8]
        /// All of its standard error.
        public let standardError: [UInt8]
        /// Time from start to end, in seconds.
        public let wallSeconds: Double
        /// Processor time in user mode, in seconds.
        public let userSeconds: Double
        /// Processor time in the kernel, in seconds.
        public let systemSeconds: Double
        /// Peak resident memory, in bytes.
        public let peakMemory: Int64

        /// The exit code, `nil` when a signal ended it.
        public var exitCode: Int32? {
            if case .exit(let code) = end { code } else { nil }
        }
        /// Standard output as text.
        public var output: String { String(decoding: standardOutput, as: UTF8.self) }
        /// Standard error as text.
        public var errorOutput: String { String(decoding: standardError, as: UTF8.self) }
    }

    /// The program did not end in time, and was killed.
    public struct TimedOut: Error, CustomStringConvertible {
        /// The timeout, in seconds.
        public let seconds: Double
        /// The result until then.
        public let outcome: Outcome

        /// The command, the timeout and the output.
        public var description: String {
            "\(outcome.command.joined(separator: " ")) was killed after \(seconds) s;"
                + " standard output: \(outcome.output) standard error: \(outcome.errorOutput)"
        }
    }

    /// The process id; another process may have it after the end.
    public let pid: Int32
    /// The program and its arguments.
    public let command: [String]
    /// Its working folder.
    public let folder: String
    private let collector: Collector

    /// Starts a program.
    ///
    /// - Parameters:
    ///   - executable: the path; `PATH` is not searched.
    ///   - arguments: the arguments after the program's name.
    ///   - folder: its working folder.
    ///   - environment: added to that of the tests, without the variables of proxies.
    /// - Throws: ``SystemCallError``.
    public init(
        _ executable: String, _ arguments: [String] = [], in folder: String = "/",
        environment: [String: String] = [:]
    ) throws {
        command = [executable] + arguments
        self.folder = folder
        let output = try Pipe(), errors = try Pipe()
        let started = monotonicSeconds()
        pid = try Self.spawn(
            command, in: folder, environment: environment, output: output.writeEnd,
            errors: errors.writeEnd)
        close(output.writeEnd)
        close(errors.writeEnd)
        collector = Collector(
            command: command, folder: folder, pid: pid, started: started, output: output.readEnd,
            errors: errors.readEnd)
        collector.start()
    }

    deinit { signal(SIGKILL) }

    /// Starts segget with 8 connections and without a configuration file.
    ///
    /// `environment` and the arguments may override both.
    ///
    /// - Parameters:
    ///   - arguments: its arguments.
    ///   - folder: its working folder.
    ///   - environment: added to that of the tests.
    ///   - network: a pair of namespaces; it runs in the client's.
    ///   - program: the path of a binary other than ``Segget/binary()``.
    /// - Throws: ``Segget/NotFound``, ``SystemCallError``.
    public convenience init(
        _ arguments: [String], in folder: String, environment: [String: String] = [:],
        network: NetworkPair? = nil, program: String? = nil
    ) throws {
        let command = try (network?.entry ?? []) + [program ?? Segget.binary()] + arguments
        try self.init(
            command[0], Array(command[1...]), in: folder,
            environment: Segget.environment.merging(environment) { $1 })
    }

    /// Whether it is still running.
    public var isRunning: Bool { collector.outcome == nil }

    /// The standard output until now.
    public var output: String { collector.text(\.output) }

    /// The complete lines of the standard output until now.
    public var outputLines: [String] {
        // The text after the last line feed is an incomplete line.
        Array(output.components(separatedBy: "\n").dropLast())
    }

    /// The standard error until now.
    public var errorOutput: String { collector.text(\.errors) }

    /// Sends a signal, unless it has ended.
    public func signal(_ signal: Int32) { collector.send(signal) }

    /// Waits until a condition holds or it ends.
    ///
    /// - Parameters:
    ///   - timeout: longest time to wait, in seconds.
    ///   - interval: time between two checks, in seconds.
    ///   - condition: the condition to check.
    /// - Returns: whether the condition holds and it is still running; a test must check it.
    /// - Throws: any error of `condition`.
    public func waits(
        timeout: Double = 120, poll interval: Double = 0.005, until condition: () throws -> Bool
    ) rethrows -> Bool {
        try eventually(timeout: timeout, poll: interval) { try !isRunning || condition() }
            && isRunning
    }

    /// Waits until it ends.
    ///
    /// - Parameter timeout: seconds until it is killed.
    /// - Returns: the result of the program.
    /// - Throws: ``TimedOut``.
    public func wait(timeout: Double = 120) throws -> Outcome {
        if let outcome = collector.wait(timeout: timeout) { return outcome }
        signal(SIGKILL)
        guard let outcome = collector.wait(timeout: 120) else {
            preconditionFailure("\(command) does not die")
        }
        throw TimedOut(seconds: timeout, outcome: outcome)
    }

    /// Waits until it ends, at most 200 s, without blocking a thread of the task pool.
    ///
    /// That pool has only one thread for each core.
    ///
    /// - Returns: the result of the program.
    /// - Throws: ``TimedOut``.
    public func ended() async throws -> Outcome {
        try await withCheckedThrowingContinuation { continuation in
            DispatchQueue.global().async {
                continuation.resume(with: Result { try self.wait(timeout: 200) })
            }
        }
    }

    private struct Pipe {
        let readEnd: Int32
        let writeEnd: Int32

        init() throws {
            var ends: [Int32] = [0, 0]
            try checked(pipe(&ends), "pipe")
            (readEnd, writeEnd) = (ends[0], ends[1])
        }
    }
}
