import Assembler

/// The files of a batch that are under way, and those that have come and wait for their names.
///
/// The latter fetch nothing, so that others begin in their place: one reply that takes long holds up
/// the names of all files behind it, and a disk those of a group, but not what is fetched. Where a number
/// of files was asked for, they count all the same. May be used from any thread.
final class BatchSlots: Sendable {
    /// A file that its first request has not brought.
    struct Unfinished: Sendable {
        let index: Int
        let run: DownloadRun
        let answered: DownloadRun.Answered
    }

    /// Files that have come and wait, from which on no other begins, and their bytes; fewer from a server
    /// nearby, where it is the disk that they wait for.
    static let mostParked = (files: 256, bytes: 4 << 20, bytesNearby: 1 << 20)

    /// A file without a slot, because its server refuses it.
    private struct Aside {
        let origin: String
        /// Whether another file of the server has ended since.
        var mayGoOn = false
        /// The one who waits, when it may be asked for again.
        var waiting: Answer<Void>?
    }

    private struct State {
        var width: BatchWidth
        var underWay = 0
        /// Files whose first request is to go out as soon as one that is under way ends.
        var ahead = 0
        /// Bytes of those that have come, by their place in the list.
        var parked: [Int: Int] = [:]
        var parkedBytes = 0
        var hasFailure = false
        /// Files that need a task to go on.
        var unfinished: [Unfinished] = []
        /// Those without a slot, by their place in the list.
        var asides: [Int: Aside] = [:]
        /// Whether something has changed since the last `change`.
        var isNews = false
        var waiting: Answer<Void>?

        /// Files that count: where a number was asked for, also those that have come.
        var load: Int { underWay + (width.isAsked ? parked.count : 0) }

        /// Most files that wait ahead: where a number was asked for, none begins before its time.
        var mostAhead: Int { width.isAsked ? 0 : width.width }

        /// Files that may begin, beside those that have, be it to wait.
        var room: Int { width.width + mostAhead - load - ahead }

        var mayStart: Bool {
            load < width.width && parked.count < mostParked.files
                && parkedBytes < (width.isNearby ? mostParked.bytesNearby : mostParked.bytes)
        }

        var isEmpty: Bool { underWay + ahead + parked.count + asides.count == 0 }

        /// Whether a request that waits could go out.
        var isStuck: Bool { ahead > 0 && mayStart }

        /// Whether whoever begins files should have a look: not at each end of one.
        var isWorthALook: Bool {
            isEmpty || !unfinished.isEmpty || room > 0 && 2 * room >= mostAhead
        }

        /// Gives a slot to the first file without one that may be served now: others of its server have ended,
        /// or nothing else is under way.
        mutating func takeAside() -> Answer<Void>? {
            let isAlone = underWay + ahead == 0
            guard isAlone || mayStart,
                let index = asides.filter({ $1.waiting != nil && ($1.mayGoOn || isAlone) }).keys
                    .min()
            else { return nil }
            underWay += 1
            return asides.removeValue(forKey: index)?.waiting
        }

        /// Gives a slot to a file without one, whatever is under way, when it waits for that.
        mutating func leaveAside(_ index: Int) -> Answer<Void>? {
            guard let waiting = asides[index]?.waiting else { return nil }
            asides[index] = nil
            underWay += 1
            return waiting
        }

        /// Ends the waiting of a file that has come.
        mutating func unpark(_ index: Int) -> Bool {
            guard let bytes = parked.removeValue(forKey: index) else { return false }
            parkedBytes -= bytes
            return true
        }
    }

    private let state: Monitor<State>

    init(_ width: BatchWidth) { state = Monitor(State(width: width)) }

    /// Whether another file may begin at once: all first requests before it have gone out, so that it may
    /// wait for their files.
    var mayStart: Bool { state.withLock { $0.ahead == 0 && $0.mayStart } }

    /// Whether another file may begin, be it that its first request waits.
    var hasRoom: Bool { state.withLock { $0.room > 0 } }

    /// Whether no file is there that has not ended.
    var isEmpty: Bool { state.withLock { $0.isEmpty } }

    /// Whether a request that waits could go out.
    var isStuck: Bool { state.withLock { $0.isStuck } }

    /// Whether a file has failed.
    var hasFailure: Bool { state.withLock { $0.hasFailure } }

    /// A file begins.
    func begin() { state.withLock { $0.underWay += 1 } }

    /// A file begins, whose first request waits.
    func queue() { state.withLock { $0.ahead += 1 } }

