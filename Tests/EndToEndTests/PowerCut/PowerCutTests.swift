@testable import Assembler
import Foundation
import Glibc
import Segmenter
import TestSupport
import Testing

/// Tests that every state that a power cut may leave leads to the right file, and that durable data
/// is not downloaded again.
///
/// `SEGGET_POWER_CUTS` is the number of states to resume from for each kind of run.
/// `SEGGET_POWER_SEED` repeats a failure as far as the network allows. `SEGGET_POWER_RUN` chooses
/// one kind of run.
struct PowerCutTests {
    private static let environment = ProcessInfo.processInfo.environment
    private static let count = environment["SEGGET_POWER_CUTS"].flatMap { Int($0) } ?? 16

    /// The number of states from which the program resumes instead of the library.
    private static let programs = max(2, count / 12)

    private static func seed() -> UInt64 {
        environment["SEGGET_POWER_SEED"].flatMap { UInt64($0) } ?? .random(in: 0...UInt64.max)
    }

    @Test(.timeLimit(.minutes(60)), arguments: CutRun.chosen)
    func resumesFromEveryStateAfterPowerCut(run: CutRun) async throws {
        let seed = Self.seed()
        print("power cut, \(run): seed \(seed)")
        let home = try Sandbox("segget-power", under: "/dev/shm")
        let stage = try Stage(size: run.size, in: home.path)
        let record = try run.record(on: stage)
        #expect(record.outcome.end == run.end, "\(record.outcome.errorOutput)")
        let trial = CutTrial(run: run, stage: stage, record: record)
        #expect(trial.moments.count > 2, "the recorder saw nothing")
        trial.checkNames(seed: seed)
        trial.checkThatNothingDurableIsLost(seed: seed)
        if run == .slow { trial.checkThatDataIsMadeDurable() }
        if run == .set { try trial.checkLedger(seed: seed) }
        let session = DownloadSession()
        var random = SplitMix64(seed: seed)
        // A repair takes longer, because its file is larger.
        for index in 0..<(run == .repairs ? Self.count / 2 : Self.count) {
            let state = trial.state(index, &random)
            // Only the program reads plans.
            let isProgram = run == .set || index % max(1, Self.count / Self.programs) == 0
            await trial.resume(state, isProgram ? nil : session, "seed \(seed), \(index): \(state)")
        }
        await session.shutdown()
    }
}

/// A recorded run, and the expectations of the runs after it.
struct CutTrial: Sendable {
    let run: CutRun
    let stage: Stage
    let record: DiskRecord
    /// The numbers of operations that have an operation other than a data write next to them.
    let moments: [Int]
    /// The content of the file after the recorded run.
    private let right: [UInt8]

    struct State: CustomStringConvertible {
        var moment: Int
        var cut: PowerCut
        /// Whether the device number stays the same when the machine restarts.
        var keepsDevice: Bool
        /// Whether the server offers the content from before the recorded run again.
        var isBack: Bool

        var description: String {
            "after \(moment), \(cut)\(keepsDevice ? "" : ", other device")\(isBack ? ", back" : "")"
        }
    }

    init(run: CutRun, stage: Stage, record: DiskRecord) {
        self.run = run
        self.stage = stage
        self.record = record
        right = stage.content.bytes(0..<stage.content.size)
        let operations = record.operations
        moments = (0...operations.count).filter { index in
            (index > 0 && !operations[index - 1].isData)
                || (index < operations.count && !operations[index].isData)
        }
    }

    func state(_ index: Int, _ random: inout SplitMix64) -> State {
        let moment =
            index % 4 == 0
            ? Int.random(in: 0...record.operations.count, using: &random)
            : moments.randomElement(using: &random) ?? 0
        let cut =
            index % 3 == 0
            ? PowerCut.plain.randomElement(using: &random) ?? .losesAll : .random(random.next())
        return State(
            moment: moment, cut: cut, keepsDevice: Bool.random(using: &random),
            isBack: run == .startsOver && Int.random(in: 0..<4, using: &random) == 0)
    }

    /// Whether a file may have its final name after a power cut.
    private func isAllowed(_ file: StoredFile?) -> Bool {
        guard let file else { return run != .overwrites && run != .repairs }
        return file.has(right) || file.has(record.before["file"]?.bytes ?? [])
    }

