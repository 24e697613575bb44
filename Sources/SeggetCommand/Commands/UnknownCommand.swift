import ArgumentParser

/// A first argument that is neither a command nor a URL.
struct UnknownCommand: Equatable {
    let message: String
    let hint: String

    /// Commands of other programs, with the equivalent commands of segget.
    static let foreign = [
        "abort": "cancel", "check": "verify", "config": "settings", "continue": "resume",
        "daemon": "serve", "del": "remove", "delete": "remove", "download": "get", "fetch": "get",
        "follow": "attach", "info": "show", "kill": "cancel", "ls": "list", "mv": "rename",
        "ps": "list", "queue": "add", "rm": "remove", "stop": "pause",
        "unpause": "resume", "watch": "attach", "web": "open",
    ]

    /// Creates the error for an argument; `nil` if the argument may be a URL, an option or empty.
    ///
    /// An argument without a dot, a colon or a slash counts as a mistyped command, not as a URL:
    /// `segget pasue 60ad` must not contact a host named `pasue`.
    ///
    /// - Parameters:
    ///   - word: The first argument that is not an option, if no command was typed.
    ///   - commands: The names of all commands.
    init?(_ word: String, among commands: [String]) {
        guard !word.isEmpty, !word.hasPrefix("-") || word == "-",
            !word.unicodeScalars.contains(where: { ".:/".unicodeScalars.contains($0) })
        else { return nil }
        // The argument may contain a secret, such as a query, so the message does not repeat it.
        guard word.allSatisfy({ $0.isLetter || $0.isNumber || "-_".contains($0) }), word != "-"
        else {
            message = "the first argument is neither a command nor a URL"
            hint = "a URL begins with `http://` or `https://`; `segget help` lists the commands"
            return
        }
        let lowercase = word.lowercased()
        let near = Self.foreign[lowercase] ?? CommandTree.nearest(to: lowercase, among: commands)
        let question =
            near.map { "did you mean `segget \($0)`?" } ?? "`segget help` lists the commands;"
        message = "there is no command `\(word)`"
        hint = "\(question) `http://\(word)/` is the URL of a host of that name"
    }
}

extension Program {
    /// The names of all commands, including those of `segget-manager`.
    var commandNames: [String] {
        let own = root.configuration.subcommands.map { $0._commandName }
        return own + QueueCommandName.allCases.map(\.rawValue).filter { !own.contains($0) }
            + ["help"]
    }
}
