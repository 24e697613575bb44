import Assembler
import SegmenterRules
import SegmenterTransport

// Facts about the file that the responses state.
extension Probe {
    /// Returns the version of the file that a response states.
    ///
    /// - Parameters:
    ///   - reply: The response.
    ///   - here: The URL that sent the response.
    ///   - part: The part of the file that the response contains; `nil` for the whole file.
    /// - Returns: The version, without validators that are known to be shared between versions.
    func identity(
        by reply: Reply, at here: WebURL, part: ContentRange? = nil
    ) -> RemoteIdentity {
        var identity = reply.identity(
            size: part == nil ? reply.contentLength : part?.total,
            time: secondsSince1970(httpDate:))
        var whole = identity
        // All ranges of a file have its validators.
        if let window = connecting.window { whole.size = window.size }
        identity.distrust(
            connecting.memory.validators.shared(
                in: whole, at: here.origin, of: url.text, now: secondsSince1970()))
        return identity
    }

    /// Returns the treatment of a body's content coding; `nil` if the body is not encoded.
    func coding(of reply: Reply, at here: WebURL) -> ContentCoding? {
        guard let coding = reply.coding else { return nil }
        let suggested = FileName.suggested(disposition: reply["content-disposition"], url: here)
        return ContentCoding(
            coding, names: [suggested, here.lastPathComponent, url.lastPathComponent],
            type: reply["content-type"], decodable: curlCodings)
    }

    /// Returns the facts that a response states.
    ///
    /// - Parameters:
    ///   - landing: The end of the redirects.
    ///   - reply: The response that arrived there.
    ///   - method: The method of the request.
    ///   - part: The part of the file that the response contains; `nil` for the whole file.
    ///   - isDecoded: Whether libcurl decodes the body. The size, validators and digests are then
    ///     those of the encoded bytes.
    /// - Returns: The facts, with the paused body if there is one.
    func finding(
        _ landing: Landing, _ reply: Reply, by method: RequestMethod,
        part: ContentRange? = nil, isDecoded: Bool = false
    ) -> Finding {
        var identity = identity(by: reply, at: landing.url, part: part)
        if isDecoded { identity = RemoteIdentity(size: nil, coding: reply.coding) }
        var file = RemoteFile(
            url: url.redacted, effectiveURL: landing.url.redacted, redirects: landing.redirects,
            identity: identity, date: reply["date"],
            acceptsRanges: method == .head || part != nil,
            contentType: reply["content-type"],
            suggestedName: FileName.suggested(
                disposition: reply["content-disposition"], url: landing.url),
            digests: isDecoded
                ? []
                : (landing.stated + AdvertisedDigests.all(in: reply, hasContent: method == .get))
                    .distinct,
            probedBy: method == .head ? "HEAD" : "GET")
        file.isDecoded = isDecoded
        return Finding(
            file: file, effective: landing.url,
            firstReply: landing.exchange.isKept
                ? FirstReply(
                    range: part?.range, body: landing.exchange.body,
                    paused: landing.exchange.paused, end: landing.exchange.end,
                    wait: landing.exchange.wait)
                : nil,
            isProven: method == .get, isNamed: reply["content-disposition"] != nil,
            isStatedByHead: method == .head,
            modified: reply["last-modified"].flatMap { secondsSince1970(httpDate: $0) })
    }

