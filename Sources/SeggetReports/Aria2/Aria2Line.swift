/// A line in several colours, which can be cut to a width.
///
/// All of it is ASCII.
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

    /// Adds a text behind what is there.
    mutating func add(_ text: String, _ colour: Colour? = nil) { pieces.append((text, colour)) }

    /// The line, coloured or not, of at most so many columns.
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
