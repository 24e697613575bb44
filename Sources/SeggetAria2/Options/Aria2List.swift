import SeggetFormats

/// A list of files as aria2 parses it (`--input-file`), which accepts more than `InputFile`.
///
/// A line has the URLs of one file; the indented lines below it are its options. Empty lines and
/// lines that begin with `#` are skipped anywhere. The list may be compressed with gzip.
struct Aria2List {
    /// A file of the list.
    struct Item {
        var urls: [String]
        var options = Aria2Options()
    }

    /// The files, in order.
    private(set) var items: [Item] = []
    /// The warnings about ignored options.
    private(set) var warnings: [String] = []

    /// Parses a list.
    ///
    /// - Parameters:
    ///   - bytes: The whole list.
    ///   - home: The home folder.
    /// - Throws: `Aria2Refusal`, if an option has an invalid value; nothing is downloaded then.
    init(_ bytes: [UInt8], home: String) throws(Aria2Refusal) {
        var bytes = bytes
        if Gzip.isCompressed(bytes) {
            do throws(Gzip.Damaged) {
                bytes = try Gzip.text(of: bytes)
            } catch {
                throw .exception("the compressed input file is damaged")
            }
        }
        if bytes.starts(with: [0xef, 0xbb, 0xbf]) { bytes.removeFirst(3) }
        // Splits by bytes, because CR LF would be one `Character`.
        let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        var isBegun = false
        for (index, bytes) in lines.enumerated() where !bytes.isEmpty {
            // Decoding with replacement characters would change names and URLs.
            guard let line = String(validating: bytes, as: UTF8.self) else {
                throw .exception("line \(index + 1) of the input file is not UTF-8")
            }
            let first = line.unicodeScalars.first
            guard first != "#", line != "\r" else { continue }
            if isBegun, first == " " || first == "\t" {
                try take(line, home: home)
                continue
            }
            let urls = line.split(separator: "\t").map { Aria2Option.trimmed($0) }
                .filter { !$0.isEmpty }
            isBegun = true
            items.append(Item(urls: urls))
        }
        items.removeAll { $0.urls.isEmpty }
    }

    private mutating func take(_ line: String, home: String) throws(Aria2Refusal) {
        guard let (name, value) = Self.option(in: line), name.first != "#" else { return }
        guard let option = Aria2Option.named(name) else {
            warnings.append("Unknown option: \(Self.printable(name))")
            return
        }
        do throws(Aria2Option.BadValue) {
            try items[items.count - 1].options.take(option, value, home: home)
        } catch {
            throw Aria2Refusal(
                code: Aria2Refusal.optionError,
                ["Exception caught"] + Aria2Refusal.lines(about: option, error))
        }
    }

    /// Returns the name and value of an option on a line; `nil` if there is no name.
    static func option(in line: String) -> (name: String, value: String)? {
        // Parses by scalars, because a combining mark after an equals sign would form one
        // `Character` with it.
        let line = line.unicodeScalars
        let end = line.firstIndex(of: "=")
        let name = Aria2Option.trimmed(String(line[..<(end ?? line.endIndex)]))
        guard !name.isEmpty else { return nil }
        let value = end.map { Aria2Option.trimmed(String(line[line.index(after: $0)...])) }
        return (name, value ?? "")
    }

    /// Returns a name that is safe in a message; other text could be a URL with a password.
    static func printable(_ name: String) -> String {
        let isName = name.utf8.allSatisfy {
            $0 == UInt8(ascii: "-") || Character(Unicode.Scalar($0)).isLetter
                || Character(Unicode.Scalar($0)).isNumber
        }
        return isName && name.utf8.count < 64 ? name : "(not an option name)"
    }
}
