import SeggetQueue
import SeggetReports
import Segmenter

/// A value of a command that no request could be made with: it is refused before a task has it.
struct CommandFault: Error, Hashable {
    /// The member that has the value, in the words of the API: `options.headers`.
    var member: String
    /// What is wrong with it, without the value.
    var message: String
}

extension QueueCommand {
    /// The first value that no request could be made with; `nil` where all can be used.
    var fault: CommandFault? {
        switch self {
        case .add(let task):
            Self.fault(in: task.options.headers, "options.headers")
                ?? Self.fault(in: task.options.access)
        case .set(_, let changes): Self.fault(in: changes.headers ?? [], "headers")
        default: nil
        }
    }

    private static func fault(in headers: [String], _ member: String) -> CommandFault? {
        for header in headers {
            do throws(HeaderSyntaxError) {
                try DownloadOptions.check(header: header)
            } catch {
                return CommandFault(member: member, message: Diagnostic.describe(error))
            }
        }
        return nil
    }

    private static func fault(in access: AccessOptions) -> CommandFault? {
        do throws(AccessProblem) {
            try access.checkValues()
            return nil
        } catch {
            let member = error.part.flatMap { members[$0] }.map { ".\($0)" } ?? ""
            return CommandFault(
                member: "options.access\(member)", message: "a value of it cannot be used")
        }
    }

    /// The members that have the parts of access that clients may give.
    private static let members: [AccessProblem.Part: String] = [
        .credentials: "credentials", .bearerToken: "bearer_token", .cookies: "cookies",
        .userAgent: "user_agent", .referer: "referer", .proxy: "proxy", .noProxy: "no_proxy",
    ]
}

extension QueueError {
    /// The same error with what clients over TCP can do about it, who have no commands.
    var forClients: QueueError {
        var error = self
        error.hint =
            switch code {
            case .noTask: "`GET /api/v1/tasks` lists the tasks"
            case .busy: "send it again"
            case .diskFull: "free some space on the disk of the queue; nothing was lost"
            case .worker: "send it again when the service is back"
            case .noQueue, .damaged, .laterVersion, .unavailable, .workedAlready:
                "see the log of the service on its machine"
            case .invalid: hint
            }
        return error
    }
}

extension AccessProblem {
    /// The option whose value is of the wrong form; `nil` for any other problem.
    fileprivate var part: Part? {
        if case .malformed(let part) = self { part } else { nil }
    }
}
