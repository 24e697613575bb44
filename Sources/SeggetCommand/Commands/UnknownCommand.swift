import ArgumentParser

/// A word that was typed in place of a command or a URL, and is neither.
struct UnknownCommand: Equatable {
    let message: String
    let hint: String

    /// Commands of other programs that do the same.
    static let foreign = [
        "abort": "cancel", "check": "verify", "config": "settings", "continue": "resume",
        "daemon": "serve", "del": "remove", "delete": "remove", "download": "get", "fetch": "get",
        "follow": "attach", "info": "show", "kill": "cancel", "ls": "list", "mv": "rename",
        "ps": "list", "queue": "add", "rm": "remove", "status": "list", "stop": "pause",
        "unpause": "resume", "watch": "attach", "web": "open",
    ]

    /// Judges the first argument that is no option, where no command was typed.
    ///
    /// Without a dot, a colon or a slash it is a mistyped command, not a URL: `segget pasue 60ad` must
    /// not ask a host named `pasue`. `nil` for what may be a URL, an option and an empty argument.
    ///
    /// - Parameters:
    ///   - word: The argument.
    ///   - commands: The names of all commands.
    init?(_ word: String, among commands: [String]) {
        guard !word.isEmpty, !word.hasPrefix("-") || word == "-",
            !word.unicodeScalars.contains(where: { ".:/".unicodeScalars.contains($0) })
        else { return nil }
        // A query may hold a secret.
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
    /// The names of all commands, those of the manager included.
    var commandNames: [String] {
        let own = root.configuration.subcommands.map { $0._commandName }
        return own + QueueCommandName.allCases.map(\.rawValue).filter { !own.contains($0) }
            + ["help"]
    }
}