    /// Returns the facts that a response to `GET` states, if its body is usable.
    ///
    /// - Throws: The reason why the body is not usable, for example because it may be only a part.
    func accept(
        _ landing: Landing, _ reply: Reply, _ asking: inout Asking
    ) throws(ContractBreach) -> Finding {
        var landing = landing
        // The caller's copy of the landing then no longer owns the paused body.
        landing.exchange.paused = landing.exchange.paused?.handOn()
        if let coding = coding(of: reply, at: landing.url), coding != .saved {
            guard coding == .decoded, asking.isDecoded, reply.status == 200 else {
                throw .contentCoding(reply["content-encoding"] ?? "")
            }
            _ = try reply.part(asked: nil)
            return finding(landing, reply, by: .get, isDecoded: true)
        }
        var finding: Finding
        if let part = try reply.part(asked: asking.range), let asked = asking.range {
            try reply.check(part, asked: asked)
            finding = self.finding(landing, reply, by: .get, part: part)
        } else {
            let collected = landing.exchange.end == .complete ? landing.exchange.body.count : nil
            let length = reply.contentLength ?? collected.map { Int64($0) }
            guard !reply.mayBePart(of: asking.range, length: length) || length == asking.said?.size
            else { throw .contentRangeUnusable(nil) }
            finding = self.finding(landing, reply, by: .get)
            finding.firstReply?.ignored = asking.range
        }
        try asking.compare(&finding)
        return finding
    }

    /// Returns the combined facts of the responses to `HEAD` and `GET`.
    ///
    /// `HEAD` is only a hint, so `GET` takes precedence. Facts that only `HEAD` states, for example
    /// digests, are used if both responses state the same version.
    ///
    /// - Parameters:
    ///   - head: The facts of the response to `HEAD`.
    ///   - first: The response to `GET`, if there is one.
    ///   - asked: The range that `GET` requested.
    /// - Returns: The facts, with the body of `GET` if it is usable; `nil` if the file is shorter
    ///   according to `GET` than according to `HEAD`.
    func agreed(_ head: Finding, _ first: Landing?, asked: ByteRange?) -> Finding? {
        guard let first, let reply = first.exchange.reply else { return head }
        var asking = Asking(range: asked, said: head.file.identity)
        var finding: Finding
        do throws(ContractBreach) {
            finding = try accept(first, reply, &asking)
        } catch {
            if case .otherSize = error { return nil }
            return head
        }
        // A server that ignores one range may serve others.
        guard finding.firstReply?.range != nil, !finding.file.isDecoded else {
            var head = head
            if finding.isNamed { head.take(nameOf: finding) }
            return head
        }
        if head.isNamed, !finding.isNamed { finding.take(nameOf: head) }
        var same = finding.file.identity
        same.headOnly = []
        guard head.file.identity == same else {
            finding.file.headProblem = Self.contradicted
            report(.headUnusable(Self.contradicted))
            return finding
        }
        guard asked != Self.firstByte else {
            // This `GET` had only the purpose to learn the name.
            var head = head
            if finding.isNamed { head.take(nameOf: finding) }
            return head
        }
        for digest in head.file.digests where !finding.file.digests.contains(digest) {
            finding.file.digests.append(digest)
        }
        return finding
    }
}

extension Probe.Finding {
    /// Adopts the name that another response suggested.
    fileprivate mutating func take(nameOf other: Self) {
        file.suggestedName = other.file.suggestedName
        isNamed = true
    }
}

extension Probe.Asking {
    /// Compares the facts of `GET` with those of `HEAD`, and adds those that only `HEAD` states.
    ///
    /// - Throws: `otherSize` if the response to a range request states a smaller size than `HEAD`
    ///   did for the same version. A request without a range has to confirm that size first.
    fileprivate mutating func compare(_ finding: inout Probe.Finding) throws(ContractBreach) {
        let got = finding.file.identity
        if range == nil, got == shortened {
            // The size that `HEAD` stated is wrong, and the server does serve ranges.
            finding.file.acceptsRanges = true
        }
        guard let said else { return }
        if range != nil, let length = said.size, let size = got.size, size < length,
            got.etag == said.etag, got.lastModified == said.lastModified
        {
            shortened = finding.firstReply?.range == nil ? nil : got
            throw .otherSize(expected: length, got: size)
        }
        finding.isStatedByHead =
            said.size == got.size && said.etag == got.etag && said.lastModified == got.lastModified
        finding.file.identity.remember(said)
        if finding.modified == nil, let date = finding.file.identity.lastModified {
            finding.modified = secondsSince1970(httpDate: date)
        }
    }
}
