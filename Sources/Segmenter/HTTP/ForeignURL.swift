/// What a text is that was given for a URL, and is none that can be fetched.
#if hasAttribute(nonexhaustive)
    @nonexhaustive
#endif
public enum ForeignURL: Sendable, Hashable {
    /// A link for BitTorrent.
    case magnet
    /// The URL of another protocol, by its scheme in lower case.
    case scheme(String)
    /// An object in a store's own notation, by its scheme in lower case.
    case object(String)
    /// A file on this machine.
    case localFile
    /// A line break or another control character stands in it.
    case controlCharacter

    /// Schemes that need no `//` behind them.
    private static let bare = ["magnet", "file", "data", "mailto", "urn", "ed2k", "javascript"]
    /// Notations of object stores.
    private static let stores = [
        "s3", "s3a", "s3n", "gs", "gcs", "az", "abfs", "abfss", "wasb", "oss",
    ]

    /// Finds out what a text is; `nil` when it may be a web address, or nothing that has a name.
    ///
    /// - Parameters:
    ///   - text: What was given.
    ///   - isFile: Whether a file stands at a path; asked where the text has no scheme.
    init?(_ text: String, isFile: (String) -> Bool) {
        guard text.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7f }) else {
            self = .controlCharacter
            return
        }
        let name = text.prefix { $0 != ":" }
        let rest = text.dropFirst(name.count)
        let scheme = name.lowercased()
        let isScheme =
            !rest.isEmpty && (rest.hasPrefix("://") || Self.bare.contains(scheme))
            && name.first?.isLetter == true
            && name.utf8.allSatisfy { byte in
                let character = Character(Unicode.Scalar(byte))
                return byte < 0x80
                    && (character.isLetter || character.isNumber || "+-.".contains(character))
            }
        guard isScheme else {
            guard Self.isPath(text) || isFile(text) else { return nil }
            self = .localFile
            return
        }
        switch scheme {
        case "http", "https": return nil
        case "magnet": self = .magnet
        case "file": self = .localFile
        case _ where Self.stores.contains(scheme): self = .object(scheme)
        default: self = .scheme(scheme)
        }
    }

    /// Whether a text can be nothing else than a path.
    private static func isPath(_ text: String) -> Bool {
        ["/", "./", "../", "~/"].contains(where: text.hasPrefix) && !text.hasPrefix("//")
    }
}