    /// Expects the name to have the earlier file or all of the new one, at every moment since the
    /// name first changed.
    func checkNames(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        let first = record.operations.firstIndex { operation in
            guard case .names(let changes) = operation else { return false }
            return run.files.contains { changes.keys.contains($0) }
        }
        guard let first else {
            #expect(run == .rejected || run == .tooLarge)
            return
        }
        for moment in first...record.operations.count {
            for cut in PowerCut.plain + (0..<20).map({ _ in .random(random.next()) }) {
                let folder = record.folder(after: moment, cut)
                for name in run.files {
                    let isAllowed = isAllowed(folder[name])
                    #expect(isAllowed, "\(name) after \(moment), \(cut)")
                }
            }
        }
    }

    /// Expects data that is durable at some moment to exist at every later one, whatever else
    /// reached the disk.
    ///
    /// A rename or removal that reaches the disk early must not remove data, nor leave a part
    /// without a manifest.
    func checkThatNothingDurableIsLost(seed: UInt64) {
        var random = SplitMix64(seed: seed &+ 1)
        func kept(_ folder: StoredFolder) -> Int64 {
            if run.mayStartOver { return 0 }
            return folder["file"]?.has(right) == true
                ? stage.content.size : intact(folder, etag: "\"v1\"", byLine: true)
        }
        var before: Int64 = 0
        for moment in Set(moments.shuffled(using: &random).prefix(4) + moments.suffix(12)).sorted()
        {
            let durable = kept(record.folder(after: moment, .losesAll))
            #expect(durable >= before, "seed \(seed), after \(moment)")
            before = durable
            for cut in PowerCut.plain + (0..<4).map({ _ in .random(random.next()) }) {
                let folder = record.folder(after: moment, cut)
                let isKnown =
                    folder["file.part"]?.bytes.isEmpty ?? true || folder["file.segget"] != nil
                #expect(isKnown, "seed \(seed), after \(moment), \(cut): a part without a manifest")
                if durable > 0 {
                    let left = kept(folder)
                    #expect(left >= durable, "seed \(seed), after \(moment), \(cut)")
                }
            }
        }
    }

    /// Expects each file that the ledger records to have its name and all of its bytes, at every
    /// moment.
    func checkLedger(seed: UInt64) throws {
        var random = SplitMix64(seed: seed &+ 2)
        var most = 0
        for moment in 0...record.operations.count {
            for cut in PowerCut.plain + (0..<4).map({ _ in .random(random.next()) }) {
                let folder = record.folder(after: moment, cut)
                let files = try ledger(of: folder)
                most = max(most, files.count)
                for name in files {
                    let isRight = folder[name]?.has(right) == true
                    #expect(isRight, "seed \(seed), after \(moment), \(cut): \(name)")
                }
            }
        }
        #expect(most == run.files.count)
        let end = try ledger(of: record.folder(after: record.operations.count, .losesAll))
        #expect(end.count == run.files.count, "the ledger is not durable at the end")
    }

    /// The paths that the ledger records as complete.
    private func ledger(of folder: StoredFolder) throws -> Set<String> {
        let suffix = ".ledger"
        guard let name = folder.names.keys.first(where: { $0.hasSuffix(suffix) }),
            let file = folder[name]
        else { return [] }
        let sandbox = try Sandbox("segget-ledger", under: "/dev/shm")
        let set = String(name.dropFirst(".segget/".count).dropLast(suffix.count))
        try sandbox.write("\(set)\(suffix)", String(decoding: file.bytes, as: UTF8.self))
        var paths: Set<String> = []
        let ledger = try? LedgerFile(reading: set, in: Folder(sandbox.path))
        try ledger?.forEachMark { mark, _ in
            if mark.event == .complete { paths.insert(mark.path) }
        }
        return paths
    }

    /// Expects most of the received bytes to be durable before the file is complete.
    func checkThatDataIsMadeDurable() {
        let end = record.operations.lastIndex { $0.isData && $0.file == part } ?? 0
        let kept = intact(record.folder(after: end, .losesAll), etag: "\"v1\"")
        #expect(kept > CutRun.size / 2, "\(kept) bytes are durable at the end of the transfer")
    }

    private var part: Int? {
        record.operations.lazy.compactMap { operation -> Int? in
            guard case .names(let changes) = operation else { return nil }
            return changes["file.part"] ?? nil
        }.first ?? record.before.names["file.part"]
    }

