import SeggetFormats
package import SeggetReports
import Segmenter

extension TaskChanges {
    /// The first change that cannot be made: its member of the command in JSON, and what is wrong
    /// with it; `nil` if all can be made.
    package var fault: (member: String, fault: MemberFault)? {
        for key in options.keys.sorted() {
            guard let option = TransferOption[key] else {
                return ("options", .option)
            }
            let member = Self.short[key] ?? "options.\(key)"
            guard option.effect != .never else {
                return (member, .fixedOption)
            }
            for header in key == "headers" ? options.values.headers : [] {
                do throws(HeaderSyntaxError) {
                    try DownloadOptions.check(header: header)
                } catch {
                    return (member, .header(error))
                }
            }
            if !option.accepts(options.values) {
                return (member, .value(option.kind))
            }
        }
        return nil
    }

    /// The members of the command that stand for an option, by its stored key.
    private static let short = [
        "connections": "connections", "headers": "headers", "retries": "retries",
        "limits.rate": "rate_limit", "access.credentials": "user",
    ]
}
