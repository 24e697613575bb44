/// The output of `--help`, and the table of options in the guide.
package enum Aria2Help {
    /// Returns the help for a tag, or for the options whose names contain a word.
    ///
    /// - Parameter keyword: The word to search for. A tag, which begins with `#`, selects all
    ///   options; `nil` selects those that have an effect.
    /// - Returns: The lines.
    package static func text(_ keyword: String?) -> String {
        var word = keyword ?? ""
        if word.hasPrefix("--") { word = String(word.dropFirst(2).prefix { $0 != "=" }) }
        let isTag = word.hasPrefix("#")
        let found = Aria2Option.table.filter { option in
            if keyword == nil, case .honoured = option.treatment { return true }
            return keyword != nil && !option.isHidden && (isTag || option.name.contains(word))
        }
        let what =
            switch keyword {
            case nil: "Printing the options that have an effect here; '--help=#all' prints all."
            case _ where isTag: "Printing all options."
            case _ where found.isEmpty: "No option matching with '\(word)'."
            default: "Printing options whose name includes '\(word)'."
            }
        var lines = ["Usage: aria2c [OPTIONS] [URI]...", what, "Options:"]
        for option in found { lines += Self.lines(for: option) }
        return lines.joined(separator: "\n") + "\n"
    }

    /// Returns the help for one option.
    static func lines(for option: Aria2Option) -> [String] {
        let values = option.value.words.map { "      Possible Values: \($0)" }
        return [" \(option.usage)", "      \(option.treatment.words)"] + (values.map { [$0] } ?? [])
    }

    /// The table of `docs/guide/aria2.md`.
    package static var table: String {
        var lines = ["| option | in lists | here |", "| --- | --- | --- |"]
        for option in Aria2Option.table where !option.isHidden {
            let usage = option.usage.replacing("|", with: "\\|")
            lines.append(
                "| `\(usage)` | \(option.isForItems ? "yes" : "") | "
                    + "\(option.treatment.words) |")
        }
        return lines.joined(separator: "\n") + "\n"
    }
}

extension Aria2Option.Treatment {
    /// The treatment as text.
    var words: String {
        switch self {
        case .honoured(let meaning): meaning
        case .accepted(let reason): "changes nothing: \(reason)"
        case .warned(let reason): "changes nothing, with a warning: \(reason)"
        case .refused(let reason): "refused: \(reason)"
        case .service(let what): what
        }
    }
}

extension Aria2Option.Value {
    /// The possible values, in aria2's notation; `nil` for any text.
    var words: String? {
        switch self {
        case .flag: "true, false"
        case .number(let least, let most), .size(let least, let most):
            "\(least)-\(most.map(String.init) ?? "*")"
        case .decimal(let least): "\(least)-*"
        case .choice(let words): words.joined(separator: ", ")
        case .path: "/path/to/file"
        case .checksum, .hostKey: "HASH_TYPE=HEX_DIGEST"
        case .proxy: "[http://][USER:PASSWORD@]HOST[:PORT]"
        case .ranges(let least, let most): "\(least)-\(most)"
        case .indexPath: "INDEX=PATH"
        case .hostPort: "HOST:PORT"
        case .pieces: "head[=SIZE], tail[=SIZE]"
        case .concurrency: "true, false, A:B"
        case .text, .keyword, .nothing: nil
        }
    }
}
