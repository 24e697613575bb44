/// The raw replies, in groups.
enum ReplyTable {
    /// All rows.
    static let all: [ReplyRow] =
        statusLines + interim + fields + lengths + chunks + codings + redirects + ranges + cuts

    @RowList static var statusLines: [ReplyRow] {
        ReplyRow.status("HTTP/1.1 200 OK")
        ReplyRow.status("HTTP/1.0 200 OK")
        ReplyRow.status("HTTP/1.0 200 OK", "Connection: keep-alive")
        ReplyRow.status("HTTP/1.1 200 OK", "Connection: close")
        ReplyRow.status("HTTP/1.1 200")
        ReplyRow.status("HTTP/1.1 200 ")
        ReplyRow.status("HTTP/1.1 200 All is well, 404 is not")
        ReplyRow.status("HTTP/1.1 200 \u{1F98A} größer")
        ReplyRow.status("HTTP/1.1 200 " + String(repeating: "very ", count: 400) + "well")
        ReplyRow.status("HTTP/1.1 200 OK\t")
        ReplyRow.status("HTTP/1.1  200 OK")
        ReplyRow.status("HTTP/1.1\t200 OK", is: .failure)
        ReplyRow.status("HTTP/1.1 200OK")
        ReplyRow.status("HTTP/1.1 0200 OK", is: .failure)
        ReplyRow.status("HTTP/1.1 20 OK", is: .failure)
        ReplyRow.status("HTTP/1.1 2000 OK", is: .failure)
        ReplyRow.status("HTTP/1.1 -200 OK", is: .failure)
        ReplyRow.status("HTTP/1.1 two OK", is: .failure)
        ReplyRow.status("HTTP/1.1 099 Early", is: .failure)
        ReplyRow.status("HTTP/1.1 000 Nothing", is: .failure)
        ReplyRow.status("HTTP/1.1", is: .failure)
        ReplyRow.status("HTTP/1.2 200 OK", is: .failure)
        ReplyRow.status("HTTP/0.9 200 OK", is: .failure)
        ReplyRow.status("HTTP/3.0 200 OK", is: .failure)
        ReplyRow.status("HTTP/11 200 OK", is: .failure)
        ReplyRow.status("http/1.1 200 OK")
        ReplyRow.status("HTTPS/1.1 200 OK", is: .failure)
        ReplyRow.status("ICY 200 OK", is: .failure)
        ReplyRow.status("\r\nHTTP/1.1 200 OK", is: .failure)
        ReplyRow.status(" HTTP/1.1 200 OK", is: .failure)
        ReplyRow("HTTP/0.9: the body alone", .failure, ReplyRow.body)
        ReplyRow("an empty reply", .failure, "")
        ReplyRow("a single line end", .failure, "\r\n")
        ReplyRow("garbage", .failure, String(repeating: "\u{0}\u{1}\u{7F}\u{1B}[2J", count: 500))
        ReplyRow("another protocol", .failure, "220 ready\r\n500 no such command\r\n")
        ReplyRow("a TLS alert", .failure, "\u{15}\u{3}\u{1}\u{0}\u{2}\u{2}\u{16}")
        ReplyRow(
            "another reply behind",
            ReplyRow.head("HTTP/1.1 200 OK", [ReplyRow.length])
                + ReplyRow.body + ReplyRow.head("HTTP/1.1 404 Not Found", ["Content-Length: 0"]))
        ReplyRow.status(
            "HTTP/1.1 201 Created", is: .refusal("it is about something new, not this file"))
        ReplyRow.status("HTTP/1.1 202 Accepted", is: .refusal("the file is still to come"))
        ReplyRow.status(
            "HTTP/1.1 203 Non-Authoritative", is: .refusal("a proxy has changed the file"))
        ReplyRow.status("HTTP/1.1 204 No Content", is: .refusal("there is no file in it"))
        ReplyRow.status("HTTP/1.1 205 Reset Content", is: .refusal("there is no file in it"))
        ReplyRow.status(
            "HTTP/1.1 207 Multi-Status", is: .refusal("it is about many things, none the file"))
        ReplyRow.status(
            "HTTP/1.1 226 IM Used", is: .refusal("the body is a difference of two versions"))
        ReplyRow.status("HTTP/1.1 299 Fine", is: .refusal("nobody knows what it means"))
        ReplyRow.status(
            "HTTP/1.1 300 Multiple Choices", is: .refusal("the body is a choice, not the file"))
        ReplyRow.status("HTTP/1.1 304 Not Modified", is: .refusal("there is no file in it"))
        ReplyRow.status("HTTP/1.1 399 What", is: .refusal("a redirect to nowhere"))
        ReplyRow.status("HTTP/1.1 400 Bad Request", is: .failure)
        ReplyRow.status("HTTP/1.1 401 Unauthorized", is: .failure)
        ReplyRow.status("HTTP/1.1 403 Forbidden", is: .failure)
        ReplyRow.status("HTTP/1.1 404 Not Found", is: .failure)
        ReplyRow.status("HTTP/1.1 416 Range Not Satisfiable", is: .failure)
        ReplyRow.status("HTTP/1.1 451 No", is: .failure)
        ReplyRow.status("HTTP/1.1 500 Broken", is: .failure)
        ReplyRow.status("HTTP/1.1 503 Busy", "Retry-After: 1", is: .failure)
        ReplyRow.status("HTTP/1.1 600 What", is: .failure)
        ReplyRow.status("HTTP/1.1 999 What", is: .failure)
    }

