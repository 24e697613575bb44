/// What `--help` prints of the options, and the table of the guide.
package enum Aria2Help {
    /// The help for a tag, or for the options in whose names a word is found.
    ///
    /// - Parameter keyword: What to look for; with `nil` or a tag, which begins with `#`, all options.
    /// - Returns: The lines.
    package static func text(_ keyword: String?) -> String {
        var word = keyword ?? "#"
        if word.hasPrefix("--") { word = String(word.dropFirst(2).prefix { $0 != "=" }) }
        let isTag = word.hasPrefix("#")
        let found = Aria2Option.table.filter { !$0.isHidden && (isTag || $0.name.contains(word)) }
        var lines = ["Usage: aria2c [OPTIONS] [URI]..."]
        if found.isEmpty {
            lines.append("No option matching with '\(word)'.")
        } else {
            lines.append(
                isTag ? "Printing all options." : "Printing options whose name includes '\(word)'.")
        }
        lines.append("Options:")
        for option in found { lines += Self.lines(for: option) + [""] }
        return lines.joined(separator: "\n") + "\n"
    }

    /// How one option is used.
    static func lines(for option: Aria2Option) -> [String] {
        var lines = [" \(option.usage)"]
        if let values = option.value.words { lines.append("    Possible Values: \(values)") }
        if let words = option.treatment.words { lines.append("    \(words)") }
        return lines
    }

    /// The table of `docs/guide/aria2.md`.
    package static var table: String {
        var lines = ["| option | in lists | here |", "| --- | --- | --- |"]
        for option in Aria2Option.table where !option.isHidden {
            let usage = option.usage.replacing("|", with: "\\|")
            lines.append(
                "| `\(usage)` | \(option.isForItems ? "yes" : "") | "
                    + "\(option.treatment.words ?? "works") |")
        }
        return lines.joined(separator: "\n") + "\n"
    }
}

extension Aria2Option.Treatment {
    /// What it comes to in words; `nil` where the option works.
    var words: String? {
        switch self {
        case .honoured: nil
        case .accepted(let reason): "changes nothing: \(reason)"
        case .warned(let reason): "changes nothing, and a warning says so: \(reason)"
        case .refused(let reason): "refused: \(reason)"
        case .service: "refused: the service comes with a later version"
        }
    }
}

extension Aria2Option.Value {
    /// What an option takes, in aria2's notation.
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
