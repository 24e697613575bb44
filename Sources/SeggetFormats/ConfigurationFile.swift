import Glibc

/// A configuration file: one option per line, as `name = value` or as a flag's name.
package struct ConfigurationFile {
    /// An option in the file.
    package struct Line: Equatable {
        /// The line number, from 1.
        package var number: Int
        /// The long name, without dashes.
        package var name: String
        /// The value; `nil` if the line has only a name.
        package var value: String?
    }

    /// A syntax error in a line.
    package struct LineError: Error, Equatable {
        /// Number of the line, from 1.
        package var number: Int
        /// The message.
        package var text: String
    }

    /// The file's path.
    package var path: String
    /// The options in the file, in order.
    package var lines: [Line]
    /// Whether users other than the owner may read the file.
    package var isReadableByOthers = false

    /// Creates a configuration file from its parts.
    package init(path: String, lines: [Line], isReadableByOthers: Bool = false) {
        self.path = path
        self.lines = lines
        self.isReadableByOthers = isReadableByOthers
    }

    /// Parses the text of a configuration file.
    ///
    /// A comment begins with `#` at the start of a line or after a space. A value in double quotes
    /// keeps its spaces and `#`; `\"` and `\\` in it mean `"` and `\`. In a value without quotes,
    /// a leading `~/` becomes the home folder.
    ///
    /// - Throws: `LineError`, for the first line with an error.
    package static func lines(of text: String, home: String?) throws(LineError) -> [Line] {
        var result: [Line] = []
        let text = text.hasPrefix("\u{feff}") ? text.dropFirst() : text[...]
        let rows = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
        for (index, row) in rows.enumerated() {
            // Parses by scalars, because a combining mark after a quote or equals sign would form
            // one `Character` with it.
            let row = trim(row.unicodeScalars)
            guard !row.isEmpty, row.first != "#" else { continue }
            let number = index + 1
            let bare = row.prefix { $0 != "=" && $0 != "#" }
            var line = Line(number: number, name: String(trim(bare)), value: nil)
            guard line.name.first != nil, line.name.first != "-",
                line.name.allSatisfy(isNameCharacter)
            else {
                let hint =
                    line.name.hasPrefix("--") ? "write names without dashes" : "give `name = value`"
                throw LineError(number: number, text: "this is not an option: \(hint)")
            }
            let rest = row[bare.endIndex...]
            if rest.first == "=" {
                line.value = try value(trim(rest.dropFirst()), number, home)
            }
            result.append(line)
        }
        return result
    }

    private typealias Scalars = Substring.UnicodeScalarView

    private static func value(
        _ text: Scalars, _ number: Int, _ home: String?
    ) throws(LineError) -> String {
        guard text.first == "\"" else {
            var end = text.endIndex
            for index in text.indices where text[index] == "#" {
                if index == text.startIndex || isSpace(text[text.index(before: index)]) {
                    end = index
                    break
                }
            }
            let bare = String(trim(text[..<end]))
            guard let home, bare == "~" || bare.hasPrefix("~/") else { return bare }
            return home + bare.dropFirst()
        }
        var value = String.UnicodeScalarView()
        var rest = text.dropFirst()
        while let character = rest.popFirst(), character != "\"" || !isEnd(rest) {
            guard character != "\"" else {
                throw LineError(number: number, text: "there is text after the closing quote")
            }
            guard character == "\\", let next = rest.first, next == "\"" || next == "\\" else {
                value.append(character)
                if rest.isEmpty { throw LineError(number: number, text: "a quote is not closed") }
                continue
            }
            value.append(next)
            rest.removeFirst()
            if rest.isEmpty { throw LineError(number: number, text: "a quote is not closed") }
        }
        if text.count == 1 { throw LineError(number: number, text: "a quote is not closed") }
        return String(value)
    }

    /// Returns whether the rest of the line is empty or a comment.
    private static func isEnd(_ rest: Scalars) -> Bool {
        let rest = trim(rest)
        return rest.isEmpty || rest.first == "#"
    }

    private static func isNameCharacter(_ character: Character) -> Bool {
        character.isASCII && (character.isLowercase || character.isNumber || character == "-")
    }

    private static func isSpace(_ scalar: Unicode.Scalar) -> Bool { scalar.properties.isWhitespace }

    private static func trim(_ text: Scalars) -> Scalars {
        let front = text.drop(while: isSpace)
        guard let last = front.lastIndex(where: { !isSpace($0) }) else { return front.suffix(0) }
        return front[...last]
    }
}

extension ConfigurationFile {
    /// The maximum size of a file, in bytes.
    private static let longest = 1 << 20

    /// Reads a file, and whether other users may read it.
    ///
    /// - Returns: The text and the permission; `nil` with `errno` set if the file cannot be read.
    package static func read(_ path: String) -> (text: String, isReadableByOthers: Bool)? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { return nil }
        var bytes: [UInt8] = []
        while bytes.count <= longest {
            var buffer = [UInt8](repeating: 0, count: 64 << 10)
            let count = Glibc.read(descriptor, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { return nil }
            guard count > 0 else {
                return (String(decoding: bytes, as: UTF8.self), status.st_mode & 0o044 != 0)
            }
            bytes += buffer[..<count]
        }
        errno = EFBIG
        return nil
    }
}
