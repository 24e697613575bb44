import Assembler
import CLinux
import Glibc
import SeggetCommand
import SeggetQueue
import SeggetReports

/// Prevents the machine from sleeping during downloads.
///
/// A child process holds logind's lock until this process closes a pipe, or ends for any reason.
/// Without logind, nothing happens. If logind refuses, a message reports that once.
struct SleepInhibitor: Sendable {
    /// systemd's command, which holds the lock until its child, `cat`, has read the pipe to its
    /// end.
    static let systemd = [
        "systemd-inhibit", "--what=sleep", "--who=segget", "--why=Files are being downloaded",
        "--mode=block", "cat",
    ]

    /// The command to run, which holds a lock until its standard input ends.
    var command = systemd
    /// Prints a message for the user.
    let say: @Sendable (String) async -> Void

    /// Holds the lock while tasks are active; returns when the snapshots end.
    func follow(_ snapshots: AsyncStream<QueueView>) async {
        let state = Monitor(State())
        for await snapshot in snapshots {
            // A task that waits for the network does not keep the machine awake.
            let isFetching = snapshot.running.contains {
                TaskStatus.Word.withSlot.contains($0.state)
            }
            if isFetching { hold(state) } else { release(state) }
        }
        release(state)
    }

    private struct State {
        /// This process's end of the pipe; `nil` while no command runs.
        var pipe: Int32?
        /// The number of the last started command, from 1.
        var number = 0
        /// Whether the command is missing or was refused, so that it is not started again.
        var isInVain = false
    }

    private func release(_ state: Monitor<State>) {
        state.withLock { state in
            if let pipe = state.pipe { close(pipe) }
            state.pipe = nil
        }
    }

    private func hold(_ state: Monitor<State>) {
        guard state.withLock({ $0.pipe == nil && !$0.isInVain }) else { return }
        var ends: [Int32] = [-1, -1]
        guard Glibc.pipe(&ends) == 0 else { return }
        let (input, pipe) = (ends[0], ends[1])
        // No other child process may inherit the pipe before this.
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        let output = segget_memory_file("segget-inhibit")
        var pid: pid_t = 0
        // In a separate process group, so that Ctrl-C reaches this process only.
        let code = Hooks.withCStrings(command) { arguments in
            Hooks.withCStrings(Hooks.environment(with: [:])) {
                segget_spawn(arguments, $0, input, output, output, 1, &pid)
            }
        }
        close(input)
        guard code == 0 else {
            close(pipe)
            close(output)
            return state.withLock { $0.isInVain = true }
        }
        let number = state.withLock { state in
            state.pipe = pipe
            state.number += 1
            return state.number
        }
        OwnedThread(name: "inhibit") { [pid, say] in
            var status: Int32 = 0
            while waitpid(pid, &status, 0) < 0, errno == EINTR {}
            let isRefused = state.withLock { state in
                // If the pipe was closed here, the end of the command was intended.
                guard state.number == number, let pipe = state.pipe else { return false }
                close(pipe)
                (state.pipe, state.isInVain) = (nil, true)
                return true
            }
            if isRefused {
                let reason = Self.reason(output, status)
                Task { await say("the machine may go to sleep: `systemd-inhibit` \(reason)") }
            }
            close(output)
        }.detach()
    }

    /// Returns the first line of the command's output, or how the command ended.
    private static func reason(_ output: Int32, _ status: Int32) -> String {
        var bytes = [UInt8](repeating: 0, count: 200)
        let count = max(0, pread(output, &bytes, bytes.count, 0))
        let text = String(decoding: bytes[..<count], as: UTF8.self)
        let line = text.split(whereSeparator: \.isNewline).first.map(String.init)
        return line.map { "said: \($0)" } ?? Hooks.problem(status) ?? "ended"
    }
}
