import SegmenterValues
import TestSupport

@testable import Segmenter

/// What the workers and finishings of a story do to files.
extension FleetStory {
    /// Returns the files of each shard, and their number.
    ///
    /// With ranges, the last file of each shard is also the first one of the next shard.
    static func plan(
        _ shards: Int, of count: Int, hasRanges: Bool
    ) -> (items: [[FleetFinisher.Item]], files: Int) {
        var items: [[FleetFinisher.Item]] = []
        var next = 0
        for shard in 0..<shards {
            var own: [FleetFinisher.Item] = []
            for number in 0..<count {
                let (isFirst, isLast) = (number == 0, number == count - 1)
                let start = hasRanges && isFirst && shard > 0
                let end = hasRanges && isLast && shard + 1 < shards
                if start { next -= 1 }
                let range = start || end ? ByteRange(Int64(shard), Int64(shard) + 1) : nil
                let file = Listing.File(
                    path: "\(next)", address: "https://h.test/\(next)", size: 2, etag: "\"v1\"")
                own.append(.init(index: next, file: file, range: range))
                next += 1
            }
            items.append(own)
        }
        return (items, next)
    }

    /// Returns the records of an attempt, as a machine sees them, by their paths.
    private mutating func records(
        _ shard: Int, _ attempt: Int, on machine: Int
    ) -> [String: FleetRecord] {
        guard let found = data[FleetMark(shard, attempt, .claim)] else { return [:] }
        let isStale = processes[found.owner - 1].machine != machine && chance(0.3)
        let last = isStale ? now - staleness : now
        var records: [String: FleetRecord] = [:]
        for record in found.records where record.at <= last {
            records[items[shard][record.item].file.path] = FleetRecord(
                attempt: attempt, size: 2, version: versions[shard][record.item])
        }
        return records
    }

    private func voids(of shard: Int, _ marks: [FleetMark]) -> FleetVoids {
        marks.reduce(into: FleetVoids()) { voids, mark in
            voids.add(self.marks[mark]?.paths ?? [], of: mark.attempt)
        }
    }

    // MARK: Workers

    mutating func begin(_ index: Int, _ shard: Int, _ attempt: Int) throws {
        let process = processes[index]
        let claim = FleetMark(shard, attempt, .claim)
        guard marks[claim]?.owner == process.id else {
            throw Broken(text: "a process works on an attempt that it has not claimed")
        }
        let board = board(on: process.machine)
        data[claim] = Data(earlier: [], owner: process.id, lastBeat: now)
        processes[index].work = (shard, attempt, process.isInterrupted)
        processes[index].lastLook = now
        guard shard != FleetMark.finish else {
            processes[index].finisher = (
                FleetFinisher(
                    board, wanted: Set(0..<files).subtracting(published).subtracting(foreign),
                    shards: shards), FleetFinisher.first
            )
            return
        }
        let sources = board.sources(of: shard, before: attempt)
        guard !sources.contains(where: { board.kinds(shard, $0).contains(.failed) }) else {
            throw Broken(text: "an attempt takes what a failed one has received")
        }
        var earlier = FleetShardFiles(without: voids(of: shard, board.voids(of: shard)))
        for source in sources {
            if board.kinds(shard, source).contains(.left) {
                data[FleetMark(shard, source, .claim)]?.isMoved = true
            }
            earlier.add(records(shard, source, on: process.machine), of: source)
        }
        for void in board.voids(of: shard) {
            for path in marks[void]?.paths ?? [] {
                guard earlier.complete[path]?.attempt ?? .max > void.attempt else {
                    throw Broken(text: "an attempt takes a file that was found to be wrong")
                }
            }
        }
        data[claim]?.earlier = Set(
            items[shard].indices.filter { earlier.complete[items[shard][$0].file.path] != nil })
        lastSources[process.id] = sources
    }

    mutating func download(
        _ index: Int, _ work: (shard: Int, attempt: Int, isStopping: Bool)
    ) throws {
        let process = processes[index]
        let claim = FleetMark(work.shard, work.attempt, .claim)
        guard work.shard != FleetMark.finish else { return try finish(index, claim) }
        processes[index].next = now + Double.random(in: 0...20, using: &random)
        func end(_ outcome: FleetWorker.Outcome) {
            processes[index].work = nil
            if outcome == .temporary || outcome == .failed {
                processes[index].gaveUp.insert(work.shard)
            }
            perform(index, .ended(outcome))
        }
        if work.isStopping { return end(.stopped) }
        if process.isInterrupted {
            perform(index, .interrupted)
            guard processes[index].action == .stop else {
                throw Broken(text: "a worker goes on that was asked to end")
            }
            processes[index].work?.isStopping = true
            return
        }
        if now - process.lastLook >= 20 {
            processes[index].lastLook = now
            data[claim]?.beat += 1
            data[claim]?.lastBeat = now
            let board = board(on: process.machine)
            perform(index, .looked(board, [:], now: now))
            let isLate = board.last(of: work.shard) > work.attempt
            guard (processes[index].action == .stop) == isLate else {
                throw Broken(text: "a replaced attempt goes on, or another one stops")
            }
            if isLate {
                processes[index].work?.isStopping = true
                return
            }
        }
        if isBad, chance(failure) { return end(.temporary) }
        if isBad, chance(failure / 2) { return end(.failed) }
        guard let own = data[claim], own.owner == process.id else {
            throw Broken(text: "two processes write in one folder")
        }
        guard !own.isMoved else {
            throw Broken(text: "a part was moved away while it was written")
        }
        let there = own.earlier.union(own.records.map(\.item))
        let missing = items[work.shard].indices.filter { !there.contains($0) }
        if let item = missing.first {
            let isRight = !isBad || !chance(damage)
            let content: Content =
                isRight ? .right : Bool.random(using: &random) ? .damaged : .wrongFromServer
            data[claim]?.records.append((item, content, now))
        }
        if missing.count <= 1 { end(.complete) }
    }

