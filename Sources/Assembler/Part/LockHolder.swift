import Glibc

/// The process that created a lock file, as it describes itself in that file.
package struct LockHolder: Sendable, Hashable {
    /// The name of the machine, as gethostname(2) reports it.
    package var host: String
    /// The boot ID from `/proc/sys/kernel/random/boot_id`; empty if unknown.
    package var boot: String
    /// The PID namespace, as the link `/proc/self/ns/pid` names it; empty if unknown.
    package var namespace: String
    /// The PID of the process in that namespace.
    package var pid: Int32
    /// The start time of the process, in clock ticks since the boot; `nil` if unknown.
    package var started: UInt64?

    package init(host: String, boot: String, namespace: String, pid: Int32, started: UInt64?) {
        (self.host, self.boot, self.namespace) = (host, boot, namespace)
        (self.pid, self.started) = (pid, started)
    }

    /// The text of the lock file; each line is a key, `=`, a value and a line feed.
    package var text: String {
        "segget_lock=1\nhost=\(host)\nboot=\(boot)\nnamespace=\(namespace)\npid=\(pid)\n"
            + "started=\(started.map { "\($0)" } ?? "")\nend\n"
    }

    /// Parses the text of a lock file; fails if the text is incomplete.
    package init?(_ text: String) {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        guard lines.count == 8, lines[6] == "end", lines[7].isEmpty else { return nil }
        let keys = ["segget_lock", "host", "boot", "namespace", "pid", "started"]
        var values: [Substring] = []
        for (key, line) in zip(keys, lines) {
            guard line.hasPrefix(key + "=") else { return nil }
            values.append(line.dropFirst(key.count + 1))
        }
        guard values[0] == "1", let pid = Int32(values[4]), pid > 0 else { return nil }
        self.init(
            host: String(values[1]), boot: String(values[2]), namespace: String(values[3]),
            pid: pid, started: UInt64(values[5]))
    }
}

/// Whether a process exists.
package enum ProcessLife: Sendable, Hashable {
    /// No process has that PID.
    case none
    /// The process exists, and started at this time in clock ticks since the boot; `nil` if
    /// unknown.
    case since(UInt64?)
}

/// The effect of an existing lock file on a process that wants the lock.
///
/// Pure.
package enum LockDecision: Sendable, Hashable {
    /// The process that created the file no longer exists.
    case takeOver
    /// The process may still exist; `nil` if the file does not name it.
    case held(LockHolder?)

    /// Decides from the content of the lock file.
    ///
    /// - Parameters:
    ///   - found: The process that created the file; `nil` if the file does not name it.
    ///   - own: This process.
    ///   - life: Returns whether a process with a given PID exists in this PID namespace.
    package init(found: LockHolder?, own: LockHolder, life: (Int32) -> ProcessLife) {
        // If the boot or the namespace is unknown, the PID cannot be checked.
        guard let found, found.host == own.host, found.boot == own.boot, !own.boot.isEmpty,
            found.namespace == own.namespace, !own.namespace.isEmpty
        else {
            self = .held(found)
            return
        }
        switch life(found.pid) {
        case .none: self = .takeOver
        case .since(let start?) where found.started != nil && found.started != start:
            // Another process has the PID by now.
            self = .takeOver
        case .since: self = .held(found)
        }
    }
}

// MARK: - Facts about processes

extension LockHolder {
    /// This process.
    package static func current() -> LockHolder {
        var started: UInt64?
        if case .since(let time) = life(of: "self") { started = time }
        return LockHolder(
            host: hostName(),
            boot: firstLine(of: "/proc/sys/kernel/random/boot_id") {
                $0.filter { !$0.isWhitespace }
            } ?? "",
            namespace: link(at: "/proc/self/ns/pid"), pid: getpid(), started: started)
    }

    /// Returns whether the process with a PID exists.
    package static func life(of pid: Int32) -> ProcessLife {
        let life = life(of: "\(pid)")
        // `/proc` may not be mounted, or may hide other users' processes.
        return life == .none && (kill(pid, 0) == 0 || errno != ESRCH) ? .since(nil) : life
    }

    private static func life(of process: String) -> ProcessLife {
        firstLine(of: "/proc/\(process)/stat") { line -> ProcessLife? in
            // The second field is a name in parentheses that may contain any character; the 22nd is
            // the start time.
            guard let name = line.lastIndex(of: ")") else { return .since(nil) }
            let fields = line[line.index(after: name)...].split(separator: " ")
            return .since(fields.count > 19 ? UInt64(fields[19]) : nil)
        } ?? .none
    }

    private static func hostName() -> String {
        var name = [CChar](repeating: 0, count: 256)
        guard gethostname(&name, name.count - 1) == 0 else { return "" }
        let bytes = name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
        return String(decoding: bytes, as: UTF8.self).filter { !$0.isNewline }
    }

    private static func link(at path: String) -> String {
        var text = [CChar](repeating: 0, count: 128)
        let count = readlink(path, &text, text.count)
        return String(
            decoding: text.prefix(max(0, count)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
