package import ArgumentParser
import Glibc
package import SeggetFormats
package import SeggetReports
import Segmenter
import SeggetAria2

/// The options for runs of several files.
package struct BatchOptions: ParsableArguments {
    @Option(
        name: .shortAndLong,
        help: ArgumentHelp(
            "Also download the files of this list; `-` is standard input; repeatable.",
            discussion: """
                Each line has the URLs of one file, separated by tabs. Indented lines below it are \
                its options, as NAME=VALUE: \(InputFile.optionNames.joined(separator: ", ")). \
                Options of aria2 that match segget's defaults are ignored. \
                The options of a file override the command line. `dir` is relative to the current \
                folder; missing folders are created below that folder or `--directory`. Lines that \
                begin with # are skipped.
                """,
            valueName: "file"),
        transform: PathArgument.file)
    package var inputFile: [String] = []

    @Option(
        name: [.customShort("j", allowingJoined: true), .long],
        help: ArgumentHelp(
            "Files to download at a time, 1 to 64 (default: a few large, or many small ones).",
            valueName: "n"))
    package var jobs: Int?

    @Flag(help: "Stop all downloads when one fails; received bytes are kept.")
    package var failFast = false

    package init() {}

    package func validate() throws {
        guard (1...64).contains(jobs ?? 1) else {
            throw ValidationError("`--jobs` takes 1 to 64, not \(jobs ?? 0)")
        }
        guard !inputFile.contains("") else {
            throw ValidationError("`--input-file` needs the name of a file")
        }
        guard inputFile.count(where: { $0 == "-" }) <= 1 else {
            throw ValidationError("standard input can be read only once")
        }
    }

    /// The note that is printed if no list has a URL.
    package static let emptyList = "the list has no URL: nothing to download"

    /// Returns the files of the lists at these paths.
    package static func readLists(_ paths: [String]) throws(InputError) -> [InputFile.Item] {
        var items: [InputFile.Item] = []
        for path in paths {
            let bytes = try read(path)
            do throws(InputFile.LineError) {
                items += try InputFile(reading: bytes, ignoring: Aria2Option.ignoredInLists).items
            } catch {
                throw .malformed(path: path, error)
            }
        }
        return items
    }

    /// Returns the files of the lists at these paths; ends the process if one cannot be used.
    static func listed(in paths: [String]) -> [InputFile.Item] {
        do throws(InputError) {
            return try readLists(paths)
        } catch {
            let colour = Terminal.standardError.colour
            for message in Diagnostic.messages(error) {
                StandardStreams.write(message.line(colour: colour) + "\n", to: STDERR_FILENO)
            }
            Glibc.exit(ExitStatus.usage.rawValue)
        }
    }

    /// Returns all bytes of a list; `-` is standard input.
    package static func read(_ path: String) throws(InputError) -> [UInt8] {
        let isInput = path == "-"
        let descriptor = isInput ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .unreadable(path: path, errno: errno) }
        defer { if !isInput { close(descriptor) } }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            let count = Glibc.read(descriptor, &buffer, buffer.count)
            guard count != 0 else { return bytes }
            guard count > 0 else {
                if errno == EINTR { continue }
                throw .unreadable(path: path, errno: errno)
            }
            bytes += buffer[..<count]
        }
    }
}

/// The options of a data set.
package struct SetOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Download the files of this plan, which `segget plan` has written.",
            discussion: """
                Each file is saved at its path below `--directory`. It must have the size, digest \
                and validators that the plan states. `.segget` in that folder records which files \
                are complete, so that a later run requests only what is missing, failed or changed.
                """,
            valueName: "file"),
        transform: PathArgument.file)
    package var plan: String?

    @Flag(
        help: "Read all bytes of the complete files, and compare their checksums.")
    package var recheck = false

    @Flag(
        help: ArgumentHelp(
            "Remove files that an earlier plan of the set had and this one has not.",
            discussion: """
                They are removed after all other files are complete, and only if this set wrote \
                them and they are unchanged. `--dry-run` lists them.
                """))
    package var deleteExtra = false

    @Flag(help: "With `--delete-extra`: remove even more than half of the files.")
    package var force = false

    @OptionGroup var chosen: PathFilterOptions

    package init() {}
}

/// The reason why a list of files cannot be used.
package enum InputError: Error {
    /// The file cannot be read.
    case unreadable(path: String, errno: Int32)
    /// The file does not have the format of a list.
    case malformed(path: String, InputFile.LineError)
}

extension Diagnostic {
    /// Returns the messages for a list that cannot be used.
    ///
    /// They repeat no value of the list, as values may be secrets.
    package static func messages(_ error: InputError) -> [Message] {
        switch error {
        case .unreadable(let path, let code):
            [
                Message(
                    .error, "the list \(quote(path)) cannot be read: \(describe(errno: code))"),
                Message(.hint, "give `--input-file` a readable file, or `-` for standard input"),
            ]
        case .malformed(let path, let problem):
            [
                Message(
                    .error,
                    "\(path == "-" ? "standard input" : quote(path)), \(describe(problem))"),
                Message(
                    .hint, "nothing was downloaded; correct the line and run the command again"),
            ]
        }
    }
}
