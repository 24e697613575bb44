// Commands: the commands about the queue. They know what is typed and printed; they never know how a queue is
// stored, nor how a file is fetched.

import ArgumentParser
import Assembler
import Glibc
import SeggetCommand
import SeggetQueue
import SeggetReports
import SeggetService
import Segmenter

/// Which queue a command is about.
struct QueueOptions: ParsableArguments {
    @OptionGroup var file: QueueFileOption
    private var queue: String? { file.queue }

    func validate() throws {
        _ = try path
    }

    /// Path of the queue's file, absolute.
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
            // By the XDG Base Directory Specification a relative path there is to be ignored.
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

    /// Path of the socket by which systemd starts a worker of the default queue (`segget.socket`); `nil` for another
    /// queue.
    private var service: String? {
        get throws {
            guard try queue == nil || path == Self.defaultPath else { return nil }
            let runtime = EnvironmentText.value("XDG_RUNTIME_DIR")
            return (runtime ?? "/run/user/\(geteuid())") + "/segget/service.sock"
        }
    }

    /// Runs something on the queue, by whoever works it or else by its records, and ends the process.
    ///
    /// - Parameters:
    ///   - startsService: Whether a service of the user's may be started, where nobody works the queue.
    ///   - leave: What a signal that ends the process does before; `nil` for nothing.
    ///   - body: What is done; it gives the code that the process ends with.
    /// - Throws: `ValidationError`, when there is no path for it.
    func run(
        startsService: Bool = true, atSignal leave: (() -> Void)? = nil,
        _ body: @escaping @Sendable (QueueAccess) async throws -> ExitStatus
    ) throws -> Never {
        StandardStreams.prepare()
        let (path, service) = (try path, startsService ? try service : nil)
        // Before there is another thread, which a signal could end.
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

/// Says things to people, on standard error.
enum Voice {
    /// Says a line.
    static func say(_ label: Message.Label, _ text: String) {
        let line = Message(label, text).line(colour: Terminal.standardError.colour)
        StandardStreams.write(line + "\n", to: STDERR_FILENO)
    }

    /// Says why a queue cannot be used, and ends the process.
    static func refuse(_ error: QueueError) -> Never {
        say(.error, error.message)
        say(.hint, error.hint)
        Glibc.exit(error.status.rawValue)
    }
}

extension QueueError {
    /// What segget ends with.
    var status: ExitStatus {
        switch code {
        case .noQueue, .noTask, .invalid: .usage
        case .busy, .hasWorker, .worker: .unavailable
        default: .disk
        }
    }
}

/// Paths as they were typed, and as they are stored.
enum Paths {
    /// A path from the root, without `.`, `..` and double slashes; as far as it exists, without symbolic links.
    static func absolute(_ path: String) -> String {
        let path = fromRoot(path)
        // What is there is asked of the system: a `..` behind a link leads elsewhere.
        var (head, tail): (String, [Substring]) = (path, [])
        while !head.isEmpty, head != "/" {
            if let real = realpath(head, nil) {
                defer { free(real) }
                let real = text(real, "the folder that \(Diagnostic.quote(head)) leads to")
                return tail.isEmpty ? real : join(real, tail)
            }
            let parts = head.split(separator: "/")
            tail.insert(parts.last ?? "", at: 0)
            head = "/" + parts.dropLast().joined(separator: "/")
        }
        return join("/", tail)
    }

    /// A path from the root, else as it was typed.
    static func fromRoot(_ path: String) -> String {
        guard !path.hasPrefix("/"), let folder = getcwd(nil, 0) else { return path }
        defer { free(folder) }
        return FileTarget(folder: text(folder, "the current folder"), name: path).path
    }

    /// A path as text.
    ///
    /// Ends the process where it is not UTF-8: Swift would make another path of it, and the queue a second
    /// folder.
    private static func text(_ path: UnsafePointer<CChar>, _ what: String) -> String {
        guard let text = String(validatingCString: path) else {
            Invocation.refuse(
                "the path of \(what) is not UTF-8",
                hint:
                    "the queue supports UTF-8 paths only: use another folder, or rename it; `segget get` "
                    + "can download to such a current folder")
        }
        return text
    }

    private static func join(_ head: String, _ tail: [Substring]) -> String {
        var parts = head.split(separator: "/")
        for part in tail {
            switch part {
            case "", ".": break
            case "..": _ = parts.popLast()
            default: parts.append(part)
            }
        }
        return "/" + parts.joined(separator: "/")
    }
}
