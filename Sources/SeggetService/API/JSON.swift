import FoundationEssentials
import SeggetQueue
import SeggetReports
import Segmenter

/// Encodes and decodes values, for the server and the client.
enum JSON {
    /// Encodes a value with sorted keys and unescaped slashes.
    ///
    /// - Throws: `QueueError`, for numbers that JSON cannot represent.
    static func write(_ value: some Encodable) throws(QueueError) -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // Omitting defaults encodes 10,000 new tasks in a tenth of the time.
        encoder.userInfo[.leavesOutDefaults] = true
        do {
            return try encoder.encode(value)
        } catch {
            throw QueueError(
                .invalid, "a value cannot be written as JSON",
                hint: "this is a bug in segget; please report it")
        }
    }

    /// Decodes the body of a request.
    ///
    /// The message of an error repeats nothing of the body, which may be secret.
    ///
    /// - Throws: `QueueError`, of code `invalid`.
    static func read<Value: Decodable>(_ type: Value.Type, from body: Data) throws(QueueError)
        -> Value
    {
        do {
            return try JSONDecoder().decode(type, from: body)
        } catch {
            let (path, words) = complaint(error)
            let member = place(path)
            let subject = member.isEmpty ? "it" : "`\(member)`"
            var refusal = QueueError(
                .invalid, "the request is invalid: \(subject)\(words)",
                hint: "`GET /api/openapi.json` lists the members of each request")
            refusal.member = member.isEmpty ? nil : member
            throw refusal
        }
    }

    /// Returns the position of a mistake, and its description in words of this module.
    private static func complaint(_ error: any Error) -> (path: [any CodingKey], words: String) {
        switch error as? DecodingError {
        case .keyNotFound(let key, let context):
            return (context.codingPath, " has no `\(key.stringValue)`")
        case .typeMismatch(_, let context): return (context.codingPath, " has the wrong type")
        case .valueNotFound(_, let context): return (context.codingPath, " has no value")
        case .dataCorrupted(let context):
            switch context.underlyingError {
            // Only `MemberFault` has a safe text: the texts of other decoders may contain values.
            case let fault as MemberFault:
                return (context.codingPath, ": \(fault.text)")
            case nil where !context.codingPath.isEmpty:
                return (context.codingPath, " cannot be used")
            default: return ([], " is not JSON")
            }
        case nil: return ([], " is not JSON")
        @unknown default: return ([], " is not JSON")
        }
    }

    /// Returns the text of a position in the body, such as `commands[0].options.headers`.
    private static func place(_ path: [any CodingKey]) -> String {
        var text = ""
        for key in path {
            if let index = key.intValue {
                text += "[\(index)]"
            } else {
                text += (text.isEmpty ? "" : ".") + key.stringValue
            }
        }
        return text
    }
}
