import TestSupport

// Rows with redirects, and rows with replies to a range.
extension ReplyTable {
    private static let nowhere = ReplyRow.Outcome.refusal("a redirect to nowhere is not the file")

    @RowList static var redirects: [ReplyRow] {
        [301, 302, 303, 307, 308, 300, 305, 306, 399].map {
            ReplyRow.redirect("HTTP/1.1 \($0) Moved", "Location: /end")
        }
        [301, 302, 303, 307, 308].map {
            ReplyRow.redirect("HTTP/1.1 \($0) Moved", is: nowhere)
        }
        ReplyRow.redirect("HTTP/1.0 302 Found", "Location: /end")
        ReplyRow.redirect("HTTP/1.1 302", "Location: /end")
        ReplyRow.redirect("HTTP/1.1 302 Found", "location:/end")
        ReplyRow.redirect("HTTP/1.1 302 Found", "LOCATION:    /end   ")
        ReplyRow.redirect("HTTP/1.1 302 Found", "Location: end")
        ReplyRow.redirect("HTTP/1.1 302 Found", "Location: ./end")
        ReplyRow.redirect("HTTP/1.1 302 Found", "Location: ../../../end")
        ReplyRow.redirect("HTTP/1.1 302 Found", "Location: a/b/../end")
        ReplyRow.redirect("HTTP/1.1 302 Found", "Location: /end?query=1")
        ReplyRow.redirect("HTTP/1.1 302 Found", "Location: /end#fragment")
        ReplyRow.redirect("HTTP/1.1 302 Found", "Location: /a%20b/end")
        ReplyRow.redirect("HTTP/1.1 302 Found", "Location: /a b/end")
        ReplyRow.redirect("HTTP/1.1 302 Found", "Location: /\u{FC}ber/end")
        ReplyRow.redirect("HTTP/1.1 302 Found", "Location: //127.0.0.1:PORT/end")
        ReplyRow.redirect("HTTP/1.1 302 Found", "Location: http://127.0.0.1:PORT/end")
        ReplyRow.redirect("HTTP/1.1 302 Found", "Location: HTTP://127.0.0.1:PORT/end")
        ReplyRow.redirect("HTTP/1.1 302 Found", "Location: \\end", is: .failure)
        ReplyRow.redirect("HTTP/1.1 302 Found", "Location: /end", "Location: /end")
        ReplyRow.redirect("HTTP/1.1 302 Found", "Location: /end", "Location: /other/end")
        ReplyRow.redirect("HTTP/1.1 302 Found", "Location: /end", "Content-Encoding: gzip")
        ReplyRow.redirect("HTTP/1.1 302 Found", "Location: /end", "ETag: \"x\"")
        ReplyRow.redirect("HTTP/1.1 302 Found", "Location: /end", "Accept-Ranges: bytes")
        ReplyRow.redirect("HTTP/1.1 302 Found", "Location:", is: nowhere)
        ReplyRow.redirect("HTTP/1.1 302 Found", "Location: #fragment", is: .failure)
        ReplyRow.redirect("HTTP/1.1 302 Found", "Location: ?again", is: .failure)
        ReplyRow.redirect("HTTP/1.1 302 Found", "Location: .", is: .failure)
        ReplyRow.redirect("HTTP/1.1 302 Found", "Location: http://", is: .failure)
        ReplyRow.redirect("HTTP/1.1 302 Found", "Location: http://127.0.0.1:0/end", is: .failure)
        ReplyRow.redirect(
            "HTTP/1.1 302 Found", "Location: http://127.0.0.1:99999/end", is: .failure)
        ReplyRow.redirect("HTTP/1.1 302 Found", "Location: http://[::bad/end", is: .failure)
        ReplyRow.redirect("HTTP/1.1 302 Found", "Location: ftp://127.0.0.1:1/end", is: .failure)
        ReplyRow.redirect("HTTP/1.1 302 Found", "Location: file:///etc/hostname", is: .failure)
        ReplyRow.redirect("HTTP/1.1 302 Found", "Location: data:,text", is: .failure)
        ReplyRow.redirect(
            "HTTP/1.1 304 Not Modified", "Location: /end",
            is: .refusal("304 is no redirect (RFC 9110 §15.4.5)"))
        ReplyRow.redirect("HTTP/1.1 200 OK", "Location: /end")
        ReplyRow.redirect(
            "HTTP/1.1 201 Created", "Location: /end",
            is: .refusal("it is about something new, not this file"))
        ReplyRow.redirect("HTTP/1.1 404 Not Found", "Location: /end", is: .failure)
        ReplyRow("redirect: the body is cut") { request in
            request.path.hasSuffix("/end")
                ? ReplyRow.head("HTTP/1.1 200 OK", [ReplyRow.length]) + ReplyRow.body
                : ReplyRow.head(
                    "HTTP/1.1 302 Found", ["Location: /end", "Content-Length: 5"]) + "mov"
        }
    }