    /// Returns the number of bytes that the manifest records and the part has: they need not be
    /// downloaded.
    ///
    /// A reader merges neighbouring extents, so that an extent may not count because its neighbour
    /// is lost. With `byLine`, each line of the manifest counts separately.
    private func intact(_ folder: StoredFolder, etag: String, byLine: Bool = false) -> Int64 {
        guard let bytes = folder["file.segget"]?.bytes,
            let manifest = try? Manifest(reading: bytes), manifest.header.etag == etag,
            let data = folder[manifest.finished == nil ? "file.part" : "file"]?.bytes
        else { return 0 }
        var extents = manifest.extents.extents
        if byLine {
            let lines = bytes.split(separator: UInt8(ascii: "\n"))
            extents = lines.dropFirst().flatMap { line in
                (try? Manifest(reading: lines[0] + [UInt8(ascii: "\n")] + line))?.extents.extents
                    ?? []
            }
        }
        var found = RangeSet()
        for extent in extents where extent.range.end <= Int64(data.count) {
            let range = Int(extent.range.start)..<Int(extent.range.end)
            if CRC32.of(data[range]) == extent.crc { found.insert(extent.range) }
        }
        return found.count
    }

    // MARK: The run after it

    /// Resumes from a state, with the library or, without a session, with the program.
    func resume(_ state: State, _ session: DownloadSession?, _ comment: Comment) async {
        do {
            let sandbox = try Sandbox("segget-power", under: "/dev/shm")
            let left = record.folder(after: state.moment, state.cut)
            try left.write(to: sandbox.path, keepsDevice: state.keepsDevice)
            var contents = [right]
            var etag = run == .startsOver ? "\"v2\"" : "\"v1\""
            if run == .startsOver {
                let offered = state.isBack ? Content(size: CutRun.size, seed: 1) : CutRun.newer
                etag = state.isBack ? "\"v1\"" : "\"v2\""
                stage.origin.change { [etag] offer in
                    offer.content = offered
                    offer.etag = etag
                }
                // A complete file whose publishing had begun is published without a request.
                let manifest = left["file.segget"].flatMap { try? Manifest(reading: $0.bytes) }
                if manifest?.publishing == nil { contents = [] }
                contents.append(offered.bytes(0..<offered.size))
            }
            guard let session else {
                try runProgram(left, in: sandbox, contents, comment)
                return
            }
            do {
                let files = try await run.resume(session, stage, in: sandbox.path)
                let resumed = files.reduce(0) { $0 + $1.bytesResumed }
                let isUnchanged = files.contains { $0.unchanged != nil }
                let kept = intact(left, etag: etag)
                #expect(run.mayStartOver || isUnchanged || resumed >= kept, comment)
                try expectRight(sandbox, contents, comment)
            } catch let error as DownloadError {
                switch error.reason {
                case .assembly(.destinationExists) where isComplete(left): break
                case .assembly(.foreignPart) where looksForeign(left): break
                default: Issue.record(error, comment)
                }
            }
        } catch {
            Issue.record(error, comment)
        }
    }

    /// Whether a file has its final name and no manifest: segget then reports that it exists.
    private func isComplete(_ left: StoredFolder) -> Bool {
        run.files.contains {
            left[$0]?.has(right) == true && left["\($0).segget"] == nil
        }
    }

    /// Whether only a file that may belong to another program is left beside the name.
    ///
    /// segget does not remove it, and no data is lost.
    private func looksForeign(_ left: StoredFolder) -> Bool {
        run.files.contains {
            guard left["\($0).segget"] == nil, let rewrite = left["\($0).segget~"] else {
                return false
            }
            return !Manifest.mayBegin(with: rewrite.bytes.prefix(64))
        }
    }

    private func runProgram(
        _ left: StoredFolder, in sandbox: Sandbox, _ contents: [[UInt8]], _ comment: Comment
    ) throws {
        let outcome = try Run(run.arguments(stage), in: sandbox.path).wait()
        let exists = Run.End.exit(73)
        if outcome.end == exists, isComplete(left) || looksForeign(left) { return }
        #expect(outcome.end == run.end, "\(comment): \(outcome.errorOutput)")
        if run.end != .exit(0) {
            #expect(try !sandbox.names().contains("file"), comment)
        } else {
            try expectRight(sandbox, contents, comment)
        }
    }

    private func expectRight(_ sandbox: Sandbox, _ contents: [[UInt8]], _ comment: Comment) throws {
        for name in run.files {
            let file = StoredFile(bytes: Array(try sandbox.read(name)))
            let isRight = contents.contains(where: file.has)
            #expect(isRight, "\(name): \(comment)")
        }
        let names = try sandbox.names()
        #expect(names == run.names, comment)
    }
}
