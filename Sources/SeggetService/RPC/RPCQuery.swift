import SeggetReports
import Foundation

/// A call in the query of a `GET`, as aria2 takes it; with `jsoncallback` the answer is a script.
struct RPCQuery: Sendable, Hashable {
    /// What is called, as the body of a `POST` would say it.
    var text: Data
    /// The function that the answer is handed to; `nil` for none.
    var callback: String?

    /// Reads the query of a target.
    ///
    /// - Returns: The call; one that cannot be read is answered as a broken body is.
    init(_ target: String) {
        let query = target.drop { $0 != "?" }.dropFirst()
        var values: [String: String] = [:]
        for pair in query.split(separator: "&") {
            // The identifier may have further equals signs in it.
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            values[String(parts[0])] = parts.count > 1 ? String(parts[1]) : ""
        }
        callback = values["jsoncallback"].flatMap { Self.isName($0) ? $0 : nil }
        let parameters = values["params"].flatMap { text in
            Data(base64Encoded: text.removingPercentEncoding ?? "")
        }
        let method = values["method"]?.removingPercentEncoding
        let id = values["id"]?.removingPercentEncoding
        guard method != nil || id != nil else {
            text = parameters ?? Data()
            return
        }
        var members: [String: JSONValue] = [:]
        if let method { members["method"] = .string(method) }
        if let id { members["id"] = .string(id) }
        if values["params"] != nil {
            guard let value = JSONValue.read(parameters ?? Data()) else {
                text = Data()
                return
            }
            members["params"] = value
        }
        text = JSONValue.object(members).data
    }

    /// Whether a text is the name of a function, with dots, and nothing else.
    private static func isName(_ text: String) -> Bool {
        (1...64).contains(text.utf8.count)
            && text.unicodeScalars.allSatisfy { scalar in
                scalar.isASCII
                    && (scalar.properties.isAlphabetic
                        || "0123456789_.$".unicodeScalars.contains(scalar))
            }
    }

    /// The body of the answer.
    func wrapped(_ answer: Data) -> Data {
        guard let callback else { return answer }
        // What ends a line in scripts does not in JSON.
        let text = String(decoding: answer, as: UTF8.self)
            .replacing("\u{2028}", with: "\\u2028").replacing("\u{2029}", with: "\\u2029")
        return Data("\(callback)(\(text))".utf8)
    }
}
