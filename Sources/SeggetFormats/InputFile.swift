// SeggetFormats: what people and other programs write: lists of files with options as in aria2's
// input file, configuration files, quantities. It knows texts and the options they stand for; it
// never knows a terminal, and starts no download.

import Assembler
public import Segmenter

/// A list of files to fetch, in aria2's input format.
///
/// A line has the URLs of one file, separated by tabs; several are mirrors of each other. Lines
/// that begin with white space give the file before them options, as `name=value`. Empty lines and
/// lines that begin with `#` are skipped. Lines end in LF or CR LF; the text is UTF-8, with or
/// without a byte order mark, and may be compressed with gzip.
///
/// Reading is pure. What it accepts can be applied: values are checked too.
public struct InputFile: Sendable {
    /// One file of the list.
    public struct Item: Sendable, Hashable {
        /// The URLs of the file, at least one.
        public var urls: [String]
        /// Number of the line with the URLs, from 1; 0 when it comes from no list.
        public var line: Int
        /// The options, as they were written.
        public var settings: [Setting] = []

        /// Makes an item without options.
        public init(urls: [String], line: Int = 0) {
            self.urls = urls
            self.line = line
        }
    }

    /// One option of a file.
    public struct Setting: Sendable, Hashable {
        /// Its name.
        public var name: String
        /// Its value, which may be a secret.
        public var value: String

        /// Takes an option that can be applied.
        ///
        /// - Throws: `Problem.Kind`, where there is no such option, or it takes no such value.
        public init(name: String, value: String) throws(Problem.Kind) {
            guard let option = InputOption.named(name) else { throw .unknownOption(name) }
            var target = InputOption.Target()
            guard option.apply(&target, value) else {
                if name == "header", let header = Self.reservedHeader(value) {
                    throw .reservedHeader(name: header)
                }
                throw .badValue(name, expected: option.expected)
            }
            self.name = name
            self.value = value
        }

        /// The name of the header in a line, where it is refused because segget sets it itself.
        private static func reservedHeader(_ line: String) -> String? {
            do throws(HeaderSyntaxError) {
                try DownloadOptions.check(header: line)
                return nil
            } catch {
                guard case .reserved(let name) = error else { return nil }
                return name
            }
        }
    }

    /// What is wrong with a list.
    ///
    /// Carries no values: they may be secrets.
    public struct Problem: Error, Sendable, Hashable {
        /// What is wrong.
        #if hasAttribute(nonexhaustive)
            @nonexhaustive
        #endif
        public enum Kind: Error, Sendable, Hashable {
            /// The list is compressed, and damaged or longer than 256 MiB.
            case damagedCompression
            /// The line is not UTF-8.
            case notUTF8
            /// The line holds a control character.
            case controlCharacter
            /// Options come before the first URL.
            case optionWithoutURL
            /// The line begins with white space, and is not `name=value`.
            case notAnOption
            /// There is no option of this name.
            case unknownOption(String)
            /// The option with this name cannot have such a value; `expected` says what it takes.
            case badValue(String, expected: String)
            /// A `header` names this field, which segget sets itself.
            case reservedHeader(name: String)
        }

        /// Number of the line, from 1.
        public var line: Int
        /// What is wrong with it.
        public var kind: Kind
    }

    /// The files, in order.
    public private(set) var items: [Item] = []

    /// Reads a list.
    ///
    /// - Parameter bytes: All of the text.
    /// - Throws: `Problem`, the first one.
    public init(reading bytes: some Sequence<UInt8>) throws(Problem) {
        var bytes = Array(bytes)
        if Gzip.isCompressed(bytes) {
            do throws(Gzip.Damaged) {
                bytes = try Gzip.text(of: bytes)
            } catch {
                throw Problem(line: 1, kind: .damagedCompression)
            }
        }
        // By bytes: CR LF would be one character.
        for (index, bytes) in bytes.split(
            separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false
        ).enumerated() {
            let number = index + 1
            var bytes = bytes
            if bytes.last == UInt8(ascii: "\r") { bytes = bytes.dropLast() }
            if index == 0, bytes.starts(with: [0xef, 0xbb, 0xbf]) { bytes = bytes.dropFirst(3) }
            guard let text = String(validating: bytes, as: UTF8.self) else {
                throw Problem(line: number, kind: .notUTF8)
            }
            guard bytes.allSatisfy({ ($0 >= 0x20 && $0 != 0x7f) || $0 == 0x09 }) else {
                throw Problem(line: number, kind: .controlCharacter)
            }
            try take(text, line: number)
        }
    }

