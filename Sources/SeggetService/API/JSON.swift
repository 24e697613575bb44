import FoundationEssentials
import SeggetQueue
import Segmenter

/// How values are written and read, on both ends.
enum JSON {
    /// Writes a value: keys in order, slashes as they are.
    ///
    /// - Throws: `QueueError`, for numbers that JSON has no words for.
    static func write(_ value: some Encodable) throws(QueueError) -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // Ten thousand tasks to be added cost a tenth of the time.
        encoder.userInfo[.leavesOutDefaults] = true
        do {
            return try encoder.encode(value)
        } catch {
            throw QueueError(
                .invalid, "a value cannot be written as JSON",
                hint: "this is a bug in segget; please report it")
        }
    }

    /// Reads a request's body; the message of an error has nothing of what came, which may be secret.
    ///
    /// - Throws: `QueueError`, invalid.
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

    /// Where something is wrong, and what, in words of our own.
    private static func complaint(_ error: any Error) -> (path: [any CodingKey], words: String) {
        switch error as? DecodingError {
        case .keyNotFound(let key, let context):
            return (context.codingPath, " has no `\(key.stringValue)`")
        case .typeMismatch(_, let context): return (context.codingPath, " has the wrong type")
        case .valueNotFound(_, let context): return (context.codingPath, " has no value")
        case .dataCorrupted(let context):
            switch context.underlyingError {
            // Words of ours; those of other readers may have values in them.
            case let complaint as WireComplaint:
                return (context.codingPath, ": \(complaint.words)")
            case nil where !context.codingPath.isEmpty:
                return (context.codingPath, " cannot be used")
            default: return ([], " is not JSON")
            }
        case nil: return ([], " is not JSON")
        @unknown default: return ([], " is not JSON")
        }
    }

    /// A place in the body, such as `commands[0].options.headers`.
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
