import Segmenter

/// An option that an input file may give to one file.
struct InputOption: Sendable {
    /// What options change.
    struct Target: Sendable {
        var options = DownloadOptions()
        /// Folder of the file.
        var folder = "."
        /// Name of the file in the folder; `nil` is for the server or the URL to suggest.
        var name: String?
    }

    /// What it takes, for messages.
    let expected: String
    /// Applies a value; `false` when it is none that the option takes, with the target unchanged.
    let apply: @Sendable (inout Target, String) -> Bool

    /// All options by name: those of the catalogue that lists may set, under segget's names and aria2's.
    ///
    /// Where an option is given several times, the last one counts; `header` adds up.
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

    /// Where the file goes.
    private static let place: [String: InputOption] = [
        "out": .init("the name of a file in `dir`, or in a folder below it") { target, value in
            let steps = value.split(separator: "/", omittingEmptySubsequences: false)
            guard steps.first != "", steps.last != "", !steps.contains(".."),
                !value.hasPrefix("~/"), !PathText.isURL(value)
            else { return false }
            target.name = value
            return true
        },
        // The scripts for Hugging Face name the folder of files at the root so.
        "dir": .init("a folder, without `~`, which no shell replaces here, and no URL") {
            target, value in
            guard value != "~", !value.hasPrefix("~/"), !PathText.isURL(value) else { return false }
            target.folder = value.isEmpty ? "." : value
            return true
        },
    ]

    /// aria2's options of a file that change nothing, because what they mean is done anyway.
    static let ignored: [String: InputOption] = {
        var ignored: [String: InputOption] = [:]
        for option in Aria2Option.table where option.isForItems && table[option.name] == nil {
            guard case .accepted = option.treatment else { continue }
            ignored[option.name] = checked(by: option)
        }
        // `single-request` says it in lists.
        for name in ["max-file-not-found", "use-head"] {
            if let option = Aria2Option.named(name) { ignored[name] = checked(by: option) }
        }
        ignored["gid"] = InputOption("16 hexadecimal digits") { _, value in
            Download.ID(value.lowercased()) != nil
        }
        return ignored
    }()

    /// The option with a name.
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
