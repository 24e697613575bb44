/// A line of text for standard error.
///
/// The text contains no control characters.
public struct Message: Equatable, Sendable {
    /// The kind of a line, printed before its text.
    package enum Label: String, Sendable {
        case error, kept, written, hint, note
        /// No label.
        case none = ""
    }

    package let label: Label
    /// The text without the label.
    public let text: String

    /// Creates a line; control characters in the text become visible escapes.
    package init(_ label: Label, _ text: String) {
        self.label = label
        self.text = PrintableText.escape(text)
    }

    /// Returns the line without a line break.
    ///
    /// Colour only repeats what the label says.
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
