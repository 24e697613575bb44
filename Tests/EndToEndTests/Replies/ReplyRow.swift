import TestSupport

/// A raw HTTP reply, and the result of `curl -fL` and segget with it.
struct ReplyRow: Sendable {
    /// The result of a reply.
    enum Outcome: Sendable, Hashable {
        /// Both save the file, with the same bytes.
        case download
        /// Neither saves a file.
        case failure
        /// curl saves the body, and segget refuses it for this reason.
        case refusal(String)
    }

    /// The file in most rows.
    static let body = "The quick brown fox jumps over the lazy dog\n"

    let name: String
    /// Returns the reply to a request.
    let reply: @Sendable (OriginRequest) -> String
    let outcome: Outcome

    /// Creates a row whose reply both save, and which does not depend on the request.
    init(_ name: String, _ reply: String) { self.init(name, .download, reply) }

    /// Creates a row whose reply does not depend on the request.
    init(_ name: String, _ outcome: Outcome, _ reply: String) {
        self.init(name, outcome) { _ in reply }
    }

    /// Creates a row whose reply depends on the request.
    init(
        _ name: String, _ outcome: Outcome = .download,
        byRequest reply: @escaping @Sendable (OriginRequest) -> String
    ) {
        self.name = name
        self.reply = reply
        self.outcome = outcome
    }

    /// Returns a row with a status line, further fields, `Content-Length` and the file.
    static func status(_ line: String, _ fields: String..., is outcome: Outcome = .download)
        -> ReplyRow
    {
        ReplyRow("\(line), \(fields)", outcome, head(line, fields + [length]) + body)
    }

    /// Returns a row with a 200 that has these fields and the file's `Content-Length`.
    static func field(_ fields: String..., is outcome: Outcome = .download) -> ReplyRow {
        let lines = fields.map { $0.count > 60 ? "\($0.prefix(30))… of \($0.count)" : $0 }
        return ReplyRow(
            "200, \(lines)", outcome, head("HTTP/1.1 200 OK", fields + [length]) + body)
    }

    /// Returns a row with a 200 that has only these fields, and this body.
    static func framing(
        _ fields: String..., body: String = Self.body, is outcome: Outcome = .download
    ) -> ReplyRow {
        let shown = body == Self.body ? "" : ", \(body.prefix(40).debugDescription)"
        return ReplyRow(
            "framing: \(fields)\(shown)", outcome, head("HTTP/1.1 200 OK", fields) + body)
    }

    /// Returns a row with a chunked 200; the body contains the chunks in raw form.
    static func chunked(
        _ name: String, _ body: String, fields: [String] = [], is outcome: Outcome = .download
    ) -> ReplyRow {
        ReplyRow(
            "chunks: \(name)", outcome,
            head("HTTP/1.1 200 OK", fields + ["Transfer-Encoding: chunked"]) + body)
    }

    /// Returns a row with a redirect; every path that ends in `/end` serves the file.
    static func redirect(
        _ line: String, _ fields: String..., is outcome: Outcome = .download,
        name: String? = nil
    ) -> ReplyRow {
        ReplyRow("redirect: \(name ?? "\(line), \(fields)")", outcome) { request in
            request.path.hasSuffix("/end")
                ? head("HTTP/1.1 200 OK", [length]) + body
                : head(line, fields + ["Content-Length: 5"]) + "moved"
        }
    }

    /// The `Content-Length` of the file.
    static let length = "Content-Length: \(body.utf8.count)"

    /// Returns a header section with correct line ends.
    static func head(_ line: String, _ fields: [String]) -> String {
        ([line] + fields).map { $0 + "\r\n" }.joined() + "\r\n"
    }
}

/// Builds a list of rows in which each row is a separate expression.
///
/// The compiler takes minutes for one expression with all rows.
@resultBuilder
enum RowList {
    static func buildExpression(_ row: ReplyRow) -> [ReplyRow] { [row] }
    static func buildExpression(_ rows: [ReplyRow]) -> [ReplyRow] { rows }
    static func buildPartialBlock(first: [ReplyRow]) -> [ReplyRow] { first }
    static func buildPartialBlock(accumulated: [ReplyRow], next: [ReplyRow]) -> [ReplyRow] {
        accumulated + next
    }
}
