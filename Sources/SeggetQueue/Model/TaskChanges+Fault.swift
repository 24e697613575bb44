import SeggetFormats
import SeggetReports
import Segmenter

extension TaskChanges {
    /// The first change that cannot be made: its member of the command in JSON, and why; `nil` where all can be made.
    package var fault: (member: String, message: String)? {
        for key in options.keys.sorted() {
            guard let option = TransferOption[key] else {
                return ("options", "it has a member that is not an option")
            }
            let member = Self.short[key] ?? "options.\(key)"
            guard option.effect != .never else {
                return (member, "it cannot be changed; remove the task, and add it again")
            }
            for header in key == "headers" ? options.values.headers : [] {
                do throws(HeaderSyntaxError) {
                    try DownloadOptions.check(header: header)
                } catch {
                    return (member, Diagnostic.describe(error))
                }
            }
            if !option.accepts(options.values) {
                return (member, Diagnostic.describe(nil, takes: option.kind))
            }
        }
        return nil
    }

    /// The members of the command that have options of their own name, by stored key.
    private static let short = [
        "connections": "connections", "headers": "headers", "retries": "retries",
        "limits.rate": "rate_limit", "access.credentials": "user",
    ]
}
