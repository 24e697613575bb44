// Commands: the commands of the queue, which parse and print. This folder does not know how a queue
// is stored, or how a file is downloaded.

import ArgumentParser
import Assembler
import Glibc
import SeggetCommand
import SeggetQueue
import SeggetReports
import SeggetService
import Segmenter

/// The options that select a queue.
struct QueueOptions: ParsableArguments {
    @OptionGroup var file: QueueFileOption
    private var queue: String? { file.queue }

    func validate() throws {
        _ = try path
    }

    /// The path of the queue's file, absolute.
    var path: String {
        get throws {
            if let queue { return Paths.absolute(queue) }
            return try Self.defaultPath
        }
    }

    private static var defaultPath: String {
        get throws {
            func variable(_ name: String) throws -> String? {
                guard !EnvironmentText.isUnreadable(name) else {
                    throw ValidationError(
                        "the environment variable `\(name)` is not UTF-8: name the queue with `--queue`"
                    )
                }
                return EnvironmentText.value(name).flatMap { $0.hasPrefix("/") ? $0 : nil }
            }
            // The XDG Base Directory Specification requires that relative paths are ignored.
            if let folder = try variable("XDG_DATA_HOME") {
                return folder + "/segget/queue.sqlite"
            }
            guard let home = try variable("HOME") else {
                throw ValidationError(
                    "neither `HOME` nor `XDG_DATA_HOME` is set: name the queue with `--queue`")
            }
            return home + "/.local/share/segget/queue.sqlite"
        }
    }

    /// The path of the socket through which systemd starts a worker of the default queue.
    ///
    /// The unit is `segget.socket`. `nil` for any other queue.
    private var service: String? {
        get throws {
            guard try queue == nil || path == Self.defaultPath else { return nil }
            let runtime = EnvironmentText.value("XDG_RUNTIME_DIR")
            return (runtime ?? "/run/user/\(geteuid())") + "/segget/service.sock"
        }
    }

    /// Connects to the queue's worker or opens its records, runs `body`, and ends the process.
    ///
    /// - Parameters:
    ///   - startsService: Whether to start the user's service if the queue has no worker.
    ///   - leave: Called before a signal ends the process; `nil` for nothing.
    ///   - body: The command's work; returns the exit code.
    /// - Throws: `ValidationError`, if the path of the queue is unknown.
    func run(
        startsService: Bool = true, atSignal leave: (() -> Void)? = nil,
        _ body: @escaping @Sendable (QueueAccess) async throws -> ExitStatus
    ) throws -> Never {
        StandardStreams.prepare()
        let (path, service) = (try path, startsService ? try service : nil)
        // Signals are blocked before other threads start, because threads inherit the mask.
        let interrupts = leave.map { _ in Interrupts() }
        Task {
            do {
                let access = try await QueueAccess.open(path, service: service) {
                    Voice.say(.note, $0)
                }
                Glibc.exit(try await body(access).rawValue)
            } catch let error as QueueError {
                Voice.refuse(error)
            } catch {
                Voice.say(.error, "\(error)")
                Glibc.exit(ExitStatus.disk.rawValue)
            }
        }
        if let leave {
            interrupts?.wait {
                leave()
                return false
            }
        }
        while true { pause() }
    }
}

/// Prints messages on standard error.
enum Voice {
    /// Prints a line.
    static func say(_ label: Message.Label, _ text: String) {
        let line = Message(label, text).line(colour: Terminal.standardError.colour)
        StandardStreams.write(line + "\n", to: STDERR_FILENO)
    }

    /// Prints the reason why a queue cannot be used, and ends the process.
    static func refuse(_ error: QueueError) -> Never {
        say(.error, error.message)
        say(.hint, error.hint)
        Glibc.exit(error.status.rawValue)
    }
}

extension QueueError {
    /// The exit code for the error.
    var status: ExitStatus {
        switch code {
        case .noQueue, .noTask, .invalid: .usage
        case .busy, .hasWorker, .worker: .unavailable
        default: .disk
        }
    }
}
