import CTestSupport
import Foundation
import Glibc

extension Run {
    /// Starts a program with posix_spawn(3), so that the caller can wait for it and measure it.
    ///
    /// - Throws: ``SystemCallError``.
    static func spawn(
        _ command: [String], in folder: String, environment: [String: String], output: Int32,
        errors: Int32
    ) throws -> pid_t {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_adddup2(&actions, output, 1)
        posix_spawn_file_actions_adddup2(&actions, errors, 2)
        _ = segget_test_spawn_close_from(&actions, 3)
        _ = segget_test_spawn_chdir(&actions, folder)

        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var signals = sigset_t()
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        for signal in [SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGQUIT] { sigaddset(&signals, signal) }
        posix_spawnattr_setsigdefault(&attributes, &signals)
        posix_spawnattr_setflags(
            &attributes, Int16(POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK))

        var pid: pid_t = 0
        let code = withCStrings(command) { arguments in
            withCStrings(merged(environment)) { variables in
                posix_spawn(&pid, command[0], &actions, &attributes, arguments, variables)
            }
        }
        guard code == 0 else { throw SystemCallError("posix_spawn \(command[0])", code: code) }
        return pid
    }

    private static func merged(_ environment: [String: String]) -> [String] {
        ProcessInfo.processInfo.environment
            .filter { !$0.key.lowercased().hasSuffix("_proxy") }
            .merging(environment) { $1 }
            .map { "\($0.key)=\($0.value)" }
    }

    private static func withCStrings<Result>(
        _ strings: [String], _ body: ([UnsafeMutablePointer<CChar>?]) -> Result
    ) -> Result {
        let copies = strings.map { strdup($0) }
        defer { copies.forEach { free($0) } }
        return body(copies + [nil])
    }
}
