import Foundation
import TestSupport
import Testing

/// Mirrors that behave at random: segget publishes a correct file or none.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct MirrorChaosTests {
    private static let size: Int64 = 2_500_000

    /// How a mirror behaves.
    private enum Conduct: CaseIterable {
        case honest, slow, liar, corrupt, missing, moody, cuts, otherSize, otherTag, noRanges,
            ignoresRanges, changes, headLies, late, partsBy200, otherDate, datesChange, coded
    }

    private static func apply(
        _ conduct: Conduct, to offer: inout Origin.Offer, seed: UInt64
    ) {
        let tally = Tally()
        switch conduct {
        case .honest: break
        case .slow: offer.pace = 300_000
        case .liar: offer.content = Content(size: size, seed: 100 + seed)
        case .otherSize: offer.content = Content(size: size - 1, seed: 7)
        case .otherTag: offer.etag = "\"other\(seed)\""
        case .corrupt:
            offer.bend = { request, reply in
                if request.method == "GET" { reply.corruptAt = [1_000_000 + Int64(seed % 999)] }
            }
        case .missing: offer.bend = { _, reply in reply = .text(404) }
        case .moody:
            offer.bend = { request, reply in
                if request.number % 3 == 0 { reply = .text(503) }
            }
        case .cuts: offer.bend = { _, reply in reply.cutAfter = 200_000 }
        case .late: offer.bend = { _, reply in reply.delayBeforeHeaders = 0.5 }
        case .noRanges:
            offer.bend = { request, reply in
                reply = OriginReply.file(
                    Content(size: size, seed: 7), for: request, etag: "\"v1\"", ranges: false)
            }
        case .ignoresRanges:
            offer.bend = { request, reply in
                guard request.method == "GET" else { return }
                reply = OriginReply.file(
                    Content(size: size, seed: 7), for: request, etag: "\"v1\"", ranges: false)
            }
        case .changes:
            offer.bend = { request, reply in
                guard request.method == "GET", tally.add() > 4 else { return }
                reply = OriginReply.file(
                    Content(size: size, seed: 200 + seed), for: request, etag: "\"v2\(seed)\"")
            }
        case .partsBy200:
            offer.bend = { _, reply in if reply.status == 206 { reply.status = 200 } }
        case .otherDate:
            offer.bend = { $1.set("Last-Modified", httpDate(unixTime: 1_600_000_000)) }
        case .datesChange:
            offer.bend = { request, reply in
                let date = httpDate(unixTime: 1_600_000_000 + 60 * (request.number % 2))
                reply.set("Last-Modified", date)
            }
        case .coded:
            offer.bend = { $1.set("Content-Encoding", "x-\(seed)") }
        case .headLies:
            offer.bend = { request, reply in
                if request.method == "HEAD" { reply.set("ETag", "\"head\"") }
            }
        }
    }

    @Test(arguments: [UInt64.random(in: 0...UInt64.max)])
    func publishesCorrectFileOrNone(seed: UInt64) async throws {
        print("mirror chaos: seed \(seed)")
        var random = SplitMix64(seed: seed)
        for round in 0..<12 {
            let count = Int.random(in: 2...4, using: &random)
            // Without a checksum, no mirror sends wrong bytes with the right ETag: segget could not
            // detect it.
            let hasChecksum = Bool.random(using: &random)
            var conducts: [Conduct] = []
            let salt = UInt64.random(in: 0...1_000_000, using: &random)
            while conducts.count < count {
                guard let next = Conduct.allCases.randomElement(using: &random),
                    hasChecksum || next != .corrupt
                else { continue }
                conducts.append(next)
            }
            let trial = try MirrorTrial(count, size: Self.size) { index, offer in
                Self.apply(conducts[index], to: &offer, seed: salt + UInt64(index))
                if conducts[index] == .liar, !hasChecksum { offer.etag = "\"liar\(index)\"" }
            }
            let options = ["-x", "\(Int.random(in: 1...8, using: &random))", "--retries", "3"]
            let outcome = try await trial.run(options + (hasChecksum ? trial.checksum : []))
            let report = Comment(
                rawValue: "seed \(seed), round \(round), \(conducts): \(outcome.errorOutput)")
            let isPublished = try trial.sandbox.names().contains("file.bin")
            #expect((outcome.exitCode == 0) == isPublished, report)
            if let code = outcome.exitCode, code != 0 {
                #expect([65, 69, 76].contains(code), report)
                let canSucceed = conducts.contains {
                    [.honest, .slow, .otherTag, .late, .partsBy200, .otherDate].contains($0)
                }
                #expect(!canSucceed, report)
                continue
            }
            let possible =
                [trial.content]
                + (hasChecksum
                    ? []
                    : (0..<UInt64(count)).flatMap {
                        [
                            Content(size: Self.size, seed: 100 + salt + $0),
                            Content(size: Self.size, seed: 200 + salt + $0),
                            Content(size: Self.size - 1, seed: 7),
                        ]
                    })
            let matches = try possible.contains {
                try $0.firstDifference(at: trial.sandbox.path("file.bin")) == nil
            }
            #expect(matches, report)
        }
    }
}
