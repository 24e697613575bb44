import Assembler
import Glibc
import SeggetReports
import Segmenter

/// The files of a plan in the Hub's cache, where equal files are one blob.
struct HubCachedSet {
    let snapshot: HubSnapshot
    let plan: PlanFile
    /// How far the set is.
    private(set) var figures: SetFigures
    private let sizes: [Int64]
    private let names: [String]
    private var indices: [String: [Int]] = [:]

    /// Reads the plan; blocks on the disk.
    ///
    /// - Throws: `PlanError`.
    init(_ plan: PlanFile, _ snapshot: HubSnapshot) throws(PlanError) {
        (self.plan, self.snapshot) = (plan, snapshot)
        figures = SetFigures(files: plan.count, bytes: plan.size)
        var (sizes, names) = ([Int64](), [String]())
        for index in 0..<plan.count {
            let file = try plan.file(at: index)
            let name = file.strongestDigest?.hex ?? ""
            sizes.append(file.size ?? 0)
            names.append(name)
            indices[name, default: []].append(index)
        }
        (self.sizes, self.names) = (sizes, names)
    }

    /// Returns the indices of the files that are a blob.
    func files(_ blob: String) -> [Int] { indices[blob] ?? [] }

    /// Returns the indices of the files that are the same blob as a file, with its own.
    func same(as index: Int) -> [Int] { files(names[index]) }

    /// Counts a file with its new state.
    mutating func count(_ index: Int, _ old: TaskFile.State, _ new: TaskFile.State) {
        count(index, old, -1)
        count(index, new, 1)
    }

    private mutating func count(_ index: Int, _ state: TaskFile.State, _ change: Int) {
        switch state {
        case .complete:
            figures.complete += change
            figures.bytesComplete += Int64(change) * sizes[index]
        case .failed: figures.failed += change
        case .active, .missing: break
        }
    }
}

// The download of a plan's files into the Hub's cache.
extension SetRun {
    /// Downloads into the cache, as `segget get` does.
    func attempt(in cache: String, _ hub: HubAccess) async -> Ending {
        let opened = await offLoop("set") { [self] () throws(Never) in open(in: cache) }
        let (snapshot, contents): (HubSnapshot, HubSnapshot.Contents)
        switch opened {
        case .success(let pair): (snapshot, contents) = pair
        case .failure(let obstacle): return obstacle.ending
        }
        guard !contents.isCancelled else { return .stopped }
        report.yield(.began)
        let obstacle = await fetch(contents.missing, of: snapshot, hub)
        return await offLoop("set") { [self] () throws(Never) in
            end(snapshot, contents, obstacle)
        }
    }

    /// Opens the plan and the cache, and finds out which files are complete; blocks.
    private func open(
        in cache: String
    ) -> Result<(HubSnapshot, HubSnapshot.Contents), Obstacle> {
        let (snapshot, cached): (HubSnapshot, HubCachedSet)
        do throws(PlanError) {
            let plan = try PlanFile(planPath)
            do throws(SetError) {
                snapshot = try HubSnapshot(plan, in: cache)
            } catch {
                return .failure(Obstacle(error))
            }
            cached = try HubCachedSet(plan, snapshot)
        } catch {
            return .failure(Obstacle(.plan(error, path: planPath)))
        }
        do throws(SetError) {
            let contents = try snapshot.examine { state.withLock { $0.isCancelled } }
            if !contents.missing.isEmpty, !snapshot.isWritable {
                throw .assembly(.cannotCreate(path: snapshot.path, errno: EROFS))
            }
            guard !contents.isCancelled else { return .success((snapshot, contents)) }
            state.withLock { state in
                state.cached = cached
                state.files = Array(repeating: .missing, count: cached.plan.count)
                let without = Set(contents.missing + contents.wrong)
                for name in snapshot.order where !without.contains(name) {
                    if let index = cached.files(name).first { state.mark(index, .complete) }
                }
                for name in contents.wrong { state.fail(name, Self.wrong(snapshot, name)) }
            }
            return .success((snapshot, contents))
        } catch {
            return .failure(Obstacle(error))
        }
    }

    /// Downloads the missing blobs, and waits for those that other processes are downloading.
    ///
    /// - Returns: What ended it early; `nil` for nothing.
    private func fetch(
        _ missing: [String], of snapshot: HubSnapshot, _ hub: HubAccess
    ) async -> Obstacle? {
        let fetch = HubFetch(missing, of: snapshot, from: hub, describe: SetFailure.init)
        var hasSaid = false
        do throws(SetError) {
            while true {
                let step = try await offLoop("set") { [self] () throws(SetError) in
                    try fetch.next { isStopped }
                }
                switch step {
                case .done: return nil
                case .wait(let count, let holder):
                    if !hasSaid { report.yield(.waits(HubWords.waits(count, holder))) }
                    hasSaid = true
                    await pause()
                case .download(let turn):
                    await download(turn)
                    try await offLoop("set") { [self] () throws(SetError) in
                        if let problem = turn.set.close() { note(unrecorded: problem) }
                        try fetch.end(turn, isStopped: isStopped)
                    }
                }
            }
        } catch {
            return Obstacle(error)
        }
    }

    /// Whether no further file is to be started: the run was cancelled, or a failure ends it.
    private var isStopped: Bool { state.withLock { $0.isCancelled || $0.failures.endsRun } }

