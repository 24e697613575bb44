import TestSupport

/// One round of the soak test: the file, segget's options, and the faults.
///
/// The plan depends only on the seed.
struct SoakPlan: Sendable {
    /// How versions of the file can be distinguished.
    enum Validator: CaseIterable, Sendable { case strongTag, date, weakTag, none }
    /// How the file is served.
    enum Serving: Sendable { case ranges, wholeOnly, chunked }
    /// How the content can be verified.
    enum Proof: CaseIterable, Sendable { case none, advertised, checksum }
    /// How the server answers `HEAD`.
    enum Head: Sendable { case right, refused, lies }

    /// Behavior of some servers that is not a fault.
    ///
    /// They answer ranges with 200, mark a stored archive as encoded, have another date on each
    /// server, or send a cookie in each response.
    enum Manner: CaseIterable, Sendable { case plain, partsBy200, coded, dates, cookies }

    /// How a run is stopped.
    struct Stop: Sendable {
        /// The signal; `SIGSTOP` is followed by `SIGCONT`.
        var signal: Signal
        /// The number of body bytes since the start of the run at which the signal is sent.
        var served: Int64

        enum Signal: CaseIterable, Sendable { case kill, terminate, interrupt, pause, none }
    }

    let seed: UInt64
    let size: Int64
    let connections: Int
    let validator: Validator
    let serving: Serving
    let proof: Proof
    let head: Head
    let allocation: String
    let keepsManifest: Bool
    /// The number of requests after which a signed URL expires; `nil` without a redirect.
    let expiry: Int?
    /// The number of connections that the server allows; `nil` is unlimited.
    let limit: Int?
    /// The share of requests that have a fault.
    let share: Double
    /// The possible faults.
    let faults: [SoakFault]
    /// The ends of the runs with faults; in the run after them, the server has no faults.
    let stops: [Stop]
    /// The number of body bytes, over all runs, at which the file changes, and its new size.
    let change: (served: Int64, size: Int64)?
    /// The size of the disk in the first run, in bytes; `nil` is unlimited.
    let disk: Int64?
    /// Other behavior of the server that is not a fault.
    let manner: Manner

    /// Draws a random plan.
    init(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        func chance(_ share: Double) -> Bool { Double.random(in: 0..<1, using: &random) < share }
        self.seed = seed
        // A size from 1 to 2 MiB is as likely as one from 32 to 64 MiB.
        let scale = Double.random(in: 0..<6, using: &random)
        var size = 1 << 20
        for _ in 0..<Int(scale) { size *= 2 }
        size += Int((scale - scale.rounded(.down)) * Double(size))
        self.size = Int64(size) - Int64.random(in: 0..<1000, using: &random)
        connections = [1, 2, 3, 4, 8, 16].randomElement(using: &random) ?? 4
        validator =
            chance(0.6) ? .strongTag : Validator.allCases.randomElement(using: &random) ?? .none
        serving = chance(0.85) ? .ranges : chance(0.5) ? .wholeOnly : .chunked
        let proof = Proof.allCases.randomElement(using: &random) ?? .none
        self.proof = proof
        head = chance(0.7) ? .right : chance(0.6) ? .refused : .lies
        allocation = ["none", "trunc", "falloc"].randomElement(using: &random) ?? "none"
        keepsManifest = chance(0.1)
        expiry = chance(0.15) ? Int.random(in: 3...12, using: &random) : nil
        limit = chance(0.2) ? Int.random(in: 1...4, using: &random) : nil
        share = chance(0.1) ? 0 : [0.03, 0.1, 0.3, 0.6].randomElement(using: &random) ?? 0.1
        let possible = SoakFault.allCases.filter {
            // Without a digest, segget cannot detect a flipped bit.
            $0 != .corrupt || proof != .none
        }
        let kinds = [1, 3, 8, possible.count].randomElement(using: &random) ?? 3
        faults = Array(possible.shuffled(using: &random).prefix(kinds))
        stops = (0..<Int.random(in: 0...4, using: &random)).map { _ in
            Stop(
                signal: Stop.Signal.allCases.randomElement(using: &random) ?? .kill,
                served: Int64.random(in: 0..<Int64(size), using: &random))
        }
        let mayChange = validator != .none && chance(0.2)
        let grows = Int64.random(in: -1000...1000, using: &random)
        change =
            mayChange
            ? (
                Int64.random(in: 0..<Int64(size), using: &random),
                self.size + (chance(0.5) ? grows : 0)
            )
            : nil
        disk =
            chance(0.1) ? Int64(Double(size) * Double.random(in: 0.1..<0.9, using: &random)) : nil
        let other = Manner.allCases.randomElement(using: &random) ?? .plain
        // segget downloads a sample again for each date, and needs a strong ETag.
        let mayDiffer = validator == .strongTag && change != nil
        manner = chance(0.5) || other == .dates && !mayDiffer ? .plain : other
    }

    /// Returns the command's options.
    func arguments(sha256: String) -> [String] {
        ["-o", "file", "-x", "\(connections)", "--file-allocation", allocation, "--retries", "3"]
            + ["--stall-timeout", "2", "--connect-timeout", "5", "-v"]
            + (proof == .checksum ? ["--checksum", "sha-256:\(sha256)"] : [])
            + (keepsManifest ? ["--keep-manifest"] : [])
    }

