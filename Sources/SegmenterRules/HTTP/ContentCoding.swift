/// The treatment of a response whose content coding was not requested.
///
/// Pure.
package enum ContentCoding: Hashable {
    /// The received bytes are saved unchanged, because the file itself is such an archive.
    case saved
    /// libcurl decodes the bytes, because the server encoded them only for the transfer.
    case decoded
    /// The coding is not supported.
    case unusable

    /// Chooses the treatment by the names and the media type of the file.
    ///
    /// Some servers mark stored archives with a content coding: by Apache's `AddEncoding x-gzip
    /// .tgz`, by the type that Python guesses, or by metadata of S3 objects. Others encode files
    /// for the transfer.
    ///
    /// - Parameters:
    ///   - coding: The value of `Reply.coding`.
    ///   - names: The names of the file that the server and the URLs suggest.
    ///   - type: The `Content-Type` field.
    ///   - decodable: The codings that libcurl decodes.
    package init(_ coding: String, names: [String], type: String?, decodable: Set<String>) {
        let codings = coding.split(separator: ",").map { $0.filter { $0 != " " } }
        let suffixes = Set(names.compactMap(Self.suffix))
        let subtype = type.flatMap(Self.subtype)
        // If an archive is encoded once more, there are two codings, so it is decoded.
        if codings.count == 1, let forms = Self.forms(of: codings[0]),
            !suffixes.isDisjoint(with: forms.suffixes)
                || subtype.map(forms.types.contains) == true
        {
            self = .saved
        } else {
            self = codings.allSatisfy { decodable.contains($0) } ? .decoded : .unusable
        }
    }

    /// Returns the name suffixes and `application/` subtypes of files that are stored in a coding.
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
