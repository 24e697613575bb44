// Hub: the Hugging Face Hub as a source of listings. This folder knows the Hub's API and rules; it
// does not know how files are downloaded.

import Glibc
import SegmenterTransport

/// The address of files on the Hugging Face Hub.
///
/// The form is `hf://[models/|datasets/|spaces/]ORG/NAME[@REV][/PATH]`. A path that ends in `/` is a
/// folder. `hf://ORG/NAME:QUANT` means the file of a model with this quantization, or its parts.
public struct HubAddress: Sendable, Hashable {
    /// The type of a repository, as the Hub's API spells it.
    #if hasAttribute(nonexhaustive)
        @nonexhaustive
    #endif
    public enum Repository: String, Sendable, Hashable, CaseIterable {
        /// A model.
        case models
        /// A data set.
        case datasets
        /// A space.
        case spaces
    }

    /// Why a text is not an address of the Hub.
    #if hasAttribute(nonexhaustive)
        @nonexhaustive
    #endif
    public enum SyntaxError: Error, Sendable, Hashable {
        /// The repository is not given as `ORG/NAME`.
        case noRepository
        /// The type of repository is unknown; carries the word.
        case unknownType(String)
        /// The name of an organization or repository has characters that the Hub does not allow.
        case badName(String)
        /// The revision is empty.
        case noRevision
        /// The path has an empty component, `.` or `..`.
        case badPath(String)
        /// The quantization is empty, or stands beside a path, or in another repository than a model.
        case badQuantization
    }

    /// The type of the repository.
    public var type: Repository
    /// The organization or user, and the name: `ORG/NAME`.
    public var name: String
    /// The branch, tag, commit or reference, such as `refs/pr/1`.
    public var revision: String
    /// The path of the file or folder, without a slash at its end; empty for the whole repository.
    public var path: String
    /// Whether the path is a folder.
    public var isFolder: Bool
    /// The quantization of the model, such as `Q4_K_M`; `nil` if none is given.
    public var quantization: String?

    /// The scheme and what follows it.
    public static let prefix = "hf://"

    /// Parses an address that begins with ``prefix``; `nil` if the text does not.
    ///
    /// - Throws: `SyntaxError`.
    public init?(_ text: String) throws(SyntaxError) {
        guard text.lowercased().hasPrefix(Self.prefix) else { return nil }
        var parts = text.dropFirst(Self.prefix.count)
            .split(separator: "/", omittingEmptySubsequences: false)
        type = .models
        if let first = parts.first.map(String.init), let known = Repository(rawValue: first) {
            type = known
            parts.removeFirst()
        } else if let first = parts.first, parts.count > 2, ["kernels", "buckets"].contains(first) {
            throw .unknownType(String(first))
        }
        guard parts.count >= 2, !parts[0].isEmpty, !parts[1].isEmpty else { throw .noRepository }
        let organization = parts[0]
        var name = parts[1]
        var rest = parts[2...]
        revision = "main"
        if let at = name.firstIndex(of: "@") {
            var words = [name[name.index(after: at)...]]
            name = name[..<at]
            // These revisions have two slashes.
            if words == ["refs"], ["pr", "convert"].contains(rest.first), rest.count >= 2 {
                words += rest.prefix(2)
                rest = rest.dropFirst(2)
            }
            guard let decoded = percentDecodedText(words.joined(separator: "/")), !decoded.isEmpty
            else { throw .noRevision }
            revision = decoded
        }
        if let colon = name.firstIndex(of: ":") {
            let word = name[name.index(after: colon)...]
            name = name[..<colon]
            guard !word.isEmpty, type == .models, rest.allSatisfy(\.isEmpty) else {
                throw .badQuantization
            }
            quantization = String(word)
        }
        for word in [organization, name] where !Self.isName(word) { throw .badName(String(word)) }
        self.name = "\(organization)/\(name)"
        isFolder = rest.last?.isEmpty ?? true
        if isFolder { rest = rest.dropLast() }
        path = rest.joined(separator: "/")
        guard path.isEmpty || HubPath.isUsable(path) else { throw .badPath(path) }
    }

    /// Whether a word can be the name of an organization or repository.
    private static func isName(_ word: Substring) -> Bool {
        let isWord = word.utf8.allSatisfy { byte in
            byte < 0x80 && (isalnum(Int32(byte)) != 0 || "-_.".utf8.contains(byte))
        }
        return isWord && !word.isEmpty && word.utf8.count <= 96
            && !word.contains("..") && !word.contains("--")
            && !"-.".contains(word.first ?? ".") && !"-.".contains(word.last ?? ".")
    }

    /// The address with all that is known, which is the same however it was written.
    public var text: String {
        let quantization = quantization.map { ":\($0)" } ?? ""
        let path = path.isEmpty ? "" : "/\(path)" + (isFolder ? "/" : "")
        return "\(Self.prefix)\(type)/\(name)\(quantization)@\(revision)\(path)"
    }

    /// Returns the `hf://` address of what a page of the Hub shows; `nil` for other URLs.
    ///
    /// Such pages have `/blob/` or `/tree/` in their URLs, and are no files.
    ///
    /// - Parameters:
    ///   - url: The URL.
    ///   - endpoint: The URL of another server of the Hub; `nil` for none.
    /// - Returns: The address.
    public static func form(ofPage url: String, endpoint: String?) -> String? {
        guard let url = WebURL(url),
            (HubAccess.own + ["http://huggingface.co"] + [endpoint].compactMap { $0 }).contains(
                where: { WebURL($0)?.origin == url.origin }
            )
        else { return nil }
        var parts = url.redacted.split(separator: "/").dropFirst(2).map(String.init)
        let type = parts.first.flatMap(Repository.init) ?? .models
        if parts.first == type.rawValue { parts.removeFirst() }
        guard parts.count >= 4, ["blob", "tree"].contains(parts[2]) else { return nil }
        let path = parts.dropFirst(4).joined(separator: "/")
        return "\(prefix)\(type == .models ? "" : "\(type)/")\(parts[0])/\(parts[1])@\(parts[3])"
            + (path.isEmpty ? "" : "/\(path)") + (parts[2] == "tree" && !path.isEmpty ? "/" : "")
    }

    /// The URL of the repository's page.
    func page(at endpoint: String) -> String {
        endpoint + (type == .models ? "/" : "/\(type)/") + name
    }
}

/// Paths of files in repositories, which become paths on this machine.
enum HubPath {
    /// Whether a path leads to a place below its folder, on this and other systems.
    ///
    /// The rule is that of `huggingface_hub`: no component, whether separated by `/` or `\`, is
    /// `..`, and none is absolute or has a drive.
    static func isUsable(_ path: String) -> Bool {
        let parts = path.split(omittingEmptySubsequences: false) { $0 == "/" || $0 == "\\" }
        return parts.allSatisfy { part in
            !part.isEmpty && part != "." && part != ".."
                && !(part.utf8.count >= 2 && part.utf8.dropFirst().first == UInt8(ascii: ":")
                    && part.first?.isLetter == true)
        }
    }
}