    /// Returns the fault of a request, by its number within a run.
    func fault(run: Int, request: Int) -> (SoakFault, SplitMix64)? {
        guard run < stops.count, !faults.isEmpty else { return nil }
        var random = SplitMix64(seed: seed &+ UInt64(run) &* 1_000_003 &+ UInt64(request))
        guard Double.random(in: 0..<1, using: &random) < share,
            let fault = faults.randomElement(using: &random)
        else { return nil }
        return (fault, random)
    }

    /// Whether segget must keep an earlier run's bytes: it can verify that the file is the same.
    var keepsParts: Bool {
        serving == .ranges && change == nil
            && (validator == .strongTag || validator == .date || proof == .checksum)
    }
}

/// A fault of a response.
enum SoakFault: String, CaseIterable, Sendable {
    case reset, close, cut, abort, stall, lateHead, slow, serverError, retryAfter, tooMany,
        wholeFile
    case otherStart, otherTotal, starTotal, noContentRange, capped, multipart, wrongLength
    case chunked, chunkedCut, otherTag, coded, noContent, notModified, notSatisfiable, missing
    case forbidden, garbage, withoutHead, headerFlood, interimFlood, interim, redirectToSelf
    case dropAll, refuseAWhile, corrupt

    /// Applies the fault to a correct response.
    func bend(_ reply: inout OriginReply, _ request: OriginRequest, _ random: inout SplitMix64) {
        let length = reply.body.count
        let somewhere = Int64.random(in: 0...max(0, length), using: &random)
        let isPart = reply.status == 206
        switch self {
        case .reset: reply = .resetWithoutReply
        case .close: reply = .closeWithoutReply
        case .cut: reply.cutAfter = somewhere
        case .abort:
            reply.cutAfter = somewhere
            reply.cut = .rst
        case .stall: reply.stallAfter = somewhere
        case .lateHead: reply.delayBeforeHeaders = 0.7
        case .slow: reply.pace = 300_000
        case .serverError:
            reply = .text([500, 502, 504].randomElement(using: &random) ?? 500, "no")
        case .retryAfter: reply = .text(503, headers: [HeaderField("Retry-After", "1")])
        case .tooMany: reply = .text(429, headers: [HeaderField("Retry-After", "1")])
        case .wholeFile, .refuseAWhile, .dropAll: break
        case .otherStart where isPart: Self.shiftRange(&reply, by: 1)
        case .otherTotal where isPart: Self.change(&reply) { $0 + "7" }
        case .starTotal where isPart:
            Self.change(&reply) { String($0.prefix { $0 != "/" }) + "/*" }
        case .noContentRange where isPart: reply.set("Content-Range", nil)
        case .capped where isPart: Self.cap(&reply, at: max(1, min(length, 100_000)))
        case .multipart where isPart:
            reply.set("Content-Range", nil)
            reply.set("Content-Type", "multipart/byteranges; boundary=x")
        case .wrongLength where isPart: reply.claimedLength = max(0, length - 10)
        case .chunked: reply.framing = .chunked
        case .chunkedCut:
            reply.framing = .chunked
            reply.cutAfter = max(0, somewhere - 1)
        case .otherTag: reply.set("ETag", "\"other\"")
        case .coded: reply.set("Content-Encoding", "gzip")
        case .noContent: reply = OriginReply(status: 204)
        case .notModified: reply = OriginReply(status: 304)
        case .notSatisfiable:
            reply = .text(416, headers: [HeaderField("Content-Range", "bytes */1")])
        case .missing: reply = .text(404)
        case .forbidden: reply = .text(403)
        case .garbage: reply = .raw(random.bytes(3000))
        case .withoutHead: reply = .raw("<html>moved</html>")
        case .headerFlood:
            reply.headers += (0..<20_000).map {
                HeaderField("X-\($0)", String(repeating: "x", count: 200))
            }
        case .interimFlood: reply.interim = Array(repeating: .init(103), count: 20_000)
        case .interim: reply.interim = [.init(103, [HeaderField("Content-Length", "1")])]
        case .redirectToSelf:
            reply = .text(302, headers: [HeaderField("Location", request.target)])
        case .corrupt:
            if case .content(_, let range) = reply.body, !range.isEmpty {
                reply.corruptAt = [range.lowerBound + somewhere]
            }
        default: break
        }
    }

    private static func change(_ reply: inout OriginReply, _ body: (String) -> String) {
        reply.set("Content-Range", reply.header("Content-Range").map(body))
    }

    private static func shiftRange(_ reply: inout OriginReply, by count: Int64) {
        guard case .content(let content, let range) = reply.body else { return }
        reply.set(
            "Content-Range",
            "bytes \(range.lowerBound + count)-\(range.upperBound - 1 + count)/\(content.size)")
    }

    private static func cap(_ reply: inout OriginReply, at count: Int64) {
        guard case .content(let content, let range) = reply.body, range.count > count else {
            return
        }
        let capped = range.lowerBound..<range.lowerBound + count
        reply.body = .content(content, capped)
        reply.set(
            "Content-Range", "bytes \(capped.lowerBound)-\(capped.upperBound - 1)/\(content.size)")
    }
}
