import ArgumentParser

/// What is given for the path of a file or folder.
package enum PathArgument {
    private static let standardOutput: Set = ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"]

    /// The file that `--output` names: `-` for standard output, by any of its names.
    package static func output(_ text: String) -> String {
        standardOutput.contains(text) ? "-" : text
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
            "`--\(option)` got a `~` that the shell has not replaced: write it without quotes, as "
                + "`--\(option) ~/…`, or `$HOME/…`; `./~/…` is a folder of that name")
    }
}
