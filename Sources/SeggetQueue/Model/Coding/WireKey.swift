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
    /// Refuses what is not known: in its place something else would be done than was asked for.
    ///
    /// The message names what is known, never what came.
    ///
    /// - Throws: `DecodingError`, when there is a key that is not among those that are known.
    func refuseOthers(than known: Set<String>) throws {
        guard !allKeys.allSatisfy({ known.contains($0.stringValue) }) else { return }
        throw wrong(nil, .unknownKey(known.sorted()))
    }

    /// The value of a key, or what stands for it when it is missing.
    func decode<Value: Decodable>(
        _ key: WireKey, else missing: @autoclosure () -> Value
    ) throws -> Value {
        try decodeIfPresent(Value.self, forKey: key) ?? missing()
    }

    /// An error about the value of a key, or about the object itself.
    func wrong(_ key: WireKey?, _ fault: MemberFault) -> DecodingError {
        .dataCorrupted(
            .init(
                codingPath: codingPath + (key.map { [$0] } ?? []), debugDescription: fault.text,
                underlyingError: fault))
    }
}

extension KeyedEncodingContainer<WireKey> {
    /// Writes a value unless it is the one that stands for a missing one.
    mutating func encode<Value: Encodable & Equatable>(
        _ value: Value, as key: WireKey, unless missing: Value
    ) throws {
        if value != missing { try encode(value, forKey: key) }
    }
}
