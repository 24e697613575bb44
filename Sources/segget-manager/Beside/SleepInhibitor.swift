import Assembler
import CLinux
import Glibc
import SeggetCommand
import SeggetQueue
import SeggetReports

/// Keeps the machine from going to sleep while something is fetched.
///
/// A child holds logind's lock until a pipe from us is closed, which the end of this process does too, however that
/// comes. Where there is no logind, nothing happens; where it refuses, that is said once.
struct SleepInhibitor: Sendable {
    /// systemd's command, which holds the lock as long as its own child runs: that reads the pipe to its end.
    static let systemd = [
        "systemd-inhibit", "--what=sleep", "--who=segget", "--why=Files are being downloaded",
        "--mode=block", "cat",
    ]

    /// What is run: it holds a lock until its standard input ends.
    var command = systemd
    /// Takes what a person should know.
    let say: @Sendable (String) async -> Void

    /// Holds the lock while tasks are fetched; returns when the snapshots end.
    func follow(_ snapshots: AsyncStream<QueueSnapshot>) async {
        let state = Monitor(State())
        for await snapshot in snapshots {
            // A task that waits for the network keeps nobody awake.
            let isFetching = snapshot.running.contains {
                ["running", "verifying"].contains($0.state)
            }
            if isFetching { hold(state) } else { release(state) }
        }
        release(state)
    }

    private struct State {
        /// Our end of the pipe; `nil` while nothing holds the lock.
        var pipe: Int32?
        /// Which one that is, counted from 1.
        var number = 0
        /// Whether it is in vain: the command is not there, or was refused.
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
        // No child that we start inherits either before that.
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        let output = segget_memory_file("segget-inhibit")
        var pid: pid_t = 0
        // In a group of its own: Ctrl-C is for us.
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
                // Unless it was let go of.
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

    /// What the command said, or how it ended.
    private static func reason(_ output: Int32, _ status: Int32) -> String {
        var bytes = [UInt8](repeating: 0, count: 200)
        let count = max(0, pread(output, &bytes, bytes.count, 0))
        let text = String(decoding: bytes[..<count], as: UTF8.self)
        let line = text.split(whereSeparator: \.isNewline).first.map(String.init)
        return line.map { "said: \($0)" } ?? Hooks.problem(status) ?? "ended"
    }
}
