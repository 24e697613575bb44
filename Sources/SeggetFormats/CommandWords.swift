/// Splits a command line by the quoting rules of POSIX shells, without expansion.
package enum CommandWords {
    /// The reason why a text is not a command.
    package enum SyntaxError: Error {
        case openQuote(Character)
        case empty

        /// The message.
        package var text: String {
            switch self {
            case .openQuote(let quote): "a quote (\(quote)) is not closed"
            case .empty: "the command is empty"
            }
        }
    }

    /// Returns the words of a command.
    ///
    /// All characters in single quotes are literal. In double quotes, a backslash escapes `"` and
    /// `\`. Outside quotes, it escapes any character.
    package static func split(_ text: String) throws(SyntaxError) -> [String] {
        var words: [String] = []
        var word: String.UnicodeScalarView?
        // Splits by scalars, because a combining mark after a quote would form one `Character`
        // with it.
        var rest = text.unicodeScalars[...]
        while let scalar = rest.popFirst() {
            switch scalar {
            case "'", "\"":
                word = (word ?? .init()) + (try quoted(&rest, by: scalar))
            case "\\":
                word = (word ?? .init()) + [rest.popFirst() ?? scalar]
            case _ where scalar.properties.isWhitespace:
                if let end = word { words.append(String(end)) }
                word = nil
            default:
                word = (word ?? .init()) + [scalar]
            }
        }
        if let end = word { words.append(String(end)) }
        guard words.first?.isEmpty == false else { throw .empty }
        return words
    }

    private static func quoted(
        _ rest: inout Substring.UnicodeScalarView, by quote: Unicode.Scalar
    ) throws(SyntaxError) -> String.UnicodeScalarView {
        var text = String.UnicodeScalarView()
        while let scalar = rest.popFirst() {
            if scalar == quote { return text }
            if scalar == "\\", quote == "\"", let next = rest.first, next == "\"" || next == "\\" {
                text.append(next)
                rest.removeFirst()
            } else {
                text.append(scalar)
            }
        }
        throw .openQuote(Character(quote))
    }
}