    private mutating func take(_ text: String, line: Int) throws(Problem) {
        // By scalars: with an accent behind it, a space or an equals sign is another character.
        let isOption = text.unicodeScalars.first.map(Self.isBlank) ?? false
        let content = Self.trimmed(text.unicodeScalars[...])
        guard let first = content.first, first != "#" else { return }
        guard isOption else {
            let urls = content.split(separator: "\t").map { String(Self.trimmed($0)) }
            items.append(Item(urls: urls.filter { !$0.isEmpty }, line: line))
            return
        }
        guard let equals = content.firstIndex(of: "=") else {
            throw Problem(line: line, kind: .notAnOption)
        }
        let name = String(Self.trimmed(content[..<equals]))
        // Anything else may be an address with a password in it: it is not repeated.
        guard !name.isEmpty, name.utf8.allSatisfy(Self.isNameByte) else {
            throw Problem(line: line, kind: .notAnOption)
        }
        guard !items.isEmpty else { throw Problem(line: line, kind: .optionWithoutURL) }
        let value = String(Self.trimmed(content[content.index(after: equals)...]))
        do throws(Problem.Kind) {
            items[items.count - 1].settings.append(try Setting(name: name, value: value))
        } catch {
            throw Problem(line: line, kind: error)
        }
    }

    private static func isNameByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
            true
        default: false
        }
    }

    private static func isBlank(_ scalar: Unicode.Scalar) -> Bool {
        scalar == " " || scalar == "\t"
    }

    private static func trimmed(_ text: Substring.UnicodeScalarView) -> Substring.UnicodeScalarView
    {
        guard let first = text.firstIndex(where: { !isBlank($0) }),
            let last = text.lastIndex(where: { !isBlank($0) })
        else { return text.suffix(0) }
        return text[first...last]
    }
}

extension InputFile.Item {
    /// The item for a batch: the settings applied to what holds for all files.
    ///
    /// - Parameters:
    ///   - options: The options of all files.
    ///   - folder: The folder of all files; relative ones count from the current folder, as does
    ///     the item's own `dir`. It is made if it is missing, and what `dir` and `out` name below it
    ///     or the current folder.
    /// - Returns: What to fetch, and where to.
    public func batchItem(options: DownloadOptions, folder: String) -> BatchItem {
        var target = InputOption.Target(options: options, folder: folder)
        // The password last: it is the user's, wherever it stands.
        let isLast: (InputFile.Setting) -> Bool = { $0.name == "http-passwd" }
        for setting in settings.filter({ !isLast($0) }) + settings.filter(isLast) {
            _ = InputOption.named(setting.name)?.apply(&target, setting.value)
        }
        // A list may be somebody else's: the user's tickets are for what the user has named.
        if line > 0 { target.options.access.negotiates = false }
        target.options.mirrors += urls.dropFirst()
        let namesFolder =
            settings.contains { $0.name == "dir" && !$0.value.isEmpty }
            || target.name?.contains("/") == true
        // A list may be somebody else's: what it names is made below what the user has named.
        target.options.files.missingFolders = namesFolder ? .madeBelow([folder, "."]) : .made
        // A name such as `-` is to mean nothing but itself.
        let destination: Destination =
            if let name = target.name {
                .file(
                    target.folder == "." && !name.hasPrefix("-")
                        ? name : "\(target.folder)/\(name)")
            } else {
                .folder(target.folder)
            }
        return BatchItem(urls.first ?? "", to: destination, options: target.options)
    }
}

extension InputFile {
    /// The names of all options, in order.
    public static var optionNames: [String] { InputOption.table.keys.sorted() }

    /// The names of the options that are accepted and change nothing, in order: they are aria2's, and
    /// mean what is done anyway.
    public static var ignoredNames: [String] { InputOption.ignored.keys.sorted() }
}
