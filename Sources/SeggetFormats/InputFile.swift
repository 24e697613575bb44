// SeggetFormats: parsers for input from users and other programs: lists of files with options in
// aria2's format, configuration files, quantities. It never starts a download.

import Assembler
public import Segmenter

/// A list of files to download, in the format of aria2's input file.
///
/// A line has the URLs of one file, separated by tabs; further URLs are mirrors. A line that
/// begins with white space is an option of the preceding file: `name=value`. Empty lines and lines
/// that begin with `#` are skipped. Lines end in LF or CR LF. The text is UTF-8, with or without a
/// byte order mark, and may be compressed with gzip.
///
/// Parsing is pure. It also checks the values, so every accepted option can be applied.
public struct InputFile: Sendable {
    /// A file of the list.
    public struct Item: Sendable, Hashable {
        /// The URLs of the file; at least one.
        public var urls: [String]
        /// The number of the line with the URLs, from 1; 0 if the item is not from a list.
        public var line: Int
        /// The options, as written.
        public var settings: [Setting] = []

        /// Creates an item without options.
        public init(urls: [String], line: Int = 0) {
            self.urls = urls
            self.line = line
        }
    }

    /// An option of a file.
    public struct Setting: Sendable, Hashable {
        /// The name of the option.
        public var name: String
        /// The value, which may be a secret.
        public var value: String

        /// Creates an option after checking its name and value.
        ///
        /// - Throws: `LineError.Kind`, if the option is unknown or does not take the value.
        public init(name: String, value: String) throws(LineError.Kind) {
            try self.init(name: name, value: value, ignoring: [:])
        }

        init(
            name: String, value: String, ignoring ignored: [String: IgnoredOption]
        ) throws(LineError.Kind) {
            self.name = name
            self.value = value
            guard let option = InputOption.table[name] else {
                guard let option = ignored[name] else { throw .unknownOption(name) }
                guard option.takes(value) else { throw .badValue(name, expected: option.expected) }
                return
            }
            var target = InputOption.Target()
            guard option.apply(&target, value) else {
                if name == "header", let header = Self.reservedHeader(value) {
                    throw .reservedHeader(name: header)
                }
                throw .badValue(name, expected: option.expected)
            }
        }

        /// Returns the name of the header if segget refuses it because it sets that header itself.
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

    /// An error in a list.
    ///
    /// The error contains no values, because they may be secrets.
    public struct LineError: Error, Sendable, Hashable {
        /// The kind of error.
        #if hasAttribute(nonexhaustive)
            @nonexhaustive
        #endif
        public enum Kind: Error, Sendable, Hashable {
            /// The compressed list is damaged, or longer than 256 MiB.
            case damagedCompression
            /// The line is not UTF-8.
            case notUTF8
            /// The line contains a control character.
            case controlCharacter
            /// An option precedes the first URL.
            case optionWithoutURL
            /// The line begins with white space, but is not `name=value`.
            case notAnOption
            /// No option has this name.
            case unknownOption(String)
            /// The option does not take this value; `expected` describes the values that it takes.
            case badValue(String, expected: String)
            /// A `header` names this field, which segget sets itself.
            case reservedHeader(name: String)
        }

        /// The line number, from 1.
        public var line: Int
        /// The kind of error.
        public var kind: Kind
    }

    /// The files, in order.
    public private(set) var items: [Item] = []

    /// The options of another program that have no effect.
    private let ignored: [String: IgnoredOption]

    /// Parses a list.
    ///
    /// - Parameter bytes: The whole text.
    /// - Throws: `LineError`, for the first error.
    public init(reading bytes: some Sequence<UInt8>) throws(LineError) {
        try self.init(reading: bytes, ignoring: [:])
    }

