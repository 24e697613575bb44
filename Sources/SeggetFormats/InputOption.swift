import Segmenter

/// An option that may occur in an input file, and that has no effect.
package struct IgnoredOption: Sendable {
    /// The values that the option takes, for messages.
    package let expected: String
    /// Returns whether the option takes a value.
    package let takes: @Sendable (String) -> Bool

    /// Creates an option.
    package init(_ expected: String, _ takes: @escaping @Sendable (String) -> Bool) {
        self.expected = expected
        self.takes = takes
    }
}

/// An option of a file in an input file.
struct InputOption: Sendable {
    /// The values that options change.
    struct Target: Sendable {
        var options = DownloadOptions()
        /// The folder of the file.
        var folder = "."
        /// The name of the file in the folder; `nil` if the server or the URL determines it.
        var name: String?
    }

    /// The values that the option takes, for messages.
    let expected: String
    /// Applies a value; returns `false`, with the target unchanged, if the option does not take
    /// it.
    let apply: @Sendable (inout Target, String) -> Bool

    /// The options by name: those of the catalogue that lists may set, under the names of segget
    /// and aria2.
    ///
    /// If an option is given several times, the last value counts; `header` accumulates.
    static let table: [String: InputOption] = {
        var table = place
        for option in TransferOption.table where option.places.contains(.list) {
            for name in option.names where name.surfaces.contains(.list) {
                table[name.text] = InputOption(name.kind(of: option).expected) { target, value in
                    name.read(option, &target.options, value)
                }
            }
        }
        return table
    }()

    /// The options for the destination.
    private static let place: [String: InputOption] = [
        "out": .init("the name of a file in `dir`, or in a folder below it") { target, value in
            let steps = value.split(separator: "/", omittingEmptySubsequences: false)
            guard steps.first != "", steps.last != "", !steps.contains(".."),
                !value.hasPrefix("~/"), !PathText.isURL(value)
            else { return false }
            target.name = value
            return true
        },
        // An empty `dir` is valid: scripts for Hugging Face write it for files at the root.
        "dir": .init("a folder, without `~`, which no shell replaces here, and no URL") {
            target, value in
            guard value != "~", !value.hasPrefix("~/"), !PathText.isURL(value) else { return false }
            target.folder = value.isEmpty ? "." : value
            return true
        },
    ]

    private init(
        _ expected: String, _ apply: @escaping @Sendable (inout Target, String) -> Bool
    ) {
        self.expected = expected
        self.apply = apply
    }
}
