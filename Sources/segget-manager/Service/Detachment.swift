import CLinux
import Glibc
import SeggetCommand
import SeggetReports

/// Runs a service in the background, without a terminal.
///
/// The process starts the program again in a new session. It ends when the new process reports by
/// sd_notify(3) that it is ready.
enum Detachment {
    private static func prefix(_ parent: pid_t) -> String { "@segget-\(parent)-" }

    /// Whether this is the new process.
    static var isDone: Bool {
        getenv("NOTIFY_SOCKET").map { String(cString: $0) }?.hasPrefix(prefix(getppid())) ?? false
    }

    /// Starts the service, waits until it is ready, and ends this process.
    ///
    /// - Parameters:
    ///   - log: The path of the file for the service's output; `nil` for none.
    ///   - isQuiet: Whether to print nothing on success.
    ///   - hint: The hint to print if the service ends and there is no log.
    static func run(
        log: String?, isQuiet: Bool = false,
        hint: String = "to see why, use `--log-file FILE`, or `segget serve` without `--detach`"
    ) -> Never {
        let address = "\(prefix(getpid()))\(UInt64.random(in: 0...UInt64.max))"
        let null = open("/dev/null", O_RDWR | O_CLOEXEC)
        let output =
            log.map { open($0, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0o600) } ?? null
        guard null >= 0, output >= 0, let socket = NotifySocket(address, listens: true) else {
            fail(
                "\(Diagnostic.quote(log ?? "/dev/null")) cannot be opened: "
                    + Diagnostic.describe(errno: errno))
        }
        var environment: [String] = []
        var next = environ
        while let variable = next.pointee {
            let text = String(cString: variable)
            if !text.hasPrefix("NOTIFY_SOCKET=") { environment.append(text) }
            next += 1
        }
        environment.append("NOTIFY_SOCKET=\(address)")
        var pid: pid_t = 0
        let code = Hooks.withCStrings(CommandLine.arguments) { arguments in
            Hooks.withCStrings(environment) {
                segget_spawn_session("/proc/self/exe", arguments, $0, null, output, &pid)
            }
        }
        guard code == 0 else {
            fail("cannot start the service: \(Diagnostic.describe(errno: code))")
        }
        guard
            case .ended(let reason, let advice) = socket.start(
                of: pid, status: { Voice.say(.note, $0) })
        else {
            guard !isQuiet else { Glibc.exit(ExitStatus.done.rawValue) }
            Voice.say(.none, "segget runs the queue in the background as process \(pid)")
            Glibc.exit(ExitStatus.done.rawValue)
        }
        var status: Int32 = 0
        waitpid(pid, &status, 0)
        let problem = Hooks.problem(status) ?? "ended immediately"
        Voice.say(.error, reason ?? "the service \(problem)")
        if let advice { Voice.say(.hint, advice) }
        if let log {
            Voice.say(.hint, "see \(Diagnostic.quote(log))")
        } else if reason == nil {
            Voice.say(.hint, hint)
        }
        Glibc.exit(status & 0x7f == 0 ? max(1, (status >> 8) & 0xff) : 70)
    }

    private static func fail(_ text: String) -> Never {
        Voice.say(.error, text)
        Glibc.exit(ExitStatus.cannotCreate.rawValue)
    }
}
