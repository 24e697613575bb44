import ArgumentParser
import SeggetFormats

/// Parsers for options whose value is a path.
///
/// Every option that takes the path of a file or folder uses one of these functions.
package enum PathArgument {
    private static let standardOutput: Set = ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"]

    /// Parses the path of a file.
    ///
    /// - Throws: `ValidationError` for a URL. The parser adds the option's name.
    package static func file(_ text: String) throws -> String {
        try path(text, takes: "the path of a file, not a URL")
    }

    /// Parses the path of a folder.
    ///
    /// - Throws: `ValidationError` for a URL. The parser adds the option's name.
    package static func folder(_ text: String) throws -> String {
        try path(text, takes: "the path of a folder, not a URL")
    }

    /// Parses the path of the queue's file.
    ///
    /// - Throws: `ValidationError` for a URL and for an empty path.
    package static func queue(_ text: String) throws -> String {
        let takes = "the path of the queue's file"
        let more = "; \(QueueFileOption.instead)"
        guard !text.isEmpty else { throw ValidationError("it takes \(takes)\(more)") }
        return try path(text, takes: "\(takes), not a URL\(more)")
    }

    /// Parses the value of `--output`; all names of standard output become `-`.
    ///
    /// - Throws: `ValidationError` for a URL.
    package static func output(_ text: String) throws -> String {
        standardOutput.contains(text) ? "-" : try file(text)
    }

    private static func path(_ text: String, takes what: String) throws -> String {
        guard !PathText.isURL(text) else { throw ValidationError("it takes \(what)") }
        return text
    }

    /// Refuses a `~` that the shell did not expand, because it was quoted or followed `=`.
    ///
    /// - Parameters:
    ///   - path: The path; `nil` if none is given.
    ///   - option: The name of the option, without dashes.
    /// - Throws: `ValidationError`.
    package static func checkTilde(_ path: String?, _ option: String) throws {
        guard let path, path == "~" || path.hasPrefix("~/") else { return }
        throw ValidationError(
            "`--\(option)` got a `~` that the shell did not expand: write it without quotes, as "
                + "`--\(option) ~/…`, or `$HOME/…`; `./~/…` is a folder of that name")
    }
}
