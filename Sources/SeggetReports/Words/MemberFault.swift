package import SeggetFormats
package import Segmenter

/// A fault in a member of a request, without its value, which may be secret.
package enum MemberFault: Error, Sendable, Hashable {
    /// It has a key that is not one of these.
    case unknownKey([String])
    /// It is not one of these commands.
    case command([String])
    /// It selects no task.
    case noSelection
    /// One of the states is not one of these.
    case state([String])
    /// It is not a place in the order.
    case position
    /// It is an absolute path beside a root.
    case absolutePath
    /// It is a relative path, which has no meaning for the worker.
    case relativePath
    /// The plan of the task has the values.
    case ofPlan
    /// It is not a file mode creation mask.
    case umask
    /// It is not a value of `metered`.
    case metered
    /// It is not the condition of a rule.
    case condition
    /// The rule has no effect, or two.
    case effect
    /// It has a member that is not an option.
    case option
    /// The option cannot be changed after a task was added.
    case fixedOption
    /// It is not a header that can be sent.
    case header(HeaderSyntaxError)
    /// It is not a value that the option takes.
    case value(OptionKind)

    /// The fault in words, to follow the name of the member.
    package var text: String {
        switch self {
        case .unknownKey(let keys):
            "it has an unknown key; the keys are \(keys.joined(separator: ", "))"
        case .command(let words):
            "it is not a command; the commands are \(words.joined(separator: ", "))"
        case .noSelection: "it selects no task; give ids, tags, states, or all"
        case .state(let words):
            "one is not a state; the states are \(words.joined(separator: ", "))"
        case .position: "must be first, last, or a number from 1"
        case .absolutePath: "it must be a relative path, because `root` is given"
        case .relativePath: "it must be an absolute path"
        case .ofPlan: "it cannot be given with a plan, which has it"
        case .umask: "it must be up to three octal digits, such as 022"
        case .metered: "it must be auto, yes or no"
        case .condition: "it must be `metered`, `battery` or a time span such as `22:00-06:00`"
        case .effect: "it must have `pause`, which is true, or `rate`"
        case .option: "it has a member that is not an option"
        case .fixedOption: "it cannot be changed; remove the task, and add it again"
        case .header(let error): Diagnostic.describe(error)
        case .value(let kind): Diagnostic.describe(nil, takes: kind)
        }
    }
}
