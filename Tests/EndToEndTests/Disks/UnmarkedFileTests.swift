import Assembler
import Foundation
import Glibc
import TestSupport
import Testing

/// The same command after success, and existing files without segget's extended attributes.
@Suite(.timeLimit(.minutes(5)))
struct UnmarkedFileTests {
    // MARK: The same command again

    @Test(
        arguments: UnmarkedStage.Way.allCases.filter { $0 != .queue }, [[], ["-c"], ["--checksum"]])
    func sameCommandAfterSuccessDownloadsNothing(way: UnmarkedStage.Way, arguments: [String]) throws
    {
        let trial = try UnmarkedStage()
        let stage = trial.stage
        var arguments = arguments
        if arguments == ["--checksum"] {
            guard way != .list else { return }
            arguments.append("sha256:\(stage.content.sha256Hex)")
        }
        #expect(try trial.run(way, arguments).end == .exit(0))
        let inode = try stage.identity(of: "file")
        let asked = stage.origin.requests.count
        let again = try trial.run(way, arguments)
        #expect(again.end == .exit(0), "\(again.errorOutput)")
        #expect(again.errorOutput.contains("already complete"), "\(again.errorOutput)")
        #expect(stage.bytesServed(after: asked) <= 1)
        #expect(try stage.identity(of: "file") == inode)
        #expect(try stage.names() == ["file"])
        // A damaged file is still an error.
        if arguments.contains("--checksum") { return }
        try stage.damage("file", at: 700_000)
        let damaged = try trial.run(way, arguments)
        #expect(damaged.end == .exit(73), "\(damaged.errorOutput)")
        #expect(try stage.identity(of: "file") == inode)
    }

    @Test(arguments: UnmarkedStage.Way.allCases.filter { $0 != .queue })
    func doesNotReplaceOlderVersion(way: UnmarkedStage.Way) throws {
        let trial = try UnmarkedStage()
        let stage = trial.stage
        #expect(try trial.run(way).end == .exit(0))
        let before = try stage.facts("file")
        stage.origin.change { offer in
            offer.content = Content(size: UnmarkedStage.size, seed: 10)
            offer.etag = "\"v2\""
        }
        let again = try trial.run(way)
        #expect(again.end == .exit(73), "\(again.errorOutput)")
        #expect(again.errorOutput.contains("exists already"), "\(again.errorOutput)")
        #expect(try stage.facts("file") == before)
    }

    // MARK: Files of another program

    /// The existing file, and what the server states about its own.
    enum Case: CaseIterable, Sendable {
        case digest, otherDigest, date, otherTime, weakDate, otherBytes, noRanges, blank, shorter
        case longer

        var proof: String? {
            switch self {
            case .digest: "checked sha-256:"
            case .date: "its size, date and a sample match the server's"
            default: nil
            }
        }

        var reason: String {
            switch self {
            case .otherDigest: "wrong checksum"
            case .otherBytes, .blank: "differs from what the server sends"
            case .shorter: "has 600000 bytes, and the server's 1500000"
            case .longer: "and the server's 1500000"
            default: "nothing shows whether the existing file is the same as the server's"
            }
        }
    }

    private func prepare(_ trial: UnmarkedStage, _ what: Case) throws {
        let stage = trial.stage
        var bytes = stage.content.bytes(0..<UnmarkedStage.size)
        switch what {
        case .otherDigest, .otherBytes: bytes[5] ^= 1
        // Like allocated space that was never written.
        case .blank:
            bytes.replaceSubrange(400_000..<1_400_000, with: repeatElement(0, count: 1_000_000))
        case .shorter: bytes.removeLast(Int(UnmarkedStage.size - UnmarkedStage.begun))
        case .longer: bytes.append(7)
        default: break
        }
        try stage.write(bytes, to: "file")
        trial.setTime(what == .otherTime ? UnmarkedStage.date + 1 : UnmarkedStage.date)
        stage.origin.change { offer in
            switch what {
            case .noRanges: offer.servesRanges = false
            case .weakDate: offer.lastModified = httpDate(secondsFromNow: 3600)
            default: break
            }
        }
        if what == .weakDate { trial.setTime(time(nil) + 3600) }
        if what == .digest || what == .otherDigest { trial.state(digest: stage.content.sha256) }
    }

    @Test(arguments: UnmarkedStage.Way.allCases, Case.allCases)
    func acceptsUnmarkedFileOnlyIfVerified(way: UnmarkedStage.Way, what: Case) throws {
        // The comparison does not depend on the way, so the others need few cases.
        guard way == .file || [.digest, .date, .otherTime, .shorter].contains(what) else { return }
        let trial = try UnmarkedStage()
        let stage = trial.stage
        try prepare(trial, what)
        let before = try stage.facts("file")
        let outcome = try trial.run(way)
        let text = outcome.errorOutput
        if let proof = what.proof {
            #expect(outcome.end == .exit(0), "\(text)")
            if way != .queue { #expect(text.contains(proof), "\(text)") }
        } else {
            #expect(outcome.end == .exit(73), "\(text)")
            if way != .queue {
                #expect(text.contains(what.reason), "\(text)")
                #expect(text.contains("exists already") && text.contains("--adopt"), "\(text)")
            }
        }
        #expect(try stage.facts("file") == before)
        #expect(try stage.names() == ["file"])
        #expect(stage.bytesServed(after: 0) < 1_000_000)
    }
}
