/// What is done with a file that comes in a content coding, though nobody has asked for one.
///
/// Pure.
enum ContentCoding: Hashable {
    /// The bytes are saved as they are sent: the file is such an archive.
    case saved
    /// libcurl decodes them: the coding was put on for the way.
    case decoded
    /// Nobody here can decode them.
    case unusable

    /// Decides by what the file is called.
    ///
    /// Servers mark stored archives so (`AddEncoding x-gzip .tgz`, the type that Python guesses, metadata
    /// of objects in S3), and encode others as they go out.
    ///
    /// - Parameters:
    ///   - coding: `Reply.coding`.
    ///   - names: Names of the file: suggested by the server, and by the URLs.
    ///   - type: The `Content-Type` field.
    ///   - decodable: The codings that libcurl decodes.
    init(_ coding: String, names: [String], type: String?, decodable: Set<String>) {
        let codings = coding.split(separator: ",").map { $0.filter { $0 != " " } }
        let suffixes = Set(names.compactMap(Self.suffix))
        let subtype = type.flatMap(Self.subtype)
        // Of an archive that is encoded once more the inner coding comes first.
        if codings.count == 1, let forms = Self.forms(of: codings[0]),
            !suffixes.isDisjoint(with: forms.suffixes)
                || subtype.map(forms.types.contains) == true
        {
            self = .saved
        } else {
            self = codings.allSatisfy { decodable.contains($0) } ? .decoded : .unusable
        }
    }

    /// Suffixes of names and subtypes of `application/` that say that a file is in a coding.
    private static func forms(of coding: String) -> (suffixes: Set<String>, types: Set<String>)? {
        switch coding {
        case "gzip", "x-gzip":
            (
                ["gz", "tgz", "taz", "svgz", "emz", "wmz", "vgz", "dgz", "cpgz", "tpz"],
                ["gzip", "x-gzip", "x-tgz", "x-gtar-compressed", "x-compressed-tar"]
            )
        case "bzip2", "x-bzip2", "bzip", "x-bzip":
            (
                ["bz2", "bz", "tbz", "tbz2", "tb2"],
                ["bzip2", "x-bzip2", "x-bzip", "x-bzip-compressed-tar"]
            )
        case "xz", "x-xz": (["xz", "txz"], ["x-xz", "xz", "x-xz-compressed-tar"])
        case "lzma", "x-lzma": (["lzma", "tlz"], ["x-lzma"])
        case "zstd", "x-zstd": (["zst", "tzst", "zstd"], ["zstd", "x-zstd"])
        case "compress", "x-compress": (["z", "taz"], ["x-compress", "compress"])
        case "br", "brotli": (["br"], ["x-brotli", "brotli"])
        default: nil
        }
    }

    private static func suffix(of name: String) -> String? {
        guard let dot = name.lastIndex(of: "."), dot > name.startIndex else { return nil }
        return name[name.index(after: dot)...].lowercased()
    }

    private static func subtype(of type: String) -> String? {
        let name = type.prefix { $0 != ";" }.filter { $0 != " " }.lowercased()
        return name.hasPrefix("application/") ? String(name.dropFirst(12)) : nil
    }
}