    @RowList static var interim: [ReplyRow] {
        behind("one 100", "HTTP/1.1 100 Continue\r\n\r\n")
        behind("one 102", "HTTP/1.1 102 Processing\r\n\r\n")
        behind("103 with fields", "HTTP/1.1 103 Early Hints\r\nLink: </style.css>\r\n\r\n")
        behind("100 with a length", "HTTP/1.1 100 Continue\r\nContent-Length: 7\r\n\r\n")
        behind("100 with an ETag", "HTTP/1.1 100 Continue\r\nETag: \"other\"\r\n\r\n")
        behind("103 with a coding", "HTTP/1.1 103 Hints\r\nX-Coding: gzip\r\n\r\n")
        behind("199", "HTTP/1.1 199 What\r\n\r\n")
        behind("a hundred", String(repeating: "HTTP/1.1 102 Processing\r\n\r\n", count: 100))
        behind("of HTTP/1.0", "HTTP/1.0 100 Continue\r\n\r\n")
        behind(
            "thousands", String(repeating: "HTTP/1.1 102 P\r\n\r\n", count: 5000),
            is: .refusal("a flood: libcurl keeps all of it in memory"))
        ReplyRow("1xx: nothing else", .failure, "HTTP/1.1 100 Continue\r\n\r\n")
        ReplyRow(
            "1xx: 101 without being asked",
            .refusal("nobody has asked for another protocol"),
            "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n" + ReplyRow.body)
    }

    /// Returns a row with a correct 200 after interim replies.
    private static func behind(
        _ name: String, _ interim: String, is outcome: ReplyRow.Outcome = .download
    ) -> ReplyRow {
        ReplyRow(
            "1xx: \(name)", outcome,
            interim + ReplyRow.head("HTTP/1.1 200 OK", [ReplyRow.length]) + ReplyRow.body)
    }

    private static let halfAHead = ReplyRow.Outcome.refusal(
        "the head cannot be read: curl takes half of it for all")

