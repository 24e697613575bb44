import Assembler

// What the answers say of the file.
extension Probe {
    /// The version of the file, as the reply to a request for all of it states it.
    ///
    /// - Parameters:
    ///   - reply: The reply.
    ///   - here: Whose it is.
    ///   - part: The part of the file that it brings; `nil` for the whole file.
    /// - Returns: The version.
    func identity(
        by reply: Reply, at here: WebURL, part: ContentRange? = nil
    ) -> RemoteIdentity {
        var identity = reply.identity(
            size: part == nil ? reply.contentLength : part?.total,
            time: secondsSince1970(httpDate:))
        identity.distrust(
            connecting.memory.validators.shared(
                in: identity, at: here.origin, of: url.text, now: secondsSince1970()))
        return identity
    }

    /// What is done with the coding of a body; `nil` when it is not encoded.
    func coding(of reply: Reply, at here: WebURL) -> ContentCoding? {
        guard let coding = reply.coding else { return nil }
        let suggested = FileName.suggested(disposition: reply["content-disposition"], url: here)
        return ContentCoding(
            coding, names: [suggested, here.lastPathComponent, url.lastPathComponent],
            type: reply["content-type"], decodable: curlCodings)
    }

    /// The facts that a reply states.
    ///
    /// - Parameters:
    ///   - landing: Where the request led.
    ///   - reply: What it was answered.
    ///   - method: How it was asked.
    ///   - part: The part of the file that it brings; `nil` for the whole file.
    ///   - isDecoded: Whether its body is decoded: what it states is of other bytes then.
    /// - Returns: The facts, with what waits of the body.
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
                ? [] : AdvertisedDigests.all(in: reply, hasContent: method == .get),
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

    /// What a reply to `GET` says, when its body can be kept.
    ///
    /// - Throws: Why it cannot, or may be no more than a part.
    func accept(
        _ landing: Landing, _ reply: Reply, _ asking: inout Asking
    ) throws(ContractBreach) -> Finding {
        var landing = landing
        // Whoever still holds the answer does not hold what waits of it.
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

    /// What both say together.
    ///
    /// `GET` decides, as `HEAD` is a hint: what only `HEAD` states, such as digests, counts where
    /// both state the same version.
    ///
    /// - Parameters:
    ///   - head: What `HEAD` said.
    ///   - first: The answer to `GET`, if there is one.
    ///   - asked: What `GET` asked for.
    /// - Returns: The facts, with the body of `GET` where it can be used; `nil` when `GET` makes the file
    ///   shorter than `HEAD` said.
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
            // It was asked for its name alone.
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
    /// Takes the name that another reply suggested.
    fileprivate mutating func take(nameOf other: Self) {
        file.suggestedName = other.file.suggestedName
        isNamed = true
    }
}

extension Probe.Asking {
    /// Holds what `GET` says against what `HEAD` has said, and adds what only that states.
    ///
    /// - Throws: `otherSize`, when a reply to a range makes the file shorter than `HEAD` said of the same
    ///   version: a request without a range is to say the same first.
    fileprivate mutating func compare(_ finding: inout Probe.Finding) throws(ContractBreach) {
        let got = finding.file.identity
        if range == nil, got == shortened {
            // So it was `HEAD` that lied, and ranges are served.
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
