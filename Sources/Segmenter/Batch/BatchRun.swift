// Batch: the files of a list, their order, names and places, and the small ones among them. It
// knows how many downloads run at a time and who has which name; it never knows how one file is
// fetched.

import Assembler

/// What a batch works with.
final class BatchRun: Sendable {
    let loop: TransferLoop
    let list: BatchList
    let failFast: Bool
    let names: BatchNames
    let events: BatchEvents
    private let refreshURL: RefreshURL?
    /// The cookies of its files.
    private let jars: CookieJars
    /// Attempts that a server may turn away before others no longer wait for the name of the file.
    private static let patience = 6
    /// Seconds for which they wait for the name of a file that has given up its slot.
    private static let longestAside = 5.0
    private let turns = BatchTurns()
    private let gate: BatchGate
    private let publisher = WholeFilePublisher()
    private let slots: BatchSlots
    private let firstRequests: FirstRequests
    /// Which files cannot have the path that they name; looked up once, before the file begins.
    private let refused = Monitor<Set<Int>>([])
    private let running = Monitor<Set<Int>>([])
    /// Whether a manifest, by its generation, was begun for a file of the list.
    private let owners = Monitor<[String: Bool]>([:])

    init(
        loop: TransferLoop, list: BatchList, jobs: Int?, failFast: Bool, names: BatchNames,
        events: BatchEvents, refreshURL: RefreshURL? = nil, jars: CookieJars? = nil
    ) {
        self.loop = loop
        self.jars = jars ?? CookieJars()
        self.refreshURL = refreshURL
        self.list = list
        let width = BatchWidth(jobs: DescriptorBudget.current.jobs(jobs))
        slots = BatchSlots(width)
        gate = BatchGate(width.largeLimit)
        firstRequests = FirstRequests(loop, slots)
        self.failFast = failFast
        self.names = names
        self.events = events
    }

    /// Adds files at the end of the list.
    ///
    /// - Returns: Their places; `nil` when the list is closed.
    func add(_ items: [BatchItem]) -> Range<Int>? {
        let places = list.add(items)
        slots.look()
        return places
    }

    /// Takes no more files from now on.
    func close() {
        list.close()
        slots.look()
    }

    func callAsFunction() async {
        names.begin()
        await withTaskCancellationHandler {
            await runAll()
        } onCancel: {
            firstRequests.cancel()
            slots.look()
        }
        list.close()
        await offLoop("publish") { self.publisher.finish() }
        names.end()
        events.finish()
    }

    private func runAll() async {
        // No more tasks than there are slots, however long the list is.
        await withDiscardingTaskGroup { group in
            var next = 0
            // Files whose paths are taken, where they name them.
            var count = 0
            var begun = Begun()
            // Nobody waits for the next stretch while there is work in this one.
            var ahead: Task<Begun, Never>?
            while true {
                let isStopping = failFast && slots.hasFailure
                if isStopping {
                    group.cancelAll()
                    firstRequests.cancel()
                    list.close()
                } else if count < list.count {
                    // So many connections were asked for, and no more.
                    if count == 0 { slots.limit(to: list[0].options.connections) }
                    count = await takeNamedPaths(from: count)
                    owners.withLock { $0 = $0.filter(\.value) }
                }
                var entries: [FirstRequests.Entry] = []
                while next < count, slots.hasRoom, !gate.isBusy, !isStopping, !Task.isCancelled {
                    if !begun.knows(next) {
                        if let ahead {
                            begun = await ahead.value
                        } else {
                            begun = await look(next..<count)
                        }
                        let rest = begun.range.upperBound..<count
                        ahead = rest.isEmpty ? nil : Task { await look(rest) }
                    }
                    let (index, isBegun, url) = (next, begun.contains(next), begun.url(of: next))
                    if !isBegun, let entry = firstRequest(index, url) {
                        slots.queue()
                        entries.append(entry)
                    } else {
                        // In the order of the list: whoever has a place may wait for the names of all
                        // before it, which must not wait for a place in their turn.
                        guard slots.mayStart, !isBegun || gate.tryEnter() else { break }
                        slots.begin()
                        group.addTask { await self.run(index, url, isBegun: isBegun) }
                    }
                    next += 1
                }
                if !entries.isEmpty || slots.isStuck { firstRequests.send(entries) }
                for file in slots.takeUnfinished() {
                    group.addTask {
                        self.end(file.index, await file.run.withinTime(file.answered))
                    }
                }
                // All may have ended since there was no room for more: that is not the end.
                if list.ends(after: next) || isStopping || Task.isCancelled, slots.isEmpty { break }
                await slots.change()
            }
            _ = await ahead?.value
        }
    }

