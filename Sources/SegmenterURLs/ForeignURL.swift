/// A text that was given as a URL but that segget cannot download.
#if hasAttribute(nonexhaustive)
    @nonexhaustive
#endif
public enum ForeignURL: Sendable, Hashable {
    /// A magnet link of BitTorrent.
    case magnet
    /// A URL of another protocol, with its scheme in lower case.
    case scheme(String)
    /// An object in an object store, with the scheme in lower case.
    case object(String)
    /// A file on this machine.
    case localFile
    /// A text with a line break or another control character.
    case controlCharacter

    /// Schemes that do not require `//`.
    private static let bare = ["magnet", "file", "data", "mailto", "urn", "ed2k", "javascript"]
    /// Schemes of object stores.
    private static let stores = [
        "s3", "s3a", "s3n", "gs", "gcs", "az", "abfs", "abfss", "wasb", "oss",
    ]

    /// Classifies a text; returns `nil` if it may be a web address or is of no known kind.
    ///
    /// - Parameters:
    ///   - text: The text that was given as a URL.
    ///   - isFile: Returns whether a file exists at a path; called only if the text has no scheme.
    package init?(_ text: String, isFile: (String) -> Bool) {
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

    /// Returns whether a text can only be a path.
    private static func isPath(_ text: String) -> Bool {
        ["/", "./", "../", "~/"].contains(where: text.hasPrefix) && !text.hasPrefix("//")
    }
}
