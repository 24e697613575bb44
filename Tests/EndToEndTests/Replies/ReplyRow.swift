import TestSupport

/// A raw HTTP reply, and what `curl -fL` and segget make of it.
struct ReplyRow: Sendable {
    /// What comes of a reply.
    enum Outcome: Sendable, Hashable {
        /// Both have the file, with the same bytes.
        case download
        /// Neither has a file.
        case failure
        /// curl takes the body for the file, and segget does not, because of this.
        case refusal(String)
    }

    /// The file in nearly all rows.
    static let body = "The quick brown fox jumps over the lazy dog\n"

    let name: String
    /// The reply to a request, whatever its method, unless it looks at it.
    let reply: @Sendable (OriginRequest) -> String
    let outcome: Outcome

    /// A row of a reply that both take for the file, and that does not depend on the request.
    init(_ name: String, _ reply: String) { self.init(name, .download, reply) }

    /// A row whose reply does not depend on the request.
    init(_ name: String, _ outcome: Outcome, _ reply: String) {
        self.init(name, outcome) { _ in reply }
    }

    /// A row whose reply depends on the request.
    init(
        _ name: String, _ outcome: Outcome = .download,
        byRequest reply: @escaping @Sendable (OriginRequest) -> String
    ) {
        self.name = name
        self.reply = reply
        self.outcome = outcome
    }

    /// A row with a status line and further lines, `Content-Length` and the file.
    static func status(_ line: String, _ fields: String..., is outcome: Outcome = .download)
        -> ReplyRow
    {
        ReplyRow("\(line), \(fields)", outcome, head(line, fields + [length]) + body)
    }

    /// A row with a 200 that has these lines and the file's `Content-Length`.
    static func field(_ fields: String..., is outcome: Outcome = .download) -> ReplyRow {
        let lines = fields.map { $0.count > 60 ? "\($0.prefix(30))… of \($0.count)" : $0 }
        return ReplyRow(
            "200, \(lines)", outcome, head("HTTP/1.1 200 OK", fields + [length]) + body)
    }

    /// A row with a 200 that has these lines, no others, and this body.
    static func framing(
        _ fields: String..., body: String = Self.body, is outcome: Outcome = .download
    ) -> ReplyRow {
        let shown = body == Self.body ? "" : ", \(body.prefix(40).debugDescription)"
        return ReplyRow(
            "framing: \(fields)\(shown)", outcome, head("HTTP/1.1 200 OK", fields) + body)
    }

    /// A row with a 200 in chunks, as they are.
    static func chunked(
        _ name: String, _ body: String, fields: [String] = [], is outcome: Outcome = .download
    ) -> ReplyRow {
        ReplyRow(
            "chunks: \(name)", outcome,
            head("HTTP/1.1 200 OK", fields + ["Transfer-Encoding: chunked"]) + body)
    }

    /// A row with a redirect to the file, which is at every path that ends in `/end`, unless it says
    /// otherwise.
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

    /// A head with right line ends.
    static func head(_ line: String, _ fields: [String]) -> String {
        ([line] + fields).map { $0 + "\r\n" }.joined() + "\r\n"
    }
}

/// Rows one after another, so that each is an expression of its own: the compiler takes minutes for
/// all of them as one.
@resultBuilder
enum RowList {
    static func buildExpression(_ row: ReplyRow) -> [ReplyRow] { [row] }
    static func buildExpression(_ rows: [ReplyRow]) -> [ReplyRow] { rows }
    static func buildPartialBlock(first: [ReplyRow]) -> [ReplyRow] { first }
    static func buildPartialBlock(accumulated: [ReplyRow], next: [ReplyRow]) -> [ReplyRow] {
        accumulated + next
    }
}