    /// The request that may bring a file without a task for it; `nil` when it needs one.
    private func firstRequest(_ index: Int, _ url: WebURL?) -> FirstRequests.Entry? {
        guard case .success(let run) = download(list[index], index, url, isBegun: false),
            let (probe, request) = run.firstRequest()
        else { return nil }
        begin(index, url)
        let began = monotonicSeconds()
        return FirstRequests.Entry(index: index, request: request) { [self] exchange in
            let answered = DownloadRun.Answered(exchange: exchange, began: began)
            guard exchange.isWhole else { return goOn(index, run, answered) }
            slots.park(index, bytes: exchange.body.count, isFollowed: true)
            run.publish(answered, probe) { [self] result, answered in
                if let result { end(index, result) } else { goOn(index, run, answered) }
            }
        }
    }

    /// Has a task go on with a file that its first request has not brought.
    private func goOn(_ index: Int, _ run: DownloadRun, _ answered: DownloadRun.Answered) {
        slots.leave(.init(index: index, run: run, answered: answered))
    }

    private func begin(_ index: Int, _ url: WebURL?) {
        events.offer(BatchEvent(index: index, kind: .begun(url: url?.redacted ?? "")))
        running.withLock { _ = $0.insert(index) }
    }

    private func end(_ index: Int, _ result: Result<DownloadedFile, DownloadError>) {
        running.withLock { _ = $0.remove(index) }
        turns.settle(index)
        events.offer(BatchEvent(index: index, kind: .ended(result)))
        slots.end(index, of: WebURL(list[index].url)?.origin, isDone: (try? result.get()) != nil)
    }

    /// Gives the files from this one on that name their path what they name, before any of them takes a
    /// suggested name.
    ///
    /// - Returns: Number of files in the list, by now.
    private func takeNamedPaths(from start: Int) async -> Int {
        await offLoop("names") { [self] in
            let count = list.count
            for index in start..<count {
                let item = list[index]
                guard case .file(let path) = item.destination, !item.options.naming.numbersTaken
                else { continue }
                if !names.take(FileTarget(path: path)) {
                    refused.withLock { _ = $0.insert(index) }
                }
            }
            return count
        }
    }

    /// Looks, for the first stretch of these files, where something stands already.
    private func look(_ range: Range<Int>) async -> Begun {
        await offLoop("names") { [self] in
            var folders: [String: Folder] = [:]
            let length = range.lowerBound == 0 ? Begun.firstStretch : Begun.stretch
            var begun = Begun(range: range.prefix(length))
            for index in begun.range {
                let item = list[index]
                let url = WebURL(item.url)
                begun.urls.append(url)
                // The reply to a single request waits for no place.
                guard item.options.mirrors.isEmpty, !item.options.singleRequest else {
                    begun.found.insert(index)
                    continue
                }
                let target: FileTarget
                var isSuggested = false
                switch item.destination {
                case .file(let path): target = FileTarget(path: path)
                case .folder(let path):
                    guard let url else { continue }
                    isSuggested = true
                    target = .init(
                        folder: path, name: FileName.suggested(disposition: nil, url: url))
                case .descriptor, .null:
                    begun.found.insert(index)
                    continue
                }
                if folders[target.folder] == nil {
                    folders[target.folder] = try? Folder(target.folder)
                }
                guard let folder = folders[target.folder] else { continue }
                if !Assembly.isUntouched(target.name, in: folder),
                    // What this run has put there only has this one numbered.
                    !isSuggested || !names.isNew(target)
                {
                    begun.found.insert(index)
                }
            }
            return begun
        }
    }

    /// Runs one file, whose URL was read already, to its end.
    private func run(_ index: Int, _ url: WebURL?, isBegun: Bool) async {
        begin(index, url)
        switch download(list[index], index, url, isBegun: isBegun) {
        case .success(let run): end(index, await run.withinTime())
        case .failure(let error):
            // Its place is another's.
            if isBegun { gate.leave() }
            end(index, .failure(error))
        }
    }

    /// Tells, one after the other, what would be done with each file.
    func preview(_ report: (Int, Result<DownloadPreview, DownloadError>) -> Void) async {
        names.begin()
        for index in 0..<(await takeNamedPaths(from: 0)) where !Task.isCancelled {
            let item = list[index]
            switch download(item, index, WebURL(item.url)) {
            case .success(let run): report(index, await run.preview())
            case .failure(let error): report(index, .failure(error))
            }
            turns.settle(index)
        }
        names.end()
    }

    /// Adds an event to those of the file that began first.
    func report(_ event: DownloadEvent) {
        guard let first = running.withLock({ $0.min() }) else { return }
        events.offer(BatchEvent(index: first, kind: .event(event)))
    }

