extension Download {
    /// Tells one download from all others, and stays the same when it is stored and read again.
    ///
    /// As a text, and so in JSON, it is 16 lower-case hexadecimal digits.
    public struct ID: Sendable, Hashable {
        private let number: UInt64

        /// Makes an id that no other download has: it is random.
        public init() { number = .random(in: .min ... .max) }

        private init(_ number: UInt64) { self.number = number }
    }
}

extension Download.ID: LosslessStringConvertible {
    /// Reads 16 lower-case hexadecimal digits; anything else is no id.
    public init?(_ text: String) {
        let isDigits = text.utf8.allSatisfy {
            (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0)
                || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains($0)
        }
        guard text.utf8.count == 16, isDigits, let number = UInt64(text, radix: 16) else {
            return nil
        }
        self.init(number)
    }

    /// 16 lower-case hexadecimal digits.
    public var description: String {
        let digits = String(number, radix: 16)
        return String(repeating: "0", count: 16 - digits.utf8.count) + digits
    }
}

extension Download.ID: Codable {
    /// Reads the text.
    ///
    /// - Throws: `DecodingError`, when it is no id.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let id = Self(try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(
                in: container, debugDescription: "not 16 lower-case hexadecimal digits")
        }
        self = id
    }

    /// Stores the text.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}
