import Assembler
import SegmenterRules
import SegmenterTransport

// Links that may be requested once, or a few times: one request for all that is missing.
extension DownloadWork {
    /// Returns a probe that asks for what is missing of the file.
    ///
    /// The part of an earlier run or attempt states its version, so no request has to ask for it.
    func withRest(_ probe: Probe) async -> Probe {
        var probe = probe
        probe.rest = await rest(at: probe.url)
        return probe
    }

    private func rest(at url: WebURL) async -> Probe.Rest? {
        switch job.destination {
        case .null: return nil
        case .descriptor:
            // A stream is continued with a strong validator only.
            guard let stream = stream?.output, stream.identity.strongValidator != nil else {
                return nil
            }
            return Probe.Rest(
                of: stream.identity, has: RangeSet(ByteRange(0, stream.recorded.covered.front)))
        case .file, .folder:
            var work = self
            if work.target == nil { work.target = await job.begunTarget() }
            guard let target = work.target, let begun = work.begunHeader,
                let request = try? work.request(.begun(begun.identity, at: url, target.name), url)
            else { return nil }
            let mayBeSampled = job.options.resumeUnverified
            return await offLoop("disk") {
                switch try? Assembly.preview(request) {
                case .resume?: break
                case .startOver(.noValidator)? where mayBeSampled: break
                // The response says where redirects lead.
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
    /// The first missing bytes of a version; `nil` if all are missing, or its size is unknown.
    init?(of identity: RemoteIdentity, has extents: RangeSet) {
        guard let size = identity.size, size > 0, !extents.isEmpty else { return nil }
        // If nothing is missing, the response for the last byte shows that the version is still offered.
        let gap =
            extents.gaps(in: ByteRange(0, size)).ranges.first ?? ByteRange(size - 1, size)
        range = ByteRange(gap.start, gap.end == size ? .max : gap.end)
        // The content of a file on the disk must not inject anything into a request.
        ifRange = identity.ifRange.flatMap {
            (try? DownloadOptions.check(header: "X: \($0)")) == nil ? nil : $0
        }
    }
}

extension Probe.Finding {
    /// The version that a part was begun with, as if the server had just stated it.
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
