package import SeggetFormats
import Segmenter

extension Aria2Option {
    /// aria2's options that have no effect in segget's own lists (`segget get -i`), because segget
    /// always does what they request.
    package static let ignoredInLists: [String: IgnoredOption] = {
        let ownNames = Set(InputFile.optionNames)
        var ignored: [String: IgnoredOption] = [:]
        for option in table where option.isForItems && !ownNames.contains(option.name) {
            guard case .accepted = option.treatment else { continue }
            ignored[option.name] = option.ignored
        }
        // Lists use `single-request` for this.
        for name in ["max-file-not-found", "use-head"] {
            ignored[name] = named(name)?.ignored
        }
        ignored["gid"] = IgnoredOption("16 hexadecimal digits") {
            Download.ID($0.lowercased()) != nil
        }
        return ignored
    }()

    private var ignored: IgnoredOption {
        IgnoredOption(value.words ?? "a text") { (try? value(of: $0, home: "")) != nil }
    }
}
