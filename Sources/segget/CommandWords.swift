/// A command line cut into words, by the quoting rules of POSIX shells and with nothing expanded.
enum CommandWords {
    /// Why a text is no command.
    enum Problem: Error {
        case openQuote(Character)
        case empty

        /// The same in words.
        var text: String {
            switch self {
            case .openQuote(let quote): "a quote (\(quote)) is not closed"
            case .empty: "the command is empty"
            }
        }
    }

    /// The words of a command.
    ///
    /// Single quotes keep everything; in double quotes a backslash keeps a following `"` or `\`;
    /// elsewhere a backslash keeps any character.
    static func split(_ text: String) throws(Problem) -> [String] {
        var words: [String] = []
        var word: String?
        var rest = text[...]
        while let character = rest.popFirst() {
            switch character {
            case "'", "\"":
                word = (word ?? "") + (try quoted(&rest, by: character))
            case "\\":
                word = (word ?? "") + (rest.popFirst().map(String.init) ?? "\\")
            case _ where character.isWhitespace:
                if let end = word { words.append(end) }
                word = nil
            default:
                word = (word ?? "") + String(character)
            }
        }
        if let end = word { words.append(end) }
        guard words.first?.isEmpty == false else { throw .empty }
        return words
    }

    private static func quoted(
        _ rest: inout Substring, by quote: Character
    ) throws(Problem) -> String {
        var text = ""
        while let character = rest.popFirst() {
            if character == quote { return text }
            if character == "\\", quote == "\"", let next = rest.first, "\"\\".contains(next) {
                text.append(next)
                rest.removeFirst()
            } else {
                text.append(character)
            }
        }
        throw .openQuote(quote)
    }
}
