// Naming: what a file is called, by what servers and URLs suggest and by which names are taken.
// Pure; it never looks into a folder.

import Assembler
@_spi(_Unicode) import Swift

/// Names for files, from what servers and URLs suggest: always one safe path component.
///
/// Pure.
enum FileName {
    /// The name when nothing better is known.
    static let fallback = "download"
    /// Longest name in bytes: NAME_MAX less the longest suffix that segget appends.
    static let longest = 255 - PartNames.rewriteSuffix.utf8.count

    /// The name that a `Content-Disposition` suggests, else the last component of the URL's path.
    static func suggested(disposition: String?, url: WebURL) -> String {
        let candidates = [disposition.flatMap(fromDisposition), url.lastPathComponent]
        for candidate in candidates.compactMap({ $0 }) {
            let safe = sanitized(candidate)
            if !safe.isEmpty { return safe }
        }
        return fallback
    }

    /// Reduces a text to one path component: no separators, controls or characters that change the
    /// direction of writing, no dots or dashes in front, no dots or spaces at the end, no more than
    /// `longest` bytes, in Unicode's normalization form C, and never the name of a manifest.
    ///
    /// May come out empty.
    static func sanitized(_ text: String) -> String {
        // What all of this would leave as it is; most names are such.
        if isPlain(text) { return guarded(text) }
        // By scalars: a combining mark makes one character with a separator or dot before it.
        let last = text.unicodeScalars.split { $0 == "/" || $0 == "\\" }.last ?? []
        let safe = last.filter { scalar in
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator: false
            default: true
            }
        }
        // Last, because two characters may meet where one between them was taken out.
        var normal = String.UnicodeScalarView()
        for scalar in String(String.UnicodeScalarView(safe))._nfc { normal.append(scalar) }
        let inFront = ".-~".unicodeScalars
        let name = normal.drop { inFront.contains($0) || $0.properties.isWhitespace }
        return guarded(fitted(Substring(name)))
    }

    /// Whether it is a short text of ASCII letters, digits, `-`, `_` and dots, none of them at the end, and
    /// with a letter, a digit or `_` in front.
    private static func isPlain(_ text: String) -> Bool {
        func isWord(_ byte: UInt8) -> Bool {
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "_"):
                true
            default: false
            }
        }
        let bytes = text.utf8
        guard bytes.count <= longest, let first = bytes.first, isWord(first),
            bytes.last != UInt8(ascii: ".")
        else { return false }
        return bytes.allSatisfy {
            isWord($0) || $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "-")
        }
    }

    /// The name with a number in front of its extension: `big.1.iso`, `x.1.tar.gz`.
    ///
    /// No longer than `longest` bytes; 0 gives the name as it is.
    static func numbered(_ name: String, _ number: Int) -> String {
        guard number > 0 else { return name }
        let suffix = fileExtension(of: name[...])
        let stem = name[..<suffix.startIndex]
        let end = ".\(number)\(suffix)"
        return prefix(of: stem, bytes: longest - end.utf8.count) + end
    }

    /// Without dots and spaces at the end.
    private static func trimmed(_ name: Substring) -> Substring {
        let kept = name.unicodeScalars.reversed().drop { $0 == "." || $0.properties.isWhitespace }
        return name[..<kept.startIndex.base]
    }

    /// Trimmed, and cut in front of the extension, between characters.
    private static func fitted(_ text: Substring) -> String {
        let name = trimmed(text)
        guard name.utf8.count > longest else { return String(name) }
        let suffix = fileExtension(of: name)
        let stem = prefix(
            of: name[..<suffix.startIndex], bytes: longest - suffix.utf8.count)
        return suffix.isEmpty ? String(trimmed(stem)) : String(stem + suffix)
    }

    /// A name that no manifest can have: one that a server could name and fill would have segget
    /// resume from what the server wrote into it.
    private static func guarded(_ name: String) -> String {
        let lower = name.lowercased()
        guard
            [PartNames.manifestSuffix, PartNames.rewriteSuffix].contains(where: lower.hasSuffix)
        else { return name }
        return fitted(Substring(name + "_"))
    }

    /// The extension with its dot, as `.iso` or `.tar.gz`; empty at the end of a name that has none.
    ///
    /// At most 32 bytes; one without a letter is none (`app-1.0`).
    private static func fileExtension(of name: Substring) -> Substring {
        guard let dot = name.lastIndex(of: "."), dot != name.startIndex,
            name[dot...].utf8.count <= 32,
            name[dot...].contains(where: \.isLetter),
            !name[dot...].contains(where: \.isWhitespace)
        else { return name[name.endIndex...] }
        let stem = name[..<dot]
        let isArchive = stem.lowercased().hasSuffix(".tar") && stem.count > ".tar".count
        return isArchive ? name[name.index(dot, offsetBy: -".tar".count)...] : name[dot...]
    }

    /// As many whole characters as fit; of a first one that does not, as many scalars.
    static func prefix(of text: Substring, bytes: Int) -> Substring {
        var characters = text
        while characters.utf8.count > bytes { characters.removeLast() }
        guard characters.isEmpty else { return characters }
        var scalars = text.unicodeScalars
        while Substring(scalars).utf8.count > bytes { scalars.removeLast() }
        return Substring(scalars)
    }
}
