package import ArgumentParser
import Glibc
package import SeggetReports
package import Segmenter

/// The options for the Hub's cache, and for the path of its files.
package struct HubCacheOptions: ParsableArguments {
    @Flag(
        help: ArgumentHelp(
            "Use files in the Hub's cache that segget did not verify, without reading them.",
            discussion: """
                Without it, segget reads each of them once. The last line says how many were not \
                checked.
                """))
    package var trustCache = false

    @Flag(help: "Write the path of the Hub's files to standard output, and nothing else.")
    package var printPath = false

    package init() {}
}

/// The option for access to the Hugging Face Hub.
package struct HubOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Read the token for the Hugging Face Hub from this file (default: as `hf` does).",
            discussion: """
                Without it, HF_TOKEN, HF_TOKEN_PATH and the file that `hf auth login` writes are \
                used. The token goes to huggingface.co, hf.co and the server of HF_ENDPOINT only.
                """,
            valueName: "file"),
        transform: PathArgument.file)
    package var hfTokenFile: String?

    package init() {}

    /// Returns the only `hf://` address among the arguments; `nil` if there is none.
    ///
    /// - Parameters:
    ///   - urls: The arguments.
    ///   - isAlone: Whether no list or plan is given.
    /// - Returns: The address.
    /// - Throws: `ValidationError`.
    package static func address(among urls: [String], isAlone: Bool) throws -> HubAddress? {
        do throws(HubAddress.SyntaxError) {
            for url in urls {
                guard let address = try HubAddress(url) else { continue }
                guard urls.count == 1, isAlone else { break }
                return address
            }
        } catch {
            throw ValidationError(Diagnostic.describe(error))
        }
        guard urls.allSatisfy({ !$0.lowercased().hasPrefix(HubAddress.prefix) }) else {
            throw ValidationError("an `hf://` address is given alone, without other URLs or lists")
        }
        let endpoint = EnvironmentText.value("HF_ENDPOINT")
        for url in urls {
            guard let form = HubAddress.form(ofPage: url, endpoint: endpoint) else { continue }
            throw ValidationError(
                "the URL of a page of the Hub is no file; write `\(PrintableText.escape(form))`")
        }
        return nil
    }

    /// Returns the Hub's server and token, by the option and the environment.
    ///
    /// - Throws: `ValidationError`, if the file cannot be read, or a value cannot be used.
    package func access() throws -> HubAccess {
        let grant = try grant()
        do throws(DownloadError.Reason) {
            return try HubAccess(grant)
        } catch {
            throw ValidationError(HubWords.unusable(error, of: grant))
        }
    }

    /// Returns where the token is, by the Hub's rules and order.
    ///
    /// - Throws: `ValidationError`, if the file of the option cannot be read.
    package func grant() throws -> HubGrant {
        var grant = HubGrant(endpoint: Self.variable("HF_ENDPOINT"))
        if let hfTokenFile {
            guard Glibc.access(hfTokenFile, R_OK) == 0 else {
                throw ValidationError("`--hf-token-file` cannot be read: \(hfTokenFile)")
            }
            grant.file = hfTokenFile
            return grant
        }
        guard !Self.isSet("HF_HUB_DISABLE_IMPLICIT_TOKEN") else { return grant }
        for name in ["HF_TOKEN", "HUGGING_FACE_HUB_TOKEN"] where Self.variable(name) != nil {
            grant.variable = name
            return grant
        }
        let path = Self.path("HF_TOKEN_PATH") ?? Self.home.map { "\($0)/token" }
        if let path, Glibc.access(path, R_OK) == 0 { grant.file = path }
        return grant
    }

    /// The folder of the Hub's programs, `HF_HOME`; `nil` without a home.
    private static var home: String? {
        let cache = path("XDG_CACHE_HOME") ?? variable("HOME").map { "\($0)/.cache" }
        return path("HF_HOME") ?? cache.map { "\($0)/huggingface" }
    }

    /// The path of the Hub's cache.
    ///
    /// - Throws: `ValidationError`, if nothing says where it is.
    package static var cache: String {
        get throws {
            let path =
                path("HF_HUB_CACHE") ?? path("HUGGINGFACE_HUB_CACHE") ?? home.map { "\($0)/hub" }
            guard let path else {
                throw ValidationError("the Hub's cache has no place: set HOME or HF_HOME")
            }
            return path
        }
    }

    /// Returns a variable with a path; `~/` at its beginning is the home.
    private static func path(_ name: String) -> String? {
        guard let text = variable(name) else { return nil }
        guard text.hasPrefix("~/"), let home = variable("HOME") else { return text }
        return home + text.dropFirst()
    }

    /// Whether the environment forbids requests to the Hub.
    static var isOffline: Bool { isSet("HF_HUB_OFFLINE") || isSet("TRANSFORMERS_OFFLINE") }

    /// Whether a variable has a value that the Hub's programs read as true.
    private static func isSet(_ name: String) -> Bool {
        ["1", "ON", "YES", "TRUE"].contains(variable(name)?.uppercased())
    }

    /// Returns a variable that is set and not empty.
    private static func variable(_ name: String) -> String? {
        EnvironmentText.value(name).flatMap { $0.isEmpty ? nil : $0 }
    }
}

extension HubAccess {
    /// The note about where the token goes, if that is not the Hub itself; `nil` for none.
    package var note: Message? {
        guard token != nil, !isHub else { return nil }
        return Message(
            .note,
            token(for: endpoint) == nil
                ? "\(endpoint) gets no token, because it is http (HF_ENDPOINT)"
                : "the token for the Hub goes to \(endpoint), too (HF_ENDPOINT)")
    }
}
