import Foundation
import TestSupport

/// A server with the faults of a plan.
final class SoakOrigin: Sendable {
    private struct State {
        var run = 0
        /// The requests of the current run.
        var requests = 0
        /// The requests since the signed URL was last renewed, and the number of renewals.
        var uses = 0
        var epoch = 0
        var hasChanged = false
        /// The versions that were offered in the current run.
        var offered: Set<Int> = [0]
        var faults: [SoakFault: Int] = [:]
    }

    let plan: SoakPlan
    /// The file before and after its change.
    let versions: [Content]
    private let digests: [String]
    private let state = Guarded(State())
    private let box = Guarded<Origin?>(nil)
    let origin: Origin

    init(_ plan: SoakPlan) throws {
        self.plan = plan
        let first = Content(size: plan.size, seed: plan.seed)
        let versions =
            [first] + (plan.change.map { [Content(size: $0.size, seed: ~plan.seed)] } ?? [])
        self.versions = versions
        digests = versions.map { Data($0.sha256).base64EncodedString() }
        let (state, box, digests) = (state, box, digests)
        origin = try Origin(sendBuffer: 64 << 10) { request in
            Self.answer(request, plan, versions, digests, state, box.withLock { $0 })
        }
        box.withLock { $0 = origin }
    }

    deinit {
        // A response in progress retains the origin, and must not be the last to release it.
        origin.stop()
        box.withLock { $0 = nil }
    }

    /// The number of injected faults of each kind.
    var faults: [SoakFault: Int] { state.withLock { $0.faults } }
    /// Whether the file has changed.
    var hasChanged: Bool { state.withLock { $0.hasChanged } }

    /// The files that a run may have downloaded if it ends now.
    var possible: [Content] {
        state.withLock { state in state.offered.sorted().map { versions[$0] } }
    }

    /// Begins a run; after the runs of the plan, the server has no faults.
    func begin(run: Int) {
        try? origin.acceptConnections()
        state.withLock { state in
            state.run = run
            state.requests = 0
            state.offered = [state.hasChanged ? 1 : 0]
        }
    }

    private static func answer(
        _ request: OriginRequest, _ plan: SoakPlan, _ versions: [Content], _ digests: [String],
        _ state: Guarded<State>, _ origin: Origin?
    ) -> OriginReply {
        let served = origin?.bytesServed ?? 0
        let (run, number, version, epoch) = state.withLock { state in
            // With a checksum, no later run could correct a change in the last run.
            let mayChange = state.run < plan.stops.count || plan.proof != .checksum
            if let change = plan.change, served >= change.served, mayChange {
                state.hasChanged = true
            }
            let version = state.hasChanged ? 1 : 0
            state.offered.insert(version)
            state.requests += 1
            state.uses += 1
            if let expiry = plan.expiry, state.uses > expiry, state.run < plan.stops.count {
                state.uses = 0
                state.epoch += 1
            }
            return (state.run, state.requests, version, state.epoch)
        }
        let content = versions[version]
        let isFaulty = run < plan.stops.count
        if plan.expiry != nil {
            let address = "/signed/\(epoch)/file?signature=\(epoch)"
            if request.path == "/file" {
                return .text(302, headers: [HeaderField("Location", address)])
            }
            guard request.target == address else { return .text(403) }
        }
        if isFaulty, let limit = plan.limit, request.openConnections > limit {
            return .text(503).with { $0.closeAfter = true }
        }
        var ranges = plan.serving == .ranges
        let fault = plan.fault(run: run, request: number)
        if fault?.0 == .wholeFile { ranges = false }
        var reply = OriginReply.file(
            content, for: request, etag: etag(plan, version), lastModified: date(plan, version),
            ranges: ranges)
        if plan.serving == .chunked { reply.framing = .chunked }
        if plan.proof == .advertised { reply.set("Repr-Digest", "sha-256=:\(digests[version]):") }
        bend(&reply, request, plan.manner)
        if request.method == "HEAD", isFaulty {
            switch plan.head {
            case .right: break
            case .refused: return .text(405)
            case .lies: reply.claimedLength = content.size + 99
            }
        }
        guard let (fault, generator) = fault else { return reply }
        var random = generator
        state.withLock { $0.faults[fault, default: 0] += 1 }
        switch fault {
        case .dropAll: origin?.dropConnections()
        case .refuseAWhile:
            origin?.refuseConnections()
            DispatchQueue.global().asyncAfter(deadline: .now() + 0.4) {
                try? origin?.acceptConnections()
            }
        default: fault.bend(&reply, request, &random)
        }
        return reply
    }

    private static func bend(
        _ reply: inout OriginReply, _ request: OriginRequest, _ manner: SoakPlan.Manner
    ) {
        switch manner {
        case .plain: break
        case .partsBy200: if reply.status == 206 { reply.status = 200 }
        case .coded:
            reply.set("Content-Type", "application/gzip")
            reply.set("Content-Encoding", "gzip")
        case .dates:
            let date = httpDate(unixTime: 1_600_000_000 + 60 * (request.connection % 2))
            reply.set("Last-Modified", date)
        case .cookies: reply.set("Set-Cookie", "turn=\(request.number); Path=/")
        }
    }

    private static func etag(_ plan: SoakPlan, _ version: Int) -> String? {
        switch plan.validator {
        case .strongTag: "\"v\(version)\""
        case .weakTag: "W/\"v\(version)\""
        case .date, .none: nil
        }
    }

    private static func date(_ plan: SoakPlan, _ version: Int) -> String? {
        plan.validator == .date ? httpDate(unixTime: 1_700_000_000 + version) : nil
    }
}
