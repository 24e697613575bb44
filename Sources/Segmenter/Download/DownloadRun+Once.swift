import Assembler

// Links that may be requested once, or a few times: one request for all that is missing.
extension DownloadRun {
    /// A probe that asks for what is missing of the file, where each request may count.
    ///
    /// What an earlier run or attempt left says which version it is of, so that nobody need ask for that.
    func withRest(_ probe: Probe, _ state: DownloadState) async -> Probe {
        guard probe.asksOnce else { return probe }
        var probe = probe
        probe.rest = await rest(at: probe.url, state)
        return probe
    }

    private func rest(at url: WebURL, _ state: DownloadState) async -> Probe.Rest? {
        switch job.destination {
        case .null: return nil
        case .descriptor:
            // What goes out in order is continued with a strong validator only.
            guard let stream = state.stream.output, stream.identity.strongValidator != nil else {
                return nil
            }
            return Probe.Rest(
                of: stream.identity, has: RangeSet(ByteRange(0, stream.recorded.covered.front)))
        case .file, .folder:
            var state = state
            if state.target == nil { state.target = await job.begunTarget() }
            guard let target = state.target,
                let begun = Assembly.headerRecorded(folder: target.folder, name: target.name),
                let request = try? state.request(.begun(begun.identity, at: url, target.name), url)
            else { return nil }
            let mayBeSampled = job.options.resumeUnverified
            return await offLoop("disk") {
                switch try? Assembly.preview(request) {
                case .resume?: break
                case .startOver(.noValidator)? where mayBeSampled: break
                // Where redirects lead, the reply says.
                case .startOver(.otherServer)?: break
                default: return nil
                }
                guard let part = try? EarlierPart(request) else { return nil }
                let extents = part.extents.reduce(into: RangeSet()) { $0.insert($1.range) }
                return Probe.Rest(of: begun.identity, has: extents)
            }
        }
    }
}

extension Probe.Rest {
    /// The first bytes that are missing of a version; `nil` where that is all of it, or nobody knows where it
    /// ends.
    init?(of identity: RemoteIdentity, has extents: RangeSet) {
        guard let size = identity.size, size > 0, !extents.isEmpty else { return nil }
        // Where nothing is missing, the reply to the last byte shows that the version is still offered.
        let gap =
            extents.gaps(in: ByteRange(0, size)).ranges.first ?? ByteRange(size - 1, size)
        range = ByteRange(gap.start, gap.end == size ? .max : gap.end)
        // What is on the disk must not smuggle anything into a request.
        ifRange = identity.ifRange.flatMap {
            (try? DownloadOptions.check(header: "X: \($0)")) == nil ? nil : $0
        }
    }
}

extension Probe.Finding {
    /// What a part was begun as, as if the server had just said so.
    fileprivate static func begun(
        _ identity: RemoteIdentity, at url: WebURL, _ name: String
    ) -> Self {
        let file = RemoteFile(
            url: url.redacted, effectiveURL: url.redacted, redirects: 0, identity: identity,
            acceptsRanges: true, suggestedName: name, digests: [], probedBy: "GET")
        return Self(
            file: file, effective: url, isProven: true, isNamed: false, isStatedByHead: false)
    }
}
