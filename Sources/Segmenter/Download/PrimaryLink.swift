import Assembler
import SegmenterRules
import SegmenterTransport

/// Where the primary's URL leads during a fetch, because a link may expire meanwhile.
final class PrimaryLink: Sendable {
    private let links: LinkRefresher?
    private let identity: RemoteIdentity
    private let place: Monitor<(probe: Probe, effective: WebURL)>

    init(_ primary: Primary, _ links: LinkRefresher?) {
        self.links = links
        identity = primary.finding.file.identity
        place = Monitor((primary.probe, primary.finding.effective))
    }

    /// Resolves the URL again; if it is refused, asks for a new link, whose strong tag has to be the same.
    ///
    /// Any other proof for a new link needs another attempt.
    func resolve() async -> Probe.Resolution {
        let probe = place.withLock { $0.probe }
        let resolution = await probe.resolveAgain(identity)
        if case .same(let url) = resolution { place.withLock { $0.effective = url } }
        guard case .failed(let reason) = resolution, reason.linkStatus != nil,
            identity.strongETag != nil, let links,
            let link = try? await links.link(insteadOf: probe.url, reason, received: nil)
        else { return resolution }
        let next = probe.at(link)
        guard case .same(let url) = await next.resolveAgain(identity) else {
            links.keep(link)
            return resolution
        }
        place.withLock { $0 = (next, url) }
        return .same(url)
    }

    /// Updates a primary to where the URL leads now.
    func apply(to primary: inout Primary) {
        (primary.probe, primary.finding.effective) = place.withLock { $0 }
    }
}

extension Probe {
    /// Returns the same probe for another URL; what was meant for the origin of the first one stays there.
    func at(_ url: WebURL) -> Probe {
        var connecting = connecting
        // Credentials in the link itself are sent to it.
        if url.origin == connecting.origin, let own = url.credentials {
            connecting = connecting.identifying(as: own)
        }
        var probe = Probe(
            loop: loop, url: url, connecting: connecting, policy: policy, report: report)
        (probe.spreads, probe.wantsName) = (spreads, wantsName)
        probe.asksOnce = asksOnce
        probe.endsWithNetwork = endsWithNetwork
        return probe
    }
}
