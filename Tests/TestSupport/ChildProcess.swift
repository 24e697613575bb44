import CTestSupport
import Foundation
import Glibc

/// A program that a test runs, with its output captured and its resources measured.
///
/// Its standard input is empty, and it inherits no descriptor and no blocked or ignored signal.
/// It is killed when its last reference is released.
public final class ChildProcess: Sendable {
    /// How a program ended.
    public enum End: Sendable, Hashable {
        /// It exited with this code.
        case exit(Int32)
        /// This signal ended it.
        case signal(Int32)
    }

    /// The result of a program.
    public struct Outcome: Sendable {
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
        /// The program and its arguments.
        public let command: [String]
        /// The timeout, in seconds.
        public let seconds: Double
        /// The result until then.
        public let outcome: Outcome

        /// The command, the timeout and the output.
        public var description: String {
            "\(command.joined(separator: " ")) was killed after \(seconds) s;"
                + " standard output: \(outcome.output) standard error: \(outcome.errorOutput)"
        }
    }

    /// The process id; another process may have it after the end.
    public let pid: Int32
    private let command: [String]
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
        let output = try Pipe(), errors = try Pipe()
        let started = monotonicSeconds()
        pid = try Self.spawn(
            command, in: folder, environment: environment, output: output.writeEnd,
            errors: errors.writeEnd)
        close(output.writeEnd)
        close(errors.writeEnd)
        collector = Collector(
            pid: pid, started: started, output: output.readEnd, errors: errors.readEnd)
        collector.start()
    }

    deinit { signal(SIGKILL) }

    /// Runs a program, and waits until it ends.
    ///
    ///   - executable: the path; `PATH` is not searched.
    ///   - arguments: the arguments after the program's name.
    ///   - arguments: what follows the program's name.
    ///   - folder: its working folder.
    ///   - environment: added to that of the tests.
    ///   - timeout: seconds until it is killed.
    /// - Returns: the result of the program.
    /// - Throws: ``SystemCallError``, ``TimedOut``.
    public static func run(
        _ executable: String, _ arguments: [String] = [], in folder: String = "/",
        environment: [String: String] = [:], timeout: Double = 120
    ) throws -> Outcome {
        try ChildProcess(executable, arguments, in: folder, environment: environment)
            .wait(timeout: timeout)
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
        throw TimedOut(command: command, seconds: timeout, outcome: outcome)
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
