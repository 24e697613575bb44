extension Download {
    /// An id that is unique among all downloads and does not change when it is stored.
    ///
    /// As text, and in JSON, an id is 16 lowercase hexadecimal digits.
    public struct ID: Sendable, Hashable {
        private let number: UInt64

        /// Creates a random id.
        public init() { number = .random(in: .min ... .max) }

        private init(_ number: UInt64) { self.number = number }
    }
}

extension Download.ID: LosslessStringConvertible {
    /// Parses 16 lowercase hexadecimal digits; returns `nil` for any other text.
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

    /// The id as 16 lowercase hexadecimal digits.
    public var description: String {
        let digits = String(number, radix: 16)
        return String(repeating: "0", count: 16 - digits.utf8.count) + digits
    }
}

extension Download.ID: Codable {
    /// Decodes an id from its text.
    ///
    /// - Throws: `DecodingError` if the text is not an id.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let id = Self(try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(
                in: container, debugDescription: "not 16 lower-case hexadecimal digits")
        }
        self = id
    }

    /// Encodes the id as its text.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}
