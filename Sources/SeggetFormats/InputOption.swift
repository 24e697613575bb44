import Segmenter

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

    /// aria2's options for a file that have no effect, because segget always does what they
    /// request.
    static let ignored: [String: InputOption] = {
        var ignored: [String: InputOption] = [:]
        for option in Aria2Option.table where option.isForItems && table[option.name] == nil {
            guard case .accepted = option.treatment else { continue }
            ignored[option.name] = checked(by: option)
        }
        // Lists use `single-request` for this.
        for name in ["max-file-not-found", "use-head"] {
            if let option = Aria2Option.named(name) { ignored[name] = checked(by: option) }
        }
        ignored["gid"] = InputOption("16 hexadecimal digits") { _, value in
            Download.ID(value.lowercased()) != nil
        }
        return ignored
    }()

    /// Returns the option with a name.
    static func named(_ name: String) -> InputOption? { table[name] ?? ignored[name] }

    private static func checked(by option: Aria2Option) -> InputOption {
        InputOption(option.value.words ?? "a text") { _, value in
            (try? option.value(of: value, home: "")) != nil
        }
    }

    private init(
        _ expected: String, _ apply: @escaping @Sendable (inout Target, String) -> Bool
    ) {
        self.expected = expected
        self.apply = apply
    }
}
