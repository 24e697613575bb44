import SeggetReports
import Foundation

/// A call in the query of a `GET`, in aria2's format; with `jsoncallback`, the response is a
/// script.
struct RPCQuery: Sendable, Hashable {
    /// The call, in the form of the body of a `POST`.
    var text: Data
    /// The function that the script calls with the response; `nil` for none.
    var callback: String?

    /// Reads the query of a target.
    ///
    /// An unreadable query results in a text that is answered like an invalid body.
    ///
    /// - Parameter target: The path and the query.
    init(_ target: String) {
        let query = target.drop { $0 != "?" }.dropFirst()
        var values: [String: String] = [:]
        for pair in query.split(separator: "&") {
            // The id may contain equals signs.
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

    /// Returns whether a text is the name of a function, which may contain dots.
    private static func isName(_ text: String) -> Bool {
        (1...64).contains(text.utf8.count)
            && text.unicodeScalars.allSatisfy { scalar in
                scalar.isASCII
                    && (scalar.properties.isAlphabetic
                        || "0123456789_.$".unicodeScalars.contains(scalar))
            }
    }

    /// Returns the body of the response.
    func wrapped(_ answer: Data) -> Data {
        guard let callback else { return answer }
        // These characters end a line in older JavaScript, but not in JSON.
        let text = String(decoding: answer, as: UTF8.self)
            .replacing("\u{2028}", with: "\\u2028").replacing("\u{2029}", with: "\\u2029")
        return Data("\(callback)(\(text))".utf8)
    }
}
