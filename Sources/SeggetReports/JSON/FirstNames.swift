/// The names that `/v1/` of the API and `--json=1` use: those of versions before 0.3, until 0.4.
///
/// Pure. `docs/api.md` and `docs/json.md` list them. Whatever is not named here has the same name in both versions.
package enum FirstNames {
    /// Current names of notices, with their first ones.
    static let notices = [
        "response_refused": "reply_refused", "stalled": "silence", "stall_over": "silence_over",
        "size_unknown": "end_unproven", "server_limit": "ceiling",
        "version_unchecked": "end_unchecked", "mirror_on_standby": "mirror_spared",
        "mirror_is_primary": "mirror_leads",
    ]

    /// Current words, with their first ones, by the keys of the text that has one.
    static let words = [
        "code": ["has_worker": "worked_already"],
        "event": notices.merging(["schedule": "plan"]) { first, _ in first },
        "file": ["missing": "gone"], "notice": notices, "phase": ["waiting_for_network": "waiting"],
        "state": ["waiting_for_response": "waiting_for_reply"], "states": ["paused": "held"],
        "wanted": ["paused": "held"],
    ]

    /// Current keys, with their first ones, whatever object has them.
    static let keys = ["pause_reason": "paused", "transfer": "plan"]

    /// Replaces the current names in a value by the first ones.
    ///
    /// - Parameter value: A response of the API, a line of `--json`, or a request to a worker of 0.2.
    /// - Returns: The value with the first names.
    package static func first(_ value: JSONValue) -> JSONValue {
        rename(value, keys: keys, words: words) { members in
            if members["state"] == "paused", members["wanted"] != nil {
                members["state"] = "waiting"
            }
            if members["command"] == "add" {
                members.move("paused", to: "held")
                // A worker of 0.2 does not know the key, and always does what `true` means.
                members["known_anywhere"] = nil
            }
            members.moveCount("paused", to: "held")
            if members["api"] == "v2" { members["api"] = "v1" }
            if members["format"] == 2 { members["format"] = 1 }
        }
    }

    /// Replaces the first names in a value by the current ones.
    ///
    /// - Parameter value: A request of a client of 0.2, or a response of a worker of 0.2.
    /// - Returns: The value with the current names.
    package static func current(_ value: JSONValue) -> JSONValue {
        rename(value, keys: Self.inverse(keys), words: words.mapValues(Self.inverse)) { members in
            if members["command"] == "add" { members.move("held", to: "paused") }
            if members["wanted"] == "held", let state = members["state"]?.string,
                !["completed", "failed", "cancelled"].contains(state)
            {
                members["state"] = "paused"
            }
            members.moveCount("held", to: "paused")
        }
    }

    /// Returns the current name of a notice that a version before 0.3 has stored; unchanged if it has no other.
    package static func currentNotice(_ name: String) -> String { currentNotices[name] ?? name }

    private static let currentNotices = inverse(notices)

    private static func inverse(_ names: [String: String]) -> [String: String] {
        Dictionary(uniqueKeysWithValues: names.map { ($1, $0) })
    }

    /// Renames the keys and words of a value, from the outside in; `special` first renames those members of
    /// an object that depend on more than a key and its value.
    private static func rename(
        _ value: JSONValue, keys: [String: String], words: [String: [String: String]],
        special: (inout [String: JSONValue]) -> Void
    ) -> JSONValue {
        switch value {
        case .array(let values):
            return .array(values.map { rename($0, keys: keys, words: words, special: special) })
        case .object(var members):
            // Tags are the user's own words.
            if members["tags"]?.object != nil { return value }
            special(&members)
            var renamed: [String: JSONValue] = [:]
            for (key, member) in members {
                // A flag or a count of the same name is something else: these are all texts.
                let name = member.string == nil ? key : keys[key] ?? key
                // Options have the same names in both versions.
                renamed[name] =
                    key == "options"
                    ? member
                    : words[key].map { word(member, $0) }
                        ?? rename(member, keys: keys, words: words, special: special)
            }
            return .object(renamed)
        default: return value
        }
    }

    /// Renames a word, or each of several.
    private static func word(_ value: JSONValue, _ names: [String: String]) -> JSONValue {
        switch value {
        case .string(let text): .string(names[text] ?? text)
        case .array(let values): .array(values.map { word($0, names) })
        default: value
        }
    }
}

extension [String: JSONValue] {
    fileprivate mutating func move(_ key: String, to name: String) {
        if let value = removeValue(forKey: key) { self[name] = value }
    }

    /// Renames one of the states in `counts`.
    fileprivate mutating func moveCount(_ state: String, to name: String) {
        guard var counts = self["counts"]?.object else { return }
        counts.move(state, to: name)
        self["counts"] = .object(counts)
    }
}