    /// The download of a file; an error when another file has the path that it names.
    private func download(
        _ item: BatchItem, _ index: Int, _ url: WebURL?, isBegun: Bool = true
    ) -> Result<DownloadRun, DownloadError> {
        if refused.withLock({ $0.contains(index) }), case .file(let path) = item.destination {
            let path = FileTarget(path: path).path
            return .failure(
                DownloadError(
                    reason: .nameTaken(path: path), url: url?.redacted ?? "", path: path,
                    bytesKept: 0))
        }
        let mustBeFree = item.options.naming.numbersTaken
        if case .file = item.destination, !mustBeFree { turns.settle(index) }
        let batch = BatchContext(
            naming: { [self] target, urls, keeps throws(DownloadError.Reason) in
                try await name(target, urls, index, mustBeFree: mustBeFree, keeps: keeps)
            },
            existing: { [self] target throws(DownloadError.Reason) in
                try await existing(target, index)
            }, publisher: publisher, gate: gate, isBegun: isBegun,
            hasCome: { [slots] in slots.park(index, bytes: $0) },
            isDeclined: { [slots] in slots.unpark(index) },
            isDone: { [slots] in slots.adjust(wait: $0) },
            whenDue: { [turns] in turns.whenDue(index, $0) },
            stepAside: { [turns, slots] origin, delay in
                // Nobody waits for its name for long.
                let turn = Task {
                    try await Task.sleep(for: .seconds(Self.longestAside))
                    turns.settle(index)
                }
                await slots.stepAside(index, of: origin, for: delay)
                turn.cancel()
            }, folders: names.made,
            claim: { [self] target, urls, keeps throws(AssemblyError) in
                defer { turns.settle(index) }
                return try names.claim(
                    target, urls: urls, mustBeFree: mustBeFree, keepsSuggested: keeps,
                    isAnothers: isOneOfOurs)
            })
        let run = DownloadRun(
            loop: loop, urlText: item.url, url: url, destination: item.destination,
            options: item.options, refreshURL: refreshURL, batch: batch, jars: jars,
            parts: names.parts
        ) { [turns, events] event in
            // Nobody waits for the name of a file whose server does not answer, or goes on saying that
            // it has too much to do.
            if case .notice(.retrying(_, let attempt, _, let cause)) = event,
                attempt > Self.patience || !cause.isTooMuch
            {
                turns.settle(index)
            }
            events.offer(BatchEvent(index: index, kind: .event(event)))
        }
        return .success(run)
    }

    /// The name for a file, when its turn has come.
    private func name(
        _ target: FileTarget, _ urls: [String], _ index: Int, mustBeFree: Bool, keeps: Bool
    ) async throws(DownloadError.Reason) -> String {
        await turns.wait(index)
        guard !Task.isCancelled else { throw .cancelled }
        do throws(AssemblyError) {
            let name = try await offLoop("names") { [self] () throws(AssemblyError) in
                try names.claim(
                    target, urls: urls, mustBeFree: mustBeFree, keepsSuggested: keeps,
                    isAnothers: isOneOfOurs)
            }
            turns.settle(index)
            return name
        } catch {
            throw .assembly(error)
        }
    }

    /// The name of a file that exists and is to be skipped, when its turn has come.
    private func existing(
        _ target: FileTarget, _ index: Int
    ) async throws(DownloadError.Reason) -> String? {
        await turns.wait(index)
        guard !Task.isCancelled else { throw .cancelled }
        let name = await offLoop("names") { [self] in names.takeExisting(target) }
        if name != nil { turns.settle(index) }
        return name
    }

    /// Whether a manifest was begun for a file of the list.
    private func isOneOfOurs(_ header: Manifest.Header) -> Bool {
        if let known = owners.withLock({ $0[header.generation] }) { return known }
        let found = (0..<list.count).contains { index in
            let item = list[index]
            return ([item.url] + item.options.mirrors).contains { url in
                WebURL(url).map { header.belongs(to: $0.text) } ?? false
            }
        }
        owners.withLock { $0[header.generation] = found }
        return found
    }
}

extension TransferFailure {
    /// Whether the server says that it has too much to do.
    fileprivate var isTooMuch: Bool {
        if case .status(let status) = self { isOverload(status) } else { false }
    }
}

/// For which files of a stretch of a list something stands already, at the names that are to be
/// expected.
private struct Begun: Sendable {
    /// Files that are looked at together.
    static let stretch = 256
    /// As many at the beginning, when others wait for it.
    static let firstStretch = 16

    var range = 0..<0
    var found: Set<Int> = []
    /// Their URLs, where they are URLs.
    var urls: [WebURL?] = []

    func knows(_ index: Int) -> Bool { range.contains(index) }
    func contains(_ index: Int) -> Bool { found.contains(index) }
    func url(of index: Int) -> WebURL? { urls[index - range.lowerBound] }
}
