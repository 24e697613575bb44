import ArgumentParser
import SeggetFormats

/// What is given for the path of a file or folder.
///
/// Each option that takes one reads it by a function from here.
package enum PathArgument {
    private static let standardOutput: Set = ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"]

    /// The path of a file.
    ///
    /// - Throws: `ValidationError` for a URL. The parser names the option.
    package static func file(_ text: String) throws -> String {
        try path(text, takes: "the path of a file, not a URL")
    }

    /// The path of a folder.
    ///
    /// - Throws: `ValidationError` for a URL. The parser names the option.
    package static func folder(_ text: String) throws -> String {
        try path(text, takes: "the path of a folder, not a URL")
    }

    /// The path of the queue's file.
    ///
    /// - Throws: `ValidationError` for a URL and for an empty path.
    package static func queue(_ text: String) throws -> String {
        let takes = "the path of the queue's file"
        let more = "; \(QueueFileOption.instead)"
        guard !text.isEmpty else { throw ValidationError("it takes \(takes)\(more)") }
        return try path(text, takes: "\(takes), not a URL\(more)")
    }

    /// The file that `--output` names: `-` for standard output, by any of its names.
    ///
    /// - Throws: `ValidationError` for a URL.
    package static func output(_ text: String) throws -> String {
        standardOutput.contains(text) ? "-" : try file(text)
    }

    private static func path(_ text: String, takes what: String) throws -> String {
        guard !PathText.isURL(text) else { throw ValidationError("it takes \(what)") }
        return text
    }

    /// Refuses a `~` that a shell was to replace, and has not: in quotes, or behind `=`.
    ///
    /// - Parameters:
    ///   - path: The path; `nil` for none.
    ///   - option: The name of the option that it was given to.
    /// - Throws: `ValidationError`.
    package static func checkTilde(_ path: String?, _ option: String) throws {
        guard let path, path == "~" || path.hasPrefix("~/") else { return }
        throw ValidationError(
            "`--\(option)` got a `~` that the shell did not expand: write it without quotes, as "
                + "`--\(option) ~/…`, or `$HOME/…`; `./~/…` is a folder of that name")
    }
}
