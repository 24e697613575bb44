/// Finds options of curl, wget, aria2 and axel that segget does not have, and their equivalents.
enum ForeignOptions {
    /// Returns the first argument that is not an option of the command, and a hint for it.
    static func hint(
        for arguments: [String], in command: CommandTree.Command
    ) -> (option: String, text: String)? {
        let names = command.options.filter(\.isShown).flatMap(\.names)
        var last: String?
        for argument in arguments.prefix(while: { $0 != "--" }) {
            defer { last = argument }
            guard argument.hasPrefix("-"), argument != "-" else { continue }
            let option = String(argument.prefix { $0 != "=" })
            guard option.hasPrefix("--") else {
                guard let word = unknown(option, after: last, in: command) else { continue }
                return (word, text(for: word) ?? "`segget help` lists the options")
            }
            let name = String(option.dropFirst(2))
            guard command.option(name) == nil else { continue }
            if let text = elsewhere[option] { return (option, text) }
            let near = CommandTree.nearest(to: name, among: names)
            return (
                option,
                text(for: option) ?? near.map { "did you mean `--\($0)`?" }
                    ?? "`segget help` lists the options"
            )
        }
        return nil
    }

    /// For options of segget that some commands do not have, how these commands do the same.
    private static let elsewhere = [
        "--max-requests":
            "`segget settings --max-requests RATE` limits all tasks of a queue together"
    ]

    /// Returns the unknown option in a word that begins with a single dash.
    ///
    /// - Parameters:
    ///   - word: The word, such as `-x8`, `-fsSL` or `-nc`.
    ///   - last: The argument before the word.
    ///   - command: The command.
    /// - Returns: The whole word if it is an option of another program, otherwise its first unknown
    ///   letter with a dash. `nil` if all letters are known, or if the word is a negative number.
    private static func unknown(
        _ word: String, after last: String?, in command: CommandTree.Command
    ) -> String? {
        // `-nc` is one option; `-t5` is a letter with its value.
        if word.count > 2, table[word] != nil { return word }
        for (index, letter) in word.dropFirst().enumerated() {
            let own = command.options.first { $0.letters.contains(letter) }
            guard let own else {
                let isNumber = index == 0 && letter.isNumber && last?.hasPrefix("-") == true
                return isNumber ? nil : "-\(letter)"
            }
            // The rest of the word is the value of this option.
            guard own.isFlag else { return nil }
        }
        return nil
    }

    /// Returns the hint for an option of another program.
    static func text(for option: String) -> String? {
        var text = table[option]
        // A text may be the name of another row.
        while let next = text, let row = table[next] { text = row }
        guard let text else { return nil }
        return text.hasPrefix("-") ? "segget calls it `\(text)`" : text
    }
}
