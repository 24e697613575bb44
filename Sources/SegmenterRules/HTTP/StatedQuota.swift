import RawStructuredFieldValues

/// The number of requests that a server still allows, as a response states it.
///
/// The forms are `RateLimit` with `RateLimit-Policy` (draft-ietf-httpapi-ratelimit-headers-10), the
/// dictionary of draft 07, the three fields of draft 06, and those three with `X-` as GitHub and
/// others send them. Malformed fields are ignored. Pure.
package struct StatedQuota: Sendable, Hashable {
    /// The name of the policy; empty in the older forms.
    package var name: String
    /// The number of requests that remain.
    package var remaining: Double
    /// The seconds until the quota is full again.
    package var reset: Double
    /// The number of requests in a period; `nil` if it is not stated.
    package var total: Double?
    /// The length of that period in seconds; `nil` if it is not stated.
    package var window: Double?

    /// The number from which on a reset is a time in seconds since 1970, as GitHub states it.
    private static let leastTime: Int64 = 1_000_000_000

    package init(
        name: String = "", remaining: Double, reset: Double, total: Double? = nil,
        window: Double? = nil
    ) {
        self.name = name
        self.remaining = remaining
        self.reset = reset
        self.total = total
        self.window = window
    }

    /// Returns the quotas that a response states.
    ///
    /// - Parameters:
    ///   - reply: The response.
    ///   - date: The time of the server in seconds since 1970, for a reset that is a time.
    /// - Returns: The quotas; empty if the response states none.
    package static func all(in reply: Reply, date: @autoclosure () -> Int64) -> [StatedQuota] {
        // Most servers send none of these fields.
        let names = ["ratelimit", "ratelimit-remaining", "x-ratelimit-remaining"]
        guard names.contains(where: { reply[$0] != nil }) else { return [] }
        let policies = reply["ratelimit-policy"].map(policies) ?? []
        var found = reply["ratelimit"].map { structured($0, policies) } ?? []
        for prefix in ["ratelimit-", "x-ratelimit-"] where found.isEmpty {
            guard let remaining = reply[prefix + "remaining"].flatMap(first) else { continue }
            var reset = reply[prefix + "reset"].flatMap(first)
            if let time = reset, time >= leastTime { reset = max(0, time - date()) }
            found += [
                quota(
                    "", remaining, reset, policies, total: reply[prefix + "limit"].flatMap(first))
            ].compactMap { $0 }
        }
        // A quota of 0 requests is how some servers state that there is none.
        return found.filter { $0.total != 0 }
    }

    private struct Policy {
        var name = ""
        var total: Int64?
        var window: Int64?
    }

    private static func quota(
        _ name: String, _ remaining: Int64, _ reset: Int64?, _ policies: [Policy],
        total: Int64? = nil
    ) -> StatedQuota? {
        // With one policy, or a policy for each quota in older forms, the number decides.
        let policy =
            policies.first { !name.isEmpty && $0.name == name }
            ?? policies.first { total != nil && $0.total == total }
            ?? (policies.count == 1 ? policies[0] : nil)
        guard remaining >= 0, let reset = reset ?? policy?.window, reset >= 0 else { return nil }
        let most = total ?? policy?.total
        return StatedQuota(
            name: name, remaining: Double(remaining), reset: Double(reset),
            total: most.flatMap { $0 == 0 || $0 >= remaining ? Double($0) : nil },
            window: policy?.window.map(Double.init))
    }

    /// Parses `RateLimit`: a list with `r` and `t`, or the dictionary of draft 07.
    private static func structured(_ field: String, _ policies: [Policy]) -> [StatedQuota] {
        if let items = list(field) {
            return items.compactMap { name, _, parameters in
                parameters["r"].flatMap { quota(name, $0, parameters["t"], policies) }
            }
        }
        var parser = StructuredFieldValueParser(Array(field.utf8))
        guard let members = try? parser.parseDictionaryFieldValue() else { return [] }
        var numbers: [String: Int64] = [:]
        for (name, member) in members {
            guard case .item(let item) = member, case .integer(let number) = item.rfc9651BareItem
            else { continue }
            numbers[name] = number
        }
        guard let remaining = numbers["remaining"] else { return [] }
        return [quota("", remaining, numbers["reset"], policies, total: numbers["limit"])]
            .compactMap { $0 }
    }

    /// Parses `RateLimit-Policy`: a list of names with `q` and `w`, or of numbers with `w`.
    private static func policies(_ field: String) -> [Policy] {
        (list(field) ?? []).map { name, number, parameters in
            Policy(name: name, total: parameters["q"] ?? number, window: parameters["w"])
        }
    }

    /// Parses a list of items; `nil` if the field is not a list.
    private static func list(
        _ field: String
    ) -> [(name: String, number: Int64?, parameters: [String: Int64])]? {
        var parser = StructuredFieldValueParser(Array(field.utf8))
        guard let members = try? parser.parseListFieldValue() else { return nil }
        return members.compactMap { member in
            guard case .item(let item) = member else { return nil }
            var parameters: [String: Int64] = [:]
            for (name, value) in item.rfc9651Parameters {
                if case .integer(let number) = value { parameters[name] = number }
            }
            return switch item.rfc9651BareItem {
            case .string(let name), .token(let name): (name, nil, parameters)
            case .integer(let number): ("", number, parameters)
            default: nil
            }
        }
    }

    /// Returns the first number of a field, such as `100, 100;w=60`.
    private static func first(_ field: String) -> Int64? {
        Int64(digits: field.prefix { $0 != "," && $0 != ";" && $0 != " " })
    }
}
