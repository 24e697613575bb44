import Glibc
import SeggetFormats
import SeggetReports
import Segmenter
package import SeggetAria2

/// The replacement for aria2c: segget runs it if the program's name contains `aria2c`.
package enum Aria2Command {
    /// Whether a program with this name replaces aria2c.
    package static func isMeant(by name: String) -> Bool {
        name.split(separator: "/").last?.contains("aria2c") ?? false
    }

    /// Parses the command line, runs it, and ends the process.
    package static func run(_ words: [String]) -> Never {
        StandardStreams.prepare()
        do throws(Aria2Refusal) {
            if let place = CommandLineSecrets.firstNotUTF8 {
                throw Aria2Refusal(
                    code: Aria2ErrorCode.option.rawValue, ["argument \(place) is not UTF-8"])
            }
            let settings = try Aria2Settings.read(words, in: surroundings)
            switch settings.action {
            case .version: end(printing: Aria2Words.versionText)
            case .help(let keyword): end(printing: Aria2Help.text(keyword))
            case .download: break
            }
            if settings.isService || settings.isDaemon { Handover.runAria2() }
            hideSecrets(settings)
            let list = try settings.inputFile.map { path throws(Aria2Refusal) in try read(path) }
            let (tasks, warnings) = try settings.tasks(list: list)
            guard !tasks.isEmpty else { end(printing: "No files to download.\n") }
            try Aria2Run(settings, tasks, warnings: settings.warnings + warnings).run()
        } catch {
            let text = error.lines.map { PrintableText.escape($0) + "\n" }.joined()
            StandardStreams.write(text, to: STDERR_FILENO)
            Glibc.exit(error.code)
        }
    }

    private static func end(printing text: String) -> Never {
        let isWritten = StandardStreams.write(text, to: STDOUT_FILENO)
        Glibc.exit(isWritten ? 0 : Aria2ErrorCode.fileIO.rawValue)
    }

    // MARK: Input

    /// The environment and the files that the settings are read from.
    package static var surroundings: Aria2Settings.Surroundings {
        var environment: [String: String] = [:]
        var next = environ
        while let variable = next.pointee {
            let parts = String(validatingCString: variable)?.split(
                separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            if let parts, parts.count == 2 { environment[String(parts[0])] = String(parts[1]) }
            next += 1
        }
        return Aria2Settings.Surroundings(
            environment: environment, home: environment["HOME"] ?? "",
            read: { ConfigurationFile.read($0)?.text }, exists: isReadable)
    }

    /// Whether a path is that of a readable file.
    package static func isReadable(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT != S_IFDIR
            && access(path, R_OK) == 0
    }

    package static func read(_ path: String) throws(Aria2Refusal) -> [UInt8] {
        do throws(InputError) {
            return try BatchOptions.read(path)
        } catch {
            throw Aria2Refusal([
                "Exception caught",
                "Exception: errorCode=1 Failed to open the file \(path), cause: "
                    + "File not found or it is a directory",
            ])
        }
    }

    /// Options whose values are secret, or contain secrets.
    private static let secret: Set = [
        "all-proxy", "all-proxy-passwd", "ftp-passwd", "ftp-proxy", "ftp-proxy-passwd",
        "http-passwd", "http-proxy", "http-proxy-passwd", "https-proxy", "https-proxy-passwd",
        "referer", "rpc-passwd", "rpc-secret",
    ]

    /// Overwrites secrets on the command line, where other processes could read them.
    package static func hideSecrets(_ settings: Aria2Settings) {
        CommandLineSecrets.hide(
            headers: settings.typed.filter { $0.name == "header" }.map(\.value))
        for (name, value) in settings.typed where secret.contains(name) && !value.isEmpty {
            CommandLineSecrets.hide(in: value, value[...])
        }
        CommandLineSecrets.hide(urls: settings.uris)
    }
}
