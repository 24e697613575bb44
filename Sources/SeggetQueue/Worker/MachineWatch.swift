import Assembler
import CLinux
import Glibc

/// Answers the questions of rules to the machine.
///
/// Blocks. Without a battery, or without NetworkManager, the answer is unknown.
struct MachineWatch: Sendable {
    /// The command of systemd that speaks D-Bus.
    var busctl = "busctl"
    /// The folder in which the kernel lists batteries and chargers.
    var powerSupplies = "/sys/class/power_supply"
    /// Seconds between two questions.
    var interval = 30.0

    /// Returns the answers to questions.
    func look(_ questions: Set<MachineQuestion>) -> MachineFacts {
        MachineFacts(
            isMetered: questions.contains(.metered) ? isMetered : nil,
            isOnBattery: questions.contains(.battery) ? isOnBattery : nil)
    }

    /// Whether NetworkManager considers the network metered; `nil` if unknown.
    ///
    /// Source: `NMMetered` of NetworkManager's D-Bus interface: 1 is yes and 3 that it was guessed
    /// from the kind of network; 2 and 4 are the same for no.
    private var isMetered: Bool? {
        let name = "org.freedesktop.NetworkManager"
        let answer = ProgramOutput.of(
            [busctl, "get-property", name, "/org/freedesktop/NetworkManager", name, "Metered"],
            within: 5)
        return switch answer?.split(whereSeparator: \.isWhitespace) {
        case ["u", "1"], ["u", "3"]: true
        case ["u", "2"], ["u", "4"]: false
        default: nil
        }
    }

    /// Whether a battery is discharging and no charger is connected; `nil` without a battery.
    ///
    /// Source: `Documentation/ABI/testing/sysfs-class-power` of Linux.
    private var isOnBattery: Bool? {
        var (hasBattery, isDischarging) = (false, false)
        for supply in Self.names(in: powerSupplies) {
            func value(_ name: String) -> String? {
                Self.line(of: "\(powerSupplies)/\(supply)/\(name)")
            }
            // Batteries of mice and keyboards do not count.
            guard value("scope") != "Device" else { continue }
            switch value("type") {
            case "Battery":
                hasBattery = true
                if value("status") == "Discharging" { isDischarging = true }
            case "Mains", "USB": if value("online") == "1" { return false }
            default: break
            }
        }
        return hasBattery ? isDischarging : nil
    }

    private static func names(in folder: String) -> [String] {
        guard let stream = opendir(folder) else { return [] }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            let name = withUnsafeBytes(of: entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names
    }

    /// Returns the first line of a small file; `nil` if it cannot be read.
    private static func line(of path: String) -> String? {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: 64)
        let count = read(file, &bytes, bytes.count)
        guard count >= 0 else { return nil }
        return String(decoding: bytes[..<count].prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
    }
}

/// The output of programs.
enum ProgramOutput {
    /// Runs a program of `PATH`, and returns the beginning of its output.
    ///
    /// Blocks. Its standard error is discarded.
    ///
    /// - Parameters:
    ///   - command: The name and the arguments.
    ///   - seconds: The time after which it is killed.
    /// - Returns: At most 4096 bytes; `nil` if the program does not exist, has failed or was
    ///   killed.
    static func of(_ command: [String], within seconds: Int32) -> String? {
        let nothing = open("/dev/null", O_RDWR | O_CLOEXEC)
        let output = segget_memory_file("segget-answer")
        defer {
            close(nothing)
            close(output)
        }
        guard nothing >= 0, output >= 0 else { return nil }
        var arguments = command.map { strdup($0) }
        defer { for argument in arguments { free(argument) } }
        arguments.append(nil)
        var pid: pid_t = 0
        let code = segget_spawn(arguments, environment, nothing, output, nothing, 1, &pid)
        guard code == 0 else { return nil }
        let process = segget_open_process(pid)
        var end = pollfd(fd: process, events: Int16(POLLIN), revents: 0)
        while process >= 0 {
            let count = poll(&end, 1, seconds * 1000)
            if count < 0, errno == EINTR { continue }
            if count <= 0 { kill(-pid, SIGKILL) }
            break
        }
        if process >= 0 { close(process) }
        var status: Int32 = 0
        while waitpid(pid, &status, 0) < 0, errno == EINTR {}
        guard status == 0 else { return nil }
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = pread(output, &bytes, bytes.count, 0)
        return count >= 0 ? String(decoding: bytes[..<count], as: UTF8.self) : nil
    }

    /// The environment without segget's own variables, which may have secrets.
    private static var environment: [UnsafeMutablePointer<CChar>?] {
        var variables: [UnsafeMutablePointer<CChar>?] = []
        var next = environ
        while let variable = next.pointee {
            if strncmp(variable, "SEGGET_", 7) != 0 { variables.append(variable) }
            next += 1
        }
        return variables + [nil]
    }
}