    @RowList static var fields: [ReplyRow] {
        ReplyRow.field("X-Empty:")
        ReplyRow.field("Content-Range:", "ETag:", "Content-Encoding: ")
        ReplyRow.field("X-Spaces:    many    ")
        ReplyRow.field("X-Tab:\ttab")
        ReplyRow.field("X-No-Space:value")
        ReplyRow.field("X-Colons: a:b:c")
        ReplyRow.field("X-Name : space before the colon")
        ReplyRow.field("x-lower: x", "X-LOWER: X")
        ReplyRow.field("X-Folded: one", " two", "\tthree")
        ReplyRow.field("ETag: \"folded\"", " more")
        ReplyRow.field(" starts with a space", is: .failure)
        ReplyRow.field("no colon at all", is: .failure)
        ReplyRow.field(": no name")
        ReplyRow.field("X-Bytes: \u{FC}\u{20AC}\u{1F98A}")
        ReplyRow.field("X-Control: \u{1}\u{2}\u{1B}[31m")
        ReplyRow.field("X-Nul: a\u{0}b", is: .failure)
        ReplyRow.field("X-Long: " + String(repeating: "x", count: 90_000))
        ReplyRow.field("X-Longer: " + String(repeating: "x", count: 200_000), is: .failure)
        ReplyRow(
            "200, 1000 fields",
            ReplyRow.head(
                "HTTP/1.1 200 OK", (1...1000).map { "X-\($0): \($0)" } + [ReplyRow.length])
                + ReplyRow.body)
        ReplyRow(
            "200, 6000 fields", .refusal("a flood: libcurl keeps all of it in memory"),
            ReplyRow.head(
                "HTTP/1.1 200 OK", (1...6000).map { "X-\($0): \($0)" } + [ReplyRow.length])
                + ReplyRow.body)
        ReplyRow(
            "200, a header of a megabyte", .failure,
            ReplyRow.head(
                "HTTP/1.1 200 OK",
                (1...1000).map { "X-\($0): " + String(repeating: "x", count: 1000) }
                    + [ReplyRow.length])
                + ReplyRow.body)
        ReplyRow.field("ETag: \"a\"")
        ReplyRow.field("ETag: \"a\"", "ETag: \"a\"")
        ReplyRow.field("ETag: \"a\"", "ETag: \"b\"")
        ReplyRow.field("ETag: a")
        ReplyRow.field("ETag: W/\"a\"")
        ReplyRow.field("ETag: \"")
        ReplyRow.field("ETag:")
        ReplyRow.field("ETag: \"" + String(repeating: "e", count: 20_000) + "\"")
        ReplyRow.field("Last-Modified: yesterday")
        ReplyRow.field("Last-Modified: Sat, 01 Jan 2000 00:00:00 GMT", "Date: never")
        ReplyRow.field("Last-Modified: Fri, 31 Dec 9999 23:59:59 GMT")
        ReplyRow.field("Last-Modified: Thu, 01 Jan 1901 00:00:00 GMT")
        ReplyRow.field("Accept-Ranges: none")
        ReplyRow.field("Accept-Ranges: bytes")
        ReplyRow.field("Accept-Ranges: lines")
        ReplyRow.field("Content-Type:")
        ReplyRow.field("Content-Type: multipart/byteranges; boundary=x")
        ReplyRow.field("Content-Disposition: attachment; filename=\"../../x\"")
        ReplyRow.field("Connection: upgrade", "Upgrade: h2c")
        ReplyRow.field("Set-Cookie: a=b; Path=/", "Set-Cookie: c=d")
        ReplyRow.field("Location: /elsewhere")
        ReplyRow.field("Retry-After: 3600")
        ReplyRow.field("Content-Range: bytes 0-43/44")
        ReplyRow.field(
            "Content-Range: bytes 5-6/7", is: .refusal("a part, and not of what was asked for"))
        ReplyRow.field("WWW-Authenticate: Basic realm=\"x\"")
        ReplyRow.field("Digest: md5=AAAA")
        ReplyRow.field("Content-MD5: not base64")
        ReplyRow.field("Trailer: X-End")
        ReplyRow.field("Repr-Digest: nonsense")
        ReplyRow.field(
            "Content-MD5: AAAAAAAAAAAAAAAAAAAAAA==",
            is: .refusal("the digest that the server states is not the body's"))
        ReplyRow.field(
            "Repr-Digest: sha-256=:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=:",
            is: .refusal("the digest that the server states is not the body's"))
        ReplyRow(
            "200, LF alone ends the lines",
            "HTTP/1.1 200 OK\n\(ReplyRow.length)\n\n\(ReplyRow.body)")
        ReplyRow(
            "200, CR LF and LF mixed",
            "HTTP/1.1 200 OK\r\nX: y\n\(ReplyRow.length)\r\n\n\(ReplyRow.body)")
        ReplyRow(
            "200, CR alone ends the lines", halfAHead,
            "HTTP/1.1 200 OK\r\(ReplyRow.length)\r\r\(ReplyRow.body)")
        ReplyRow(
            "200, CR CR LF ends the lines", halfAHead,
            "HTTP/1.1 200 OK\r\r\n\(ReplyRow.length)\r\r\n\r\r\n\(ReplyRow.body)")
        ReplyRow(
            "200, a line that begins with CR", halfAHead,
            "HTTP/1.1 200 OK\r\n\rX: y\r\n\(ReplyRow.length)\r\n\r\n\(ReplyRow.body)")
        ReplyRow("200, no fields", "HTTP/1.1 200 OK\r\n\r\n\(ReplyRow.body)")
    }
}
