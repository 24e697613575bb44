/// A line in several colours that can be truncated to a width.
///
/// The text is ASCII only.
struct Aria2Line {
    /// A colour, by its number in an escape sequence (ECMA-48 §8.3.117, SGR).
    enum Colour: String {
        case green = "32"
        case yellow = "33"
        case magenta = "35"
        case cyan = "36"
    }

    private static let plain = "\u{1b}[0m"
    private var pieces: [(text: String, colour: Colour?)] = []

    /// Appends a text.
    mutating func add(_ text: String, _ colour: Colour? = nil) { pieces.append((text, colour)) }

    /// Returns the line, with or without colours, truncated to `columns`.
    func text(isColoured: Bool, columns: Int = .max) -> String {
        var (result, left) = ("", columns)
        for piece in pieces where left > 0 {
            let shown = piece.text.prefix(left)
            left -= shown.utf8.count
            guard isColoured, let colour = piece.colour else {
                result += shown
                continue
            }
            result += "\u{1b}[\(colour.rawValue)m\(shown)" + (left > 0 ? Self.plain : "")
        }
        return result + (isColoured ? Self.plain : "")
    }
}
