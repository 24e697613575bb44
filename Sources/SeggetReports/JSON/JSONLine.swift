import FoundationEssentials

/// One event of `--json`: its name and time, with the payload's keys in the same object.
public struct JSONLine<Payload: Encodable>: Encodable {
    /// The name of the event.
    public var event: String
    /// Seconds since segget started.
    public var time: Double
    /// The number of the file, from 1; `nil` for a single file, or for no file.
    public var file: Int?
    /// The other keys of the event.
    public var payload: Payload

    private enum CodingKeys: CodingKey {
        case event, time, file
    }

    /// Creates the line of an event; `time` is in seconds since the start of the run.
    public init(event: String, time: Double, file: Int? = nil, payload: Payload) {
        self.event = event
        self.time = time
        self.file = file
        self.payload = payload
    }

    /// Encodes the payload's keys into the same object.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(event, forKey: .event)
        try container.encode(time.thousandths, forKey: .time)
        try container.encodeIfPresent(file, forKey: .file)
        try payload.encode(to: encoder)
    }
}

/// The version of the output of `--json`.
public enum JSONFormat: Sendable, Hashable {
    /// Format 1: the names of versions before 0.3; until 0.4.
    case first
    /// Format 2.
    case current
}

/// How JSON is written.
public enum JSONText {
    /// Returns a value as JSON on one line, without a line break; `nil` for a value that JSON cannot represent.
    public static func line(_ value: some Encodable, _ format: JSONFormat = .current) -> String? {
        line(value, format, adding: { $0 })
    }

    /// Returns the same; `adding` adds to format 1 what only that format has.
    package static func line(
        _ value: some Encodable, _ format: JSONFormat, adding: (JSONValue) -> JSONValue
    ) -> String? {
        let encoder = JSONEncoder()
        encoder.keyEncodingStrategy = .convertToSnakeCase
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        guard var data = try? encoder.encode(value) else { return nil }
        if format == .first {
            guard let value = JSONValue.read(data) else { return nil }
            data = FirstNames.first(adding(value)).data
        }
        return escape(String(decoding: data, as: UTF8.self))
    }

    /// Escapes as `\uXXXX` the characters that JSON allows, but that a terminal may interpret.
    ///
    /// Such characters occur only in strings, where the escape is equivalent.
    private static func escape(_ json: String) -> String {
        guard json.unicodeScalars.contains(where: PrintableText.isUnsafe) else { return json }
        return json.unicodeScalars.reduce(into: "") { result, scalar in
            if PrintableText.isUnsafe(scalar) {
                let digits = String(scalar.value, radix: 16)
                result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            } else {
                result.unicodeScalars.append(scalar)
            }
        }
    }
}

extension Double {
    /// The number rounded to three decimals; `nil` if it is not finite.
    package var thousandths: Double? { isFinite ? (self * 1000).rounded() / 1000 : nil }
}