    /// Parses a list in which another program's options may occur.
    ///
    /// - Parameters:
    ///   - bytes: The whole text.
    ///   - ignored: The options without effect, by name; their values are checked.
    /// - Throws: `LineError`, for the first error.
    package init(
        reading bytes: some Sequence<UInt8>, ignoring ignored: [String: IgnoredOption]
    ) throws(LineError) {
        self.ignored = ignored
        var bytes = Array(bytes)
        if Gzip.isCompressed(bytes) {
            do throws(Gzip.Damaged) {
                bytes = try Gzip.text(of: bytes)
            } catch {
                throw LineError(line: 1, kind: .damagedCompression)
            }
        }
        // Splits by bytes, because CR LF would be one `Character`.
        for (index, bytes) in bytes.split(
            separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false
        ).enumerated() {
            let number = index + 1
            var bytes = bytes
            if bytes.last == UInt8(ascii: "\r") { bytes = bytes.dropLast() }
            if index == 0, bytes.starts(with: [0xef, 0xbb, 0xbf]) { bytes = bytes.dropFirst(3) }
            guard let text = String(validating: bytes, as: UTF8.self) else {
                throw LineError(line: number, kind: .notUTF8)
            }
            guard bytes.allSatisfy({ ($0 >= 0x20 && $0 != 0x7f) || $0 == 0x09 }) else {
                throw LineError(line: number, kind: .controlCharacter)
            }
            try take(text, line: number)
        }
    }

    private mutating func take(_ text: String, line: Int) throws(LineError) {
        // Parses by scalars, because a combining mark after a space or equals sign would form one
        // `Character` with it.
        let isOption = text.unicodeScalars.first.map(Self.isBlank) ?? false
        let content = Self.trimmed(text.unicodeScalars[...])
        guard let first = content.first, first != "#" else { return }
        guard isOption else {
            guard text.utf8.contains(UInt8(ascii: "\t")) else {
                items.append(Item(urls: [String(content)], line: line))
                return
            }
            let urls = content.split(separator: "\t").map { String(Self.trimmed($0)) }
            items.append(Item(urls: urls.filter { !$0.isEmpty }, line: line))
            return
        }
        guard let equals = content.firstIndex(of: "=") else {
            throw LineError(line: line, kind: .notAnOption)
        }
        let name = String(Self.trimmed(content[..<equals]))
        // Other text may be a URL with a password, so the error does not repeat it.
        guard !name.isEmpty, name.utf8.allSatisfy(Self.isNameByte) else {
            throw LineError(line: line, kind: .notAnOption)
        }
        guard !items.isEmpty else { throw LineError(line: line, kind: .optionWithoutURL) }
        let value = String(Self.trimmed(content[content.index(after: equals)...]))
        do throws(LineError.Kind) {
            items[items.count - 1].settings.append(
                try Setting(name: name, value: value, ignoring: ignored))
        } catch {
            throw LineError(line: line, kind: error)
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
    /// Returns the item for a batch: the common options with the settings of this file.
    ///
    /// - Parameters:
    ///   - options: The options of all files.
    ///   - folder: The folder of all files. A relative path, also in `dir`, is relative to the
    ///     current folder. Missing folders are created: `folder` itself, and those of `dir` and
    ///     `out` below it or below the current folder.
    /// - Returns: The URL, destination and options.
    public func batchItem(options: DownloadOptions, folder: String) -> BatchItem {
        var target = InputOption.Target(options: options, folder: folder)
        // Apply the password last, because setting the user clears it.
        let isLast: (InputFile.Setting) -> Bool = { $0.name == "http-passwd" }
        for setting in settings where !isLast(setting) {
            _ = InputOption.table[setting.name]?.apply(&target, setting.value)
        }
        for setting in settings where isLast(setting) {
            _ = InputOption.table[setting.name]?.apply(&target, setting.value)
        }
        // A list may come from another person, so its URLs must not receive the user's Kerberos
        // tickets.
        if line > 0 { target.options.access.negotiates = false }
        target.options.mirrors += urls.dropFirst()
        let namesFolder =
            settings.contains { $0.name == "dir" && !$0.value.isEmpty }
            || target.name?.contains("/") == true
        // A list may come from another person, so it may create folders only below those of the
        // user.
        target.options.files.missingFolders = namesFolder ? .madeBelow([folder, "."]) : .made
        // The prefix prevents that a name such as `-` has a special meaning.
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
    /// The names of all options, sorted.
    public static var optionNames: [String] { InputOption.table.keys.sorted() }
}
