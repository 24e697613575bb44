import SeggetReports
import SeggetQueue

/// Reads the parameters of a call by position, and reports mistakes in aria2's words.
struct RPCParameters: Sendable {
    let values: [JSONValue]

    init(_ values: [JSONValue]) { self.values = values }

    private subscript(place: Int) -> JSONValue? {
        values.indices.contains(place) ? values[place] : nil
    }

    private func required<Value>(
        _ place: Int, _ read: (JSONValue) -> Value?
    ) throws(RPCError) -> Value {
        guard let value = self[place] else {
            throw RPCError("The parameter at \(place) is required but missing.")
        }
        guard let read = read(value) else {
            throw RPCError("The parameter at \(place) has wrong type.")
        }
        return read
    }

    private func optional<Value>(
        _ place: Int, _ read: (JSONValue) -> Value?
    ) throws(RPCError) -> Value? {
        guard values.indices.contains(place) else { return nil }
        return try required(place, read)
    }

    /// Returns a text.
    func text(_ place: Int) throws(RPCError) -> String { try required(place, \.string) }

    /// Returns a whole number.
    func integer(_ place: Int) throws(RPCError) -> Int64 { try required(place, \.integer) }

    /// Returns a whole number of at least 0.
    func count(_ place: Int) throws(RPCError) -> Int {
        let number = try integer(place)
        guard number >= 0 else { throw Self.tooSmall(place, 0) }
        return Int(clamping: number)
    }

    /// Returns a position of at least 0; `nil` if it is missing.
    func position(_ place: Int) throws(RPCError) -> Int? {
        guard let number = try optional(place, \.integer) else { return nil }
        guard number >= 0 else { throw Self.tooSmall(place, 0) }
        return Int(clamping: number)
    }

    private static func tooSmall(_ place: Int, _ least: Int) -> RPCError {
        RPCError(
            "The integer parameter at \(place) has invalid value: the value must be greater than or "
                + "equal to \(least).")
    }

    /// Returns a list of texts, without elements of other types.
    func texts(_ place: Int) throws(RPCError) -> [String] {
        try required(place, \.array).compactMap(\.string)
    }

    /// Returns the requested keys; `nil` for all.
    func keys(_ place: Int) throws(RPCError) -> Set<String>? {
        guard let list = try optional(place, \.array) else { return nil }
        let keys = Set(list.compactMap(\.string))
        return keys.isEmpty ? nil : keys
    }

    /// Returns an object; an empty one if it is missing.
    func object(_ place: Int) throws(RPCError) -> [String: JSONValue] {
        try optional(place, \.object) ?? [:]
    }

    /// Returns an object.
    func members(_ place: Int) throws(RPCError) -> [String: JSONValue] {
        try required(place, \.object)
    }

    /// Returns a list of calls.
    func calls(_ place: Int) throws(RPCError) -> [JSONValue] { try required(place, \.array) }
}
