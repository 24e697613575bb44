/// A key of an object in JSON: any text, so that those that nobody knows are seen.
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
        throw wrong(
            nil,
            "it has an unknown key; the keys are \(known.sorted().joined(separator: ", "))")
    }

    /// The value of a key, or what stands for it when it is missing.
    func decode<Value: Decodable>(
        _ key: WireKey, else missing: @autoclosure () -> Value
    ) throws -> Value {
        try decodeIfPresent(Value.self, forKey: key) ?? missing()
    }

    /// An error about the value of a key, or about the object itself.
    func wrong(_ key: WireKey?, _ words: String) -> DecodingError {
        .dataCorrupted(
            .init(
                codingPath: codingPath + (key.map { [$0] } ?? []), debugDescription: words,
                underlyingError: WireComplaint(words: words)))
    }
}

/// What is wrong with a value in JSON, in words that have nothing of the value itself: it may be secret.
package struct WireComplaint: Error {
    /// The words.
    package let words: String
}

extension KeyedEncodingContainer<WireKey> {
    /// Writes a value unless it is the one that stands for a missing one.
    mutating func encode<Value: Encodable & Equatable>(
        _ value: Value, as key: WireKey, unless missing: Value
    ) throws {
        if value != missing { try encode(value, forKey: key) }
    }
}