    /// Waits until it is time to look at the cache again, or the run is cancelled.
    private func pause() async {
        let pause = Task<Void, Never> { try? await Task.sleep(for: HubFetch.pause) }
        let isCancelled = state.withLock { state in
            state.pause = pause
            return state.isCancelled
        }
        if isCancelled { pause.cancel() }
        await pause.value
    }

    /// Downloads the blobs that this run has claimed.
    private func download(_ turn: HubTurn) async {
        var options = options
        // Nothing but the copied beginning of a blob has its path.
        options.continuesExisting = true
        let batch = state.withLock { state -> DownloadBatch? in
            guard !state.isCancelled else { return nil }
            let batch = session.start(
                turn.set, turn.work, options: options, refreshURL: refreshURL)
            state.batch = batch
            return batch
        }
        guard let batch else { return }
        await follow(batch) { [self] event in
            guard let name = turn.blob(event.index),
                let index = state.withLock({ $0.cached?.files(name).first })
            else { return false }
            if case .ended(.failure(let error)) = event.kind,
                turn.failed(event.index, isWrong: Diagnostic.isOfWrongBytes(error))
            {
                state.withLock { state in
                    state.active[index] = nil
                    state.mark(index, .missing)
                }
                return false
            }
            return take(event, index)
        }
    }

    /// Looks at what others have delivered meanwhile, links the files, and returns the end; blocks.
    private func end(
        _ snapshot: HubSnapshot, _ before: HubSnapshot.Contents, _ obstacle: Obstacle?
    ) -> Ending {
        var (contents, kept) = (before, [String]())
        do throws(SetError) {
            if !before.missing.isEmpty {
                contents.add(
                    try snapshot.examine(before.missing) { state.withLock { $0.isCancelled } })
            }
            guard !contents.isCancelled else { return .stopped }
            take(contents, of: snapshot)
            kept = try snapshot.link(contents)
            try snapshot.record(failures(snapshot, contents.missing + contents.wrong))
        } catch {
            return (obstacle ?? Obstacle(error)).ending
        }
        let (failures, figures, received, isCancelled) = state.withLock {
            ($0.failures, $0.figures ?? SetFigures(), $0.received, $0.isCancelled)
        }
        if contents.isComplete, kept.isEmpty {
            return completed(snapshot.path, size: figures.bytesComplete, received: received)
        }
        guard !isCancelled else { return .stopped }
        if let obstacle { return obstacle.ending }
        var final: Ending?
        if let (error, rule) = failures.ending {
            let ending = Self.failed(error, rule, failures, of: figures.files)
            guard rule == .final else { return ending }
            final = ending
        }
        if let name = contents.wrong.first {
            return .failed(.final, Self.wrong(snapshot, name), isNetworkLoss: false)
        }
        if let final { return final }
        let foreign = contents.missing.lazy.compactMap { snapshot.foreign($0) }.first
        guard let text = foreign.map(HubWords.foreign) ?? kept.first.map(HubWords.kept) else {
            return state.withLock { $0.unrecorded }?.ending ?? .stopped
        }
        return .failed(.final, Self.exists(text), isNetworkLoss: false)
    }

    /// Notes the states of the files at the end.
    private func take(_ contents: HubSnapshot.Contents, of snapshot: HubSnapshot) {
        let without = Set(contents.missing + contents.wrong)
        let foreign = contents.missing.compactMap { name in
            snapshot.foreign(name).map { (name, Self.exists(HubWords.foreign($0))) }
        }
        state.withLock { state in
            for name in snapshot.order where !without.contains(name) {
                if let index = state.cached?.files(name).first { state.mark(index, .complete) }
            }
            for name in contents.wrong { state.fail(name, Self.wrong(snapshot, name)) }
            for (name, problem) in foreign { state.fail(name, problem) }
        }
    }

    /// Returns the failures to record, by the names of blobs.
    private func failures(
        _ snapshot: HubSnapshot, _ names: [String]
    ) -> [String: SetFailure] {
        state.withLock { state in
            var failures: [String: SetFailure] = [:]
            for name in names {
                guard let index = state.cached?.files(name).first,
                    let problem = state.problems[index]
                else { continue }
                failures[name] = SetFailure(
                    kind: problem.kind, code: problem.code, message: problem.message,
                    hint: problem.hint)
            }
            return failures
        }
    }

    /// Returns the problem of a blob that is wrong.
    private static func wrong(_ snapshot: HubSnapshot, _ name: String) -> TaskProblem {
        TaskProblem(
            .retry, kind: "checksum_mismatch",
            message: HubWords.wrongForQueue(snapshot.blobPath(name)),
            code: ExitStatus.checksumMismatch.rawValue)
    }

    /// Returns the problem of a path in the cache that has something else.
    private static func exists(_ text: String) -> TaskProblem {
        TaskProblem(
            .retry, kind: "destination_exists", message: text,
            code: ExitStatus.cannotCreate.rawValue)
    }
}

extension SetRun.State {
    /// Notes why a blob is missing or wrong.
    fileprivate mutating func fail(_ blob: String, _ problem: TaskProblem) {
        guard let index = cached?.files(blob).first else { return }
        mark(index, .failed)
        for index in cached?.same(as: index) ?? [] { problems[index] = problem }
    }
}
