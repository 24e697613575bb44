import ArgumentParser
import Glibc
import SeggetCommand
import SeggetQueue
import SeggetReports
import SeggetService
import Segmenter

/// `segget show`: everything about one task.
struct ShowCommand: ParsableCommand {
    static let configuration = QueueCommandName.show.configuration()

    @Argument(help: "The id of the task, or its beginning.", completion: .custom(Completions.ids))
    var id: String
    @Flag(help: "Print one JSON object (see docs/json.md).") var json = false
    @Flag(help: "With `--json`: its end counts as seen.") var markSeen = false
    @OptionGroup(title: "Queue") var queue: QueueOptions
    @OptionGroup(title: "Configuration") var configuration: ConfigurationOptions

    func validate() throws {
        guard !markSeen || json else { throw ValidationError("`--mark-seen` goes with `--json`") }
    }

    func run() throws {
        let (id, json, markSeen) = (id, json, markSeen)
        try queue.run { access in
            let detail = try await access.door.detail(id)
            let isTerminal = isatty(STDOUT_FILENO) == 1
            let text =
                json
                ? JSONText.line(detail)
                : DetailText(
                    now: secondsSinceEpoch(), unicode: Terminal.standardOutput.unicode,
                    colour: Terminal.standardOutput.colour
                ).lines(detail).joined(separator: "\n")
            guard let text, StandardStreams.write(text + "\n", to: STDOUT_FILENO) else {
                return .disk
            }
            if json ? markSeen : isTerminal, detail.task.seen == false {
                try await access.markSeen([detail.task.id])
            }
            access.sayWhetherWorked([detail.task])
            return .done
        }
    }
}
