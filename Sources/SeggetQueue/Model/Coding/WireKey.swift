import SeggetReports

/// A key of an object in JSON: any text, so that unknown keys are found.
struct WireKey: CodingKey, Hashable, ExpressibleByStringLiteral {
    let stringValue: String
    var intValue: Int? { nil }

    init(stringValue: String) { self.stringValue = stringValue }
    init(stringLiteral value: String) { stringValue = value }
    init?(intValue: Int) { nil }
}

extension KeyedDecodingContainer<WireKey> {
    /// Refuses unknown keys, because ignoring them would do something else than was requested.
    ///
    /// The message names the known keys, never the unknown one.
    ///
    /// - Throws: `DecodingError`, if there is a key that is not among the known ones.
    func refuseOthers(than known: Set<String>) throws {
        guard !allKeys.allSatisfy({ known.contains($0.stringValue) }) else { return }
        throw wrong(nil, .unknownKey(known.sorted()))
    }

    /// Returns the value of a key, or a default if it is missing.
    func decode<Value: Decodable>(
        _ key: WireKey, else missing: @autoclosure () -> Value
    ) throws -> Value {
        try decodeIfPresent(Value.self, forKey: key) ?? missing()
    }

    /// Returns an error about the value of a key, or about the object.
    func wrong(_ key: WireKey?, _ fault: MemberFault) -> DecodingError {
        .dataCorrupted(
            .init(
                codingPath: codingPath + (key.map { [$0] } ?? []), debugDescription: fault.text,
                underlyingError: fault))
    }
}

extension KeyedEncodingContainer<WireKey> {
    /// Encodes a value unless it is the default.
    mutating func encode<Value: Encodable & Equatable>(
        _ value: Value, as key: WireKey, unless missing: Value
    ) throws {
        if value != missing { try encode(value, forKey: key) }
    }
}