    private static let unasked = ReplyRow.Outcome.refusal("a part, and not the one asked for")

    /// curl requests no range, and saves every reply as the file.
    @RowList static var ranges: [ReplyRow] {
        ReplyRow.partial("right") { range, size in
            (range ?? 0..<size, nil)
        }
        ReplyRow.partial("1 byte at a time") { range, size in
            let start = range?.lowerBound ?? 0
            return (start..<(range == nil ? size : min(size, start + 1)), nil)
        }
        ReplyRow.partial("ranges of at most 7 bytes") { range, size in
            let start = range?.lowerBound ?? 0
            return (start..<(range == nil ? size : min(size, start + 7)), nil)
        }
        ReplyRow.partial("total unknown, then the whole file") { range, size in
            (range ?? 0..<size, range.map { "bytes \($0.lowerBound)-\($0.upperBound - 1)/*" })
        }
        ReplyRow.partial("no Content-Range, then the whole file") { range, size in
            (range ?? 0..<size, "")
        }
        ReplyRow.status("HTTP/1.1 206 Partial Content", is: unasked)
        ReplyRow.status(
            "HTTP/1.1 206 Partial Content", "Content-Range: bytes 5-48/100", is: unasked)
        ReplyRow.status("HTTP/1.1 206 Partial Content", "Content-Range: bytes 0-43/*", is: unasked)
        ReplyRow.status("HTTP/1.1 206 Partial Content", "Content-Range: bytes */44", is: unasked)
        ReplyRow.status("HTTP/1.1 206 Partial Content", "Content-Range: bytes 0-42/43", is: unasked)
        ReplyRow.status(
            "HTTP/1.1 206 Partial Content", "Content-Type: multipart/byteranges; boundary=x",
            is: unasked)
        ReplyRow.status(
            "HTTP/1.1 206 Partial Content", "Content-Type: multipart/byteranges; boundary=x",
            "Content-Range: bytes 0-43/44", is: unasked)
        ReplyRow("range: 416 to every range") { request in
            request.range == nil
                ? ReplyRow.head("HTTP/1.1 200 OK", [ReplyRow.length, "Accept-Ranges: bytes"])
                    + (request.method == "HEAD" ? "" : ReplyRow.body)
                : ReplyRow.head(
                    "HTTP/1.1 416 No",
                    ["Content-Range: bytes */44", "Content-Length: 0"])
        }
        ReplyRow("range: HEAD states another size") { request in
            request.method == "HEAD"
                ? ReplyRow.head("HTTP/1.1 200 OK", ["Content-Length: 7", "Accept-Ranges: bytes"])
                : ReplyRow.head("HTTP/1.1 200 OK", [ReplyRow.length]) + ReplyRow.body
        }
        ReplyRow("range: HEAD is an error") { request in
            request.method == "HEAD"
                ? ReplyRow.head("HTTP/1.1 500 No", ["Content-Length: 0"])
                : ReplyRow.head("HTTP/1.1 200 OK", [ReplyRow.length]) + ReplyRow.body
        }
        ReplyRow("range: HEAD is garbage") { request in
            request.method == "HEAD"
                ? "garbage" : ReplyRow.head("HTTP/1.1 200 OK", [ReplyRow.length]) + ReplyRow.body
        }
        ReplyRow("range: HEAD states a size that no file has") { request in
            request.method == "HEAD"
                ? ReplyRow.head(
                    "HTTP/1.1 200 OK",
                    ["Content-Length: 9223372036854775807", "Accept-Ranges: bytes"])
                : ReplyRow.head("HTTP/1.1 200 OK", [ReplyRow.length]) + ReplyRow.body
        }
    }
}

extension ReplyRow {
    /// Returns a row that serves ranges.
    ///
    /// `serve` returns the range to send, and its `Content-Range`: `nil` for the correct one, empty
    /// for none.
    fileprivate static func partial(
        _ name: String,
        _ serve: @escaping @Sendable (Range<Int>?, Int) -> (Range<Int>, String?)
    ) -> ReplyRow {
        ReplyRow("range: \(name)") { request in
            let bytes = Array(body.utf8)
            let asked =
                request.method == "HEAD" ? nil : request.range?.bytes(of: Int64(bytes.count))
            let (range, field) = serve(
                asked.map { Int($0.lowerBound)..<Int($0.upperBound) }, bytes.count)
            let part = String(decoding: bytes[range], as: UTF8.self)
            var fields = ["Content-Length: \(range.count)", "Accept-Ranges: bytes", "ETag: \"a\""]
            guard asked != nil else {
                return head("HTTP/1.1 200 OK", fields) + (request.method == "HEAD" ? "" : part)
            }
            let right = "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(bytes.count)"
            if field != "" { fields.append("Content-Range: \(field ?? right)") }
            return head("HTTP/1.1 206 Partial Content", fields) + part
        }
    }
}
