import SeggetFormats
import SeggetQueue
import SeggetReports
import Segmenter

/// A value of a command that no request could be sent with; the command is refused before it runs.
struct CommandFault: Error, Hashable {
    /// The path of the member, in the names of the API: `options.headers`.
    var member: String
    /// The reason, without the value.
    var message: String
}

extension QueueCommand {
    /// The first value that no request could be sent with; `nil` if all are usable.
    var fault: CommandFault? {
        switch self {
        case .add(let task): Self.fault(in: task.options)
        case .set(_, let changes): changes.fault.map { CommandFault(member: $0, message: $1.text) }
        default: nil
        }
    }

    private static func fault(in options: DownloadOptions) -> CommandFault? {
        for header in options.headers {
            do throws(HeaderSyntaxError) {
                try DownloadOptions.check(header: header)
            } catch {
                return CommandFault(
                    member: "options.headers", message: Diagnostic.describe(error))
            }
        }
        return TransferOption.misused(options.changedKeys, in: options).map { option in
            CommandFault(
                member: "options.\(option.key)",
                message: Diagnostic.describe(nil, takes: option.kind))
        }
    }
}

extension QueueError {
    /// The same error with a hint for clients over TCP, which cannot run commands.
    var forClients: QueueError {
        var error = self
        error.hint =
            switch code {
            case .noTask: "`GET /api/v2/tasks` lists the tasks"
            case .busy: "send the command again"
            case .diskFull: "free some space on the disk of the queue; the queue is unchanged"
            case .worker: "send the command again when the service responds"
            case .noQueue, .damaged, .laterVersion, .unavailable, .hasWorker:
                "see the service's log on its machine"
            case .invalid: hint
            }
        return error
    }
}
