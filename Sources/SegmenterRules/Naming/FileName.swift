// Naming: file names, from the suggestions of servers and URLs and from the names that are taken.
// Pure. This folder does not read the file system.

@_spi(_Unicode) import Swift

/// File names from the suggestions of servers and URLs; each name is one safe path component.
///
/// Pure.
package enum FileName {
    /// The name if there is no usable suggestion.
    static let fallback = "download"
    /// The longest name in bytes: NAME_MAX minus the longest suffix that segget appends.
    package static let longest = 255 - PartNames.rewriteSuffix.utf8.count

    /// Returns the name from a `Content-Disposition`, or else the last component of the URL's path.
    package static func suggested(disposition: String?, url: WebURL) -> String {
        let candidates = [disposition.flatMap(fromDisposition), url.lastPathComponent]
        for candidate in candidates.compactMap({ $0 }) {
            let safe = sanitized(candidate)
            if !safe.isEmpty { return safe }
        }
        return fallback
    }

    /// Reduces a text to one path component; the result may be empty.
    ///
    /// The component has no separators, control characters or characters that change the direction
    /// of writing. It has no dots, dashes, tildes or whitespace at its start, and no dots or
    /// whitespace at its end. It has at most `longest` bytes, is in Unicode's normalization form C,
    /// and is never the name of a manifest.
    package static func sanitized(_ text: String) -> String {
        // The steps below do not change plain names, which most names are.
        if isPlain(text) { return guarded(text) }
        // Scalars are split, not characters: a combining mark after a separator or a dot forms one
        // character with it.
        let last = text.unicodeScalars.split { $0 == "/" || $0 == "\\" }.last ?? []
        let safe = last.filter { scalar in
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator: false
            default: true
            }
        }
        // Normalization follows, because removing a character can join two others.
        var normal = String.UnicodeScalarView()
        for scalar in String(String.UnicodeScalarView(safe))._nfc { normal.append(scalar) }
        let inFront = ".-~".unicodeScalars
        let name = normal.drop { inFront.contains($0) || $0.properties.isWhitespace }
        return guarded(fitted(Substring(name)))
    }

    /// Returns whether `sanitized` would not change a text.
    ///
    /// The text is not too long, starts with an ASCII letter, a digit or `_`, contains only these,
    /// `-` and dots, and does not end with a dot.
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

    /// Returns the name with a number before its extension: `big.1.iso`, `x.1.tar.gz`.
    ///
    /// The result has at most `longest` bytes. The number 0 returns the name unchanged.
    package static func numbered(_ name: String, _ number: Int) -> String {
        guard number > 0 else { return name }
        let suffix = fileExtension(of: name[...])
        let stem = name[..<suffix.startIndex]
        let end = ".\(number)\(suffix)"
        return prefix(of: stem, bytes: longest - end.utf8.count) + end
    }

    /// Returns the name without dots and whitespace at its end.
    private static func trimmed(_ name: Substring) -> Substring {
        let kept = name.unicodeScalars.reversed().drop { $0 == "." || $0.properties.isWhitespace }
        return name[..<kept.startIndex.base]
    }

    /// Trims a name and shortens its stem to whole characters until it fits.
    private static func fitted(_ text: Substring) -> String {
        let name = trimmed(text)
        guard name.utf8.count > longest else { return String(name) }
        let suffix = fileExtension(of: name)
        let stem = prefix(
            of: name[..<suffix.startIndex], bytes: longest - suffix.utf8.count)
        return suffix.isEmpty ? String(trimmed(stem)) : String(stem + suffix)
    }

    /// Appends `_` to the name of a manifest.
    ///
    /// Otherwise a server could name its file like a manifest, and segget would resume from the
    /// content that the server chose.
    private static func guarded(_ name: String) -> String {
        let lower = name.lowercased()
        guard
            [PartNames.manifestSuffix, PartNames.rewriteSuffix].contains(where: lower.hasSuffix)
        else { return name }
        return fitted(Substring(name + "_"))
    }

    /// Returns the extension with its dot, such as `.iso` or `.tar.gz`; empty if there is none.
    ///
    /// An extension has at most 32 bytes and contains a letter (`app-1.0` has none).
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

    /// Returns as many whole characters as fit; if the first does not, as many of its scalars as
    /// fit.
    package static func prefix(of text: Substring, bytes: Int) -> Substring {
        var characters = text
        while characters.utf8.count > bytes { characters.removeLast() }
        guard characters.isEmpty else { return characters }
        var scalars = text.unicodeScalars
        while Substring(scalars).utf8.count > bytes { scalars.removeLast() }
        return Substring(scalars)
    }
}
