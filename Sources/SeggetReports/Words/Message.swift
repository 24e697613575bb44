/// One line for people, on standard error.
///
/// Whatever it quotes, it holds no control characters.
public struct Message: Equatable, Sendable {
    /// What kind of line it is; shown in front of it.
    package enum Label: String, Sendable {
        case error, kept, written, hint, note
        /// A line that speaks for itself.
        case none = ""
    }

    package let label: Label
    /// What it says, without the label.
    public let text: String

    /// Makes a line; control characters in the text become visible escapes.
    package init(_ label: Label, _ text: String) {
        self.label = label
        self.text = PrintableText.escape(text)
    }

    /// The line without its end; colour never carries meaning of its own.
    public func line(colour: Bool) -> String {
        guard label != .none else { return text }
        let name = "\(label.rawValue):"
        return colour ? "\u{1b}[\(colourCode)m\(name)\u{1b}[0m \(text)" : "\(name) \(text)"
    }

    private var colourCode: String {
        switch label {
        case .error: "1;31"
        case .note: "1;33"
        case .hint: "1;36"
        case .kept, .written, .none: "1"
        }
    }
}
