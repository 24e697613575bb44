/// A list of files as aria2 reads it (`--input-file`), which is more than `InputFile` takes.
///
/// A line has the URLs of one file; what is indented below it are its options. Empty lines and lines that
/// begin with `#` are skipped wherever they stand. Compressed with gzip, a list is the same list.
struct Aria2List {
    /// What the list says of one file.
    struct Item {
        var urls: [String]
        var options = Aria2Options()
    }

    /// The files, in order.
    private(set) var items: [Item] = []
    /// What is read over, in words.
    private(set) var warnings: [String] = []

    /// Reads a list.
    ///
    /// - Parameters:
    ///   - bytes: All of it.
    ///   - home: The home folder.
    /// - Throws: `Aria2Refusal`, where an option has a value that it does not take: then nothing is fetched.
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
        // By bytes: CR LF would be one character.
        let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        var isBegun = false
        for (index, bytes) in lines.enumerated() where !bytes.isEmpty {
            // What Swift would make of other bytes is another name, or another URL.
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

    /// Name and value of an option on a line of its own; `nil` where it has no name.
    static func option(in line: String) -> (name: String, value: String)? {
        // By scalars: with an accent behind it, an equals sign is another character.
        let line = line.unicodeScalars
        let end = line.firstIndex(of: "=")
        let name = Aria2Option.trimmed(String(line[..<(end ?? line.endIndex)]))
        guard !name.isEmpty else { return nil }
        let value = end.map { Aria2Option.trimmed(String(line[line.index(after: $0)...])) }
        return (name, value ?? "")
    }

    /// A name as a message can say it: what is none may be anything, an address with a password too.
    static func printable(_ name: String) -> String {
        let isName = name.utf8.allSatisfy {
            $0 == UInt8(ascii: "-") || Character(Unicode.Scalar($0)).isLetter
                || Character(Unicode.Scalar($0)).isNumber
        }
        return isName && name.utf8.count < 64 ? name : "(not an option name)"
    }
}
