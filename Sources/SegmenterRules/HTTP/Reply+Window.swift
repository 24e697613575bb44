extension Reply {
    /// The fields with digests of the whole file, which are not those of a range of it.
    private static let wholeDigests = [
        "content-md5", "digest", "repr-digest", "x-amz-checksum-crc32", "x-amz-checksum-sha1",
        "x-amz-checksum-sha256", "x-amz-checksum-type", "x-goog-hash", "x-linked-etag",
    ]

    /// Changes the positions and sizes of a response to those in a range of the file.
    ///
    /// If the server's file does not have the size that the window states, or the server has
    /// ignored the range, the response states a size that the window does not have, or none.
    ///
    /// - Parameters:
    ///   - window: The window.
    ///   - asked: The range in the window that was requested; `nil` for all of it.
    ///   - method: The method of the request.
    package mutating func show(_ window: RemoteWindow, asked: ByteRange?, by method: RequestMethod)
    {
        for name in Self.wholeDigests { fields[name] = nil }
        let count = window.range.count
        if let field = self["content-range"] {
            fields["content-range"] = shown(field, in: window)
            let isAll = asked == nil && fields["content-range"] == "bytes 0-\(count - 1)/\(count)"
            if status == 206, isAll { (status, fields["content-range"]) = (200, nil) }
            // Without its range, a response must not look like that to the whole window.
            if status == 200, !isAll, fields["content-range"] == nil { status = 206 }
            return
        }
        guard status == 200 else { return }
        guard method == .head else {
            // The server has ignored the range. A part without `Content-Range` is never accepted,
            // whatever its length or version.
            status = 206
            return
        }
        guard let length = contentLength, length == window.size || length == count else { return }
        fields["content-length"] = length == window.size ? "\(count)" : nil
    }

    /// Returns the value of a `Content-Range` field in the window; `nil` if it cannot have one.
    private func shown(_ field: String, in window: RemoteWindow) -> String? {
        let count = window.range.count
        if field == "bytes */\(window.size)" { return "bytes */\(count)" }
        guard let part = ContentRange(field) else { return field }
        guard part.total == window.size, window.range.contains(part.range) else {
            return part.total == count || part.total == window.size ? nil : field
        }
        let start = part.range.start - window.range.start
        return "bytes \(start)-\(start + part.range.count - 1)/\(count)"
    }
}
