extension OriginReply {
    /// Returns the reply of a correct server for a file, to which tests add faults.
    ///
    /// It has status 200, 206 or 416, and respects `HEAD` and `If-Range` (RFC 9110 §13.1.5, §14).
    ///
    /// - Parameters:
    ///   - content: the file.
    ///   - request: the request to answer.
    ///   - etag: the raw `ETag` field, with its quotes; `nil` sends none.
    ///   - lastModified: the raw `Last-Modified` field; `nil` sends none.
    ///   - contentType: the `Content-Type` field.
    ///   - ranges: whether range requests are supported.
    ///   - longest: the largest number of bytes that is served for a range.
    /// - Returns: the reply, with a correct `Content-Range` and the current `Date`.
    public static func file(
        _ content: Content, for request: OriginRequest, etag: String? = nil,
        lastModified: String? = nil, contentType: String? = "application/octet-stream",
        ranges: Bool = true, longest: Int64 = .max
    ) -> OriginReply {
        var reply = OriginReply(headers: [HeaderField("Date", httpDate())])
        guard ["GET", "HEAD"].contains(request.method) else {
            reply.status = 405
            reply.set("Allow", "GET, HEAD")
            return reply
        }
        reply.set("Accept-Ranges", ranges ? "bytes" : "none")
        reply.set("ETag", etag)
        reply.set("Last-Modified", lastModified)
        reply.set("Content-Type", contentType)
        guard ranges, request.method == "GET", let range = request.range,
            condition(request.header("If-Range"), etag: etag, lastModified: lastModified)
        else {
            reply.body = .content(content, 0..<content.size)
            return reply
        }
        let bytes = range.bytes(of: content.size).prefix(Int(clamping: longest))
        guard !bytes.isEmpty else {
            reply.status = 416
            reply.set("Content-Range", "bytes */\(content.size)")
            return reply
        }
        reply.status = 206
        reply.set(
            "Content-Range", "bytes \(bytes.lowerBound)-\(bytes.upperBound - 1)/\(content.size)")
        reply.body = .content(content, bytes)
        return reply
    }

    /// Whether `If-Range` matches: the same strong tag, or the exact date (RFC 9110 §13.1.5).
    private static func condition(_ value: String?, etag: String?, lastModified: String?) -> Bool {
        guard let value else { return true }
        return value.hasPrefix("\"") ? value == etag : value == lastModified
    }

    /// The registered reason phrase of a status.
    static func reason(of status: Int) -> String {
        switch status {
        case 100: "Continue"
        case 103: "Early Hints"
        case 200: "OK"
        case 204: "No Content"
        case 206: "Partial Content"
        case 301: "Moved Permanently"
        case 302: "Found"
        case 304: "Not Modified"
        case 307: "Temporary Redirect"
        case 308: "Permanent Redirect"
        case 401: "Unauthorized"
        case 403: "Forbidden"
        case 404: "Not Found"
        case 405: "Method Not Allowed"
        case 410: "Gone"
        case 416: "Range Not Satisfiable"
        case 429: "Too Many Requests"
        case 500: "Internal Server Error"
        case 501: "Not Implemented"
        case 502: "Bad Gateway"
        case 503: "Service Unavailable"
        case 504: "Gateway Timeout"
        default: "Status \(status)"
        }
    }
}