    /// A request that waited goes out, if it may or must.
    ///
    /// - Returns: Whether it does.
    func start(must: Bool = false) -> Bool {
        change(isFollowed: true) { state in
            guard state.ahead > 0, must || state.mayStart else { return false }
            state.ahead -= 1
            state.underWay += 1
            return true
        }
    }

    /// One request has brought a file, of so many bytes.
    ///
    /// `isFollowed` says that the caller lets others go out in its place.
    func park(_ index: Int, bytes: Int, isFollowed: Bool = false) {
        change(isFollowed: isFollowed) { state in
            state.underWay -= 1
            state.parked[index] = bytes
            state.parkedBytes += bytes
        }
    }

    /// A file that had come goes the way of others.
    func unpark(_ index: Int) {
        change { if $0.unpark(index) { $0.underWay += 1 } }
    }

    /// A file, which may have come, needs a task to go on.
    func leave(_ file: Unfinished) {
        change { state in
            if state.unpark(file.index) { state.underWay += 1 }
            state.unfinished.append(file)
        }
    }

    /// Takes the files that need a task.
    func takeUnfinished() -> [Unfinished] {
        state.withLock { state in
            guard !state.unfinished.isEmpty else { return [] }
            defer { state.unfinished = [] }
            return state.unfinished
        }
    }

    /// So many connections were asked for to each file.
    func limit(to connections: ConnectionCount) {
        state.withLock { $0.width.limit(to: connections) }
    }

    /// A small file is done; `wait` is the time to first byte of replies.
    func adjust(wait: BatchWidth.Wait?) { state.withLock { $0.width.adjust(wait: wait) } }

    /// A file has ended, of this origin, which is read where some file waits for that.
    func end(_ index: Int, of origin: @autoclosure () -> String? = nil, isDone: Bool) {
        let aside = change { state in
            if !state.unpark(index) { state.underWay -= 1 }
            if !isDone { state.hasFailure = true }
            guard !state.asides.isEmpty, let origin = origin() else { return state.takeAside() }
            let next = state.asides.filter { !$1.mayGoOn && $1.origin == origin }.keys.min()
            if let next { state.asides[next]?.mayGoOn = true }
            return state.takeAside()
        }
        aside?.resume(returning: ())
    }

    /// Gives up the slot of a file until another one of its origin has ended, and for so many seconds at least;
    /// returns with a slot.
    ///
    /// Where nothing else is under way it returns as soon as the time is over; after cancelling it does at once.
    func stepAside(_ index: Int, of origin: String, for delay: Double) async {
        let aside = change { state in
            state.underWay -= 1
            state.asides[index] = Aside(origin: origin)
            return state.takeAside()
        }
        aside?.resume(returning: ())
        try? await Task.sleep(for: .seconds(delay))
        await withTaskCancellationHandler {
            await Answer<Void>.wait { answer in
                let due = state.withLock { state in
                    state.asides[index]?.waiting = answer
                    return Task.isCancelled ? state.leaveAside(index) : state.takeAside()
                }
                due?.resume(returning: ())
            }
        } onCancel: {
            let aside = state.withLock { $0.leaveAside(index) }
            aside?.resume(returning: ())
        }
    }

    /// Waits until something worth a look has changed since this returned last; for one caller.
    func change() async {
        await Answer<Void>.wait { answer in
            let isNews = state.withLock { state in
                guard !state.isNews else {
                    state.isNews = false
                    return true
                }
                state.waiting = answer
                return false
            }
            if isNews { answer.resume(returning: ()) }
        }
    }

    /// Has whoever waits for a change have a look, whatever has changed.
    func look() {
        let waiting = state.withLock { state -> Answer<Void>? in
            state.isNews = state.waiting == nil
            defer { state.waiting = nil }
            return state.waiting
        }
        waiting?.resume(returning: ())
    }

    @discardableResult
    private func change<Result: Sendable>(
        isFollowed: Bool = false, _ body: (inout State) -> Result
    ) -> Result {
        let (result, waiting) = state.withLock { state -> (Result, Answer<Void>?) in
            let hadFailed = state.hasFailure
            let result = body(&state)
            guard
                state.isWorthALook || state.hasFailure != hadFailed
                    || !isFollowed && state.isStuck
            else { return (result, nil) }
            state.isNews = state.waiting == nil
            defer { state.waiting = nil }
            return (result, state.waiting)
        }
        waiting?.resume(returning: ())
        return result
    }
}
