import Assembler

// What a download goes on with when the server that it was with does not help any more.
extension DownloadRun {
    /// The first URL that answers, or a new link in place of the one that was given first.
    ///
    /// - Parameters:
    ///   - probe: What asks that.
    ///   - state: What is known.
    ///   - ask: Asks all of them for the first time.
    /// - Returns: The URL that is asked from now on.
    /// - Throws: Why there is none.
    func firstPrimary(
        _ probe: Probe, _ state: inout DownloadState,
        ask: () async throws(DownloadError.Reason) -> Primary
    ) async throws(DownloadError.Reason) -> Primary {
        do throws(DownloadError.Reason) {
            return try await ask()
        } catch {
            // With several URLs it is not always the first one's.
            let reason = state.mirrors == nil ? error : .cancelled
            guard error != .cancelled, let refused = refusal(0, probe, reason, state),
                let next = try await refreshed(
                    refused.number, refused.probe, after: refused.reason, &state, again: nil)
            else { throw error }
            return next
        }
    }

    /// The primary after an attempt that failed: a mirror, a new link, or the same one when the network is
    /// back.
    ///
    /// - Throws: The failure, when there is none.
    func goOn(
        after reason: DownloadError.Reason, from primary: Primary, _ state: inout DownloadState
    ) async throws(DownloadError.Reason) -> Primary {
        var reason = reason
        while true {
            let (cause, usable) = (reason, state.mirrors?.book.usable ?? [])
            do throws(DownloadError.Reason) {
                var next = try await replacement(of: primary, after: reason, &state)
                next.probe.endsWithNetwork = state.network.isWaitedFor
                return next
            } catch {
                reason = error
            }
            // Of several URLs it is the first that is told of, whatever became of the others.
            try await wait(for: primary, after: reason, or: cause, &state)
            do throws(DownloadError.Reason) {
                return try await askAgain(primary, mirrors: usable, &state)
            } catch {
                reason = error
            }
        }
    }

    /// Another primary in place of one whose attempt failed: a mirror, or a new link.
    ///
    /// - Throws: The failure, when there is none.
    private func replacement(
        of primary: Primary, after reason: DownloadError.Reason, _ state: inout DownloadState
    ) async throws(DownloadError.Reason) -> Primary {
        do throws(DownloadError.Reason) {
            return try await successor(of: primary, after: reason, &state)
        } catch {
            guard error != .cancelled,
                let refused = refusal(primary.number, primary.probe, reason, state),
                let next = try await refreshed(
                    refused.number, refused.probe, after: refused.reason, &state,
                    again: primary.finding)
            else { throw error }
            return next
        }
    }

    /// A new link in place of one that is refused, with what it offers; `nil` where that is not how it
    /// failed, or there is none.
    ///
    /// - Throws: Why a new link does not help.
    private func refreshed(
        _ number: Int, _ probe: Probe, after reason: DownloadError.Reason,
        _ state: inout DownloadState, again before: Probe.Finding?
    ) async throws(DownloadError.Reason) -> Primary? {
        guard let links else { return nil }
        var (probe, reason) = (probe, reason)
        while reason.linkStatus != nil {
            let link = try await links.link(
                insteadOf: probe.url, reason, received: state.attempts.received)
            guard let link else { return nil }
            probe = probe.at(link)
            do throws(DownloadError.Reason) {
                probe = await withRest(probe, state)
                let finding = try await inquiry.find(
                    probe, byGet: true, range: Probe.firstByte, again: before)
                state.attempts.turnToAnotherServer()
                state.mirrors?.book.restore(number)
                return Primary(number: number, probe: probe, finding: finding)
            } catch {
                // Nobody has refused it: when the network is back, it is tried.
                if error.isNetworkLoss { links.keep(link) }
                reason = error
            }
        }
        throw reason
    }

    /// The URL that was refused in the way that a new link may mend: the one that the download was with, or
    /// else the first of its mirrors.
    ///
    /// - Parameters:
    ///   - number: Which URL the download was with.
    ///   - probe: What asks that.
    ///   - reason: Why it failed.
    ///   - state: What is known of the others.
    /// - Returns: It, and why it was refused; `nil` where none was.
    private func refusal(
        _ number: Int, _ probe: Probe, _ reason: DownloadError.Reason, _ state: DownloadState
    ) -> (number: Int, probe: Probe, reason: DownloadError.Reason)? {
        if reason.linkStatus != nil { return (number, probe, reason) }
        guard let book = state.mirrors?.book, let first = book.firstRefusal else { return nil }
        return (first.number, book.probes[first.number], first.reason)
    }
}

/// Where the primary's URL leads while a fetch is under way: it may expire meanwhile.
final class PrimaryLink: Sendable {
    private let links: LinkRefresher?
    private let identity: RemoteIdentity
    private let place: Monitor<(probe: Probe, effective: WebURL)>

    init(_ primary: Primary, _ links: LinkRefresher?) {
        self.links = links
        identity = primary.finding.file.identity
        place = Monitor((primary.probe, primary.finding.effective))
    }

    /// Resolves the URL again; where it is refused, asks for a new link, whose strong tag has to be the same.
    ///
    /// What else may prove a new link needs another attempt.
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

    /// Has a primary be where the URL leads now.
    func apply(to primary: inout Primary) {
        (primary.probe, primary.finding.effective) = place.withLock { $0 }
    }
}

extension Probe {
    /// The same for another URL; what was meant for the origin of the first one stays with that.
    func at(_ url: WebURL) -> Probe {
        var connecting = connecting
        // What a link itself says, it may say.
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