    // MARK: Finishings

    /// Carries out an action of a finishing; the process may be killed before or after it.
    private mutating func finish(_ index: Int, _ claim: FleetMark) throws {
        let process = processes[index]
        guard var finisher = process.finisher else { return }
        processes[index].next = now + Double.random(in: 0...0.5, using: &random)
        data[claim]?.beat += 1
        data[claim]?.lastBeat = now
        finishSteps += 1
        let dies = finishSteps == lastFinishStep
        if dies, Bool.random(using: &random) { return die(index) }
        if process.isInterrupted, !finisher.rules.isInterrupted {
            finisher.action = finisher.rules.take(.interrupted)
        } else if let event = try event(finisher, index) {
            finisher.action = finisher.rules.take(event)
        } else {
            processes[index].finisher = nil
            processes[index].work = nil
            return perform(index, .ended(.stopped))
        }
        processes[index].finisher = finisher
        if finisher.rules.isInterrupted {
            switch finisher.action {
            case .void, .end: break
            default: throw Broken(text: "a finishing goes on that was asked to end")
            }
        }
        if dies { die(index) }
    }

    /// Carries out an action; returns its result, or `nil` for the end.
    private mutating func event(
        _ finisher: (rules: FleetFinisher, action: FleetFinisher.Action), _ index: Int
    ) throws -> FleetFinisher.Event? {
        let machine = processes[index].machine
        switch finisher.action {
        case .items(let shard):
            return .items(items[shard].filter { finisher.rules.wanted.contains($0.index) })
        case .marks(let done, let voids):
            return .marks(sources: marks[done]?.sources ?? [], self.voids(of: done.shard, voids))
        case .records(let shard, let attempt):
            return .records(records(shard, attempt, on: machine))
        case .verify(let file, let piece):
            if isBad, chance(failure) { return .failed }
            let content = try content(piece, of: file)
            processes[index].verified = (file, false, content == .right)
            return .checked(content == .right ? .right(crc32: 0) : .wrongPieces([0]))
        case .join(let file, let pieces):
            if isBad, chance(failure) { return .failed }
            let contents = try pieces.map { try content($0, of: file) }
            guard pieces.count == items.joined().count(where: { $0.index == file }) else {
                throw Broken(text: "a file is put together from some of its ranges")
            }
            let isRight = contents.allSatisfy { $0 == .right }
            processes[index].verified = (file, true, isRight)
            let damaged = contents.indices.filter { contents[$0] == .damaged }
            guard damaged.isEmpty else { return .checked(.wrongPieces(damaged)) }
            return .checked(isRight ? .right(crc32: 0) : .wrongDigest)
        case .publish(let file, let piece, _):
            guard let verified = processes[index].verified, verified.file == file,
                verified.isJoined == (piece == nil), verified.isRight
            else { throw Broken(text: "a file is published that was not found to be right") }
            if isBad, chance(failure) { return .failed }
            guard piece == nil || !needsCopies else { return .published(.needsCopy) }
            guard !foreign.contains(file) else { return .published(.isForeign) }
            published.insert(file)
            return chance(lossOfReply) ? .failed : .published(.done)
        case .void(let mark, let paths):
            try checkVoid(mark, paths)
            if marks[mark] == nil {
                add(mark, Mark(owner: processes[index].id, paths: paths), machine)
            }
            hasVoid = true
            return .made
        case .end: return nil
        }
    }

    /// Returns the content of a file or range that an attempt has recorded.
    private func content(
        _ piece: FleetFinisher.Piece, of file: Int
    ) throws -> Content {
        let item = items[piece.shard].firstIndex { $0.index == file }
        let found = data[FleetMark(piece.shard, piece.attempt, .claim)]?.records
            .first { $0.item == item }
        guard let found else { throw Broken(text: "a finishing uses a file that is not complete") }
        return found.content
    }

    /// Checks that a void names files that are wrong, and whose attempt is done.
    private func checkVoid(_ mark: FleetMark, _ paths: [String]) throws {
        guard marks[FleetMark(mark.shard, mark.attempt, .done)] != nil else {
            throw Broken(text: "an attempt is void that is not done")
        }
        // Old records show less than there is.
        guard staleness == 0 else { return }
        let attempts =
            [mark.attempt] + (marks[FleetMark(mark.shard, mark.attempt, .done)]?.sources ?? [])
        for path in paths {
            let item = items[mark.shard].firstIndex { $0.file.path == path }
            guard let item else { throw Broken(text: "a void names a file of another shard") }
            let file = items[mark.shard][item]
            let contents = items.indices.flatMap { shard in
                (file.range == nil && shard != mark.shard ? [] : Array(data.keys)).filter {
                    $0.shard == shard
                }.flatMap { claim in
                    (data[claim]?.records ?? []).filter {
                        items[shard][$0.item].index == file.index
                            && (shard != mark.shard || attempts.contains(claim.attempt))
                    }
                }
            }
            guard contents.contains(where: { $0.content != .right }) else {
                throw Broken(text: "a void names a file that is right")
            }
        }
    }
}
