package import ArgumentParser
import Glibc
import SeggetReports
import Segmenter

/// The command `segget status`, which shows how far a data set is.
package struct StatusCommand: ParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Show how far a data set is.",
        discussion: """
            Shows the files and bytes of each set in a folder by state, and the failed files with \
            cause and next step. Only the names, sizes and times of files are read; nothing is \
            requested or changed. For a plan, `--directory` is the folder of its set.
            """)

    @Argument(
        help: ArgumentHelp(
            "The folder of the set, or a plan (default: the current folder).",
            valueName: "folder|plan"),
        transform: PathArgument.file)
    var place: String = "."

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp(
            "The folder of the set of a plan (default: the current folder).", valueName: "folder"),
        transform: PathArgument.file)
    var directory: String?

    @Flag(help: "Write one JSON object per set to standard output (see docs/json.md).")
    var json: JSONFormat?

    package init() {}

    package func validate() throws {
        guard !place.isEmpty, directory != "" else {
            throw ValidationError("an empty path cannot be used")
        }
    }

    package func run() throws {
        StandardStreams.prepare()
        do throws(SetError) {
            for (index, status) in try found().enumerated() {
                let report = SetReport(status)
                let lines = json.map { [JSONText.line(report, $0) ?? ""] } ?? report.lines
                let gap = index > 0 && json == nil ? "\n" : ""
                let text = gap + lines.map { $0 + "\n" }.joined()
                guard StandardStreams.write(text, to: STDOUT_FILENO) else {
                    Glibc.exit(ExitStatus.disk.rawValue)
                }
            }
        } catch {
            for message in Diagnostic.messages(error) {
                let line = message.line(colour: Terminal.standardError.colour)
                StandardStreams.write(line + "\n", to: STDERR_FILENO)
            }
            Glibc.exit(Diagnostic.status(error).rawValue)
        }
    }

    private func found() throws(SetError) -> [SetStatus] {
        var status = stat()
        guard stat(place, &status) != 0 || status.st_mode & S_IFMT != S_IFDIR else {
            return try SetStatus.all(in: place)
        }
        let plan: PlanFile
        do throws(PlanError) { plan = try PlanFile(place) } catch {
            throw .plan(error, path: place)
        }
        return [try SetStatus(plan, in: directory ?? plan.ownFolder ?? ".")]
    }
}
