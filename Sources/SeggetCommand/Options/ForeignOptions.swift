/// Finds options of curl, wget, aria2 and axel that segget names otherwise, and what to type here.
enum ForeignOptions {
    /// The first of the arguments that is no option of the command, and what to type instead.
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
            let near = CommandTree.nearest(to: name, among: names)
            return (
                option,
                text(for: option) ?? near.map { "did you mean `--\($0)`?" }
                    ?? "`segget help` lists the options"
            )
        }
        return nil
    }

    /// What is no option of the command in a word that begins with a single dash.
    ///
    /// - Parameters:
    ///   - word: The word, such as `-x8`, `-fsSL` or `-nc`.
    ///   - last: The argument before it.
    ///   - command: The command.
    /// - Returns: The whole word where it is an option of another program, else its first unknown
    ///   letter with a dash; `nil` where it may well be ours, or is a negative number.
    private static func unknown(
        _ word: String, after last: String?, in command: CommandTree.Command
    ) -> String? {
        // `-nc` is a word of its own, `-t5` a letter with its value.
        if word.count > 2, table[word] != nil { return word }
        for (index, letter) in word.dropFirst().enumerated() {
            let own = command.options.first { $0.letters.contains(letter) }
            guard let own else {
                let isNumber = index == 0 && letter.isNumber && last?.hasPrefix("-") == true
                return isNumber ? nil : "-\(letter)"
            }
            // What follows is its value.
            guard own.isFlag else { return nil }
        }
        return nil
    }

    /// What to do instead of an option, in words.
    static func text(for option: String) -> String? {
        var text = table[option]
        // What only leads to another row.
        while let next = text, let row = table[next] { text = row }
        guard let text else { return nil }
        return text.hasPrefix("-") ? "segget calls it `\(text)`" : text
    }
}
