import Assembler
import SegmenterRules
import SegmenterTransport

/// Counts the files of a batch that are active, queued, parked or set aside.
///
/// - An *active* file holds a slot.
/// - A *queued* file waits to send its first request.
/// - A *parked* file was received with one response and waits for its name and its publication. It
///   holds no slot, so a slow response or disk delays the names of later files but not their
///   transfers. If the caller has set the number of files, parked files count as well.
/// - A file *set aside* has given up its slot because its server refuses it.
///
/// The class may be used from any thread.
final class BatchSlots: Sendable {
    /// A file that its first request did not deliver completely.
    struct Unfinished: Sendable {
        let index: Int
        let run: DownloadRun
        let answered: DownloadRun.Answered
    }

    /// The limits of parked files and of their bytes, beyond which no other file starts.
    ///
    /// The limit is lower for a nearby server, where files wait for the disk.
    static let mostParked = (files: 256, bytes: 4 << 20, bytesNearby: 1 << 20)
    /// The limit of files downloaded in segments that wait for their publication.
    ///
    /// Each has open files.
    static let mostComplete = 32

    /// A file without a slot, because its server refuses it.
    private struct Aside {
        let origin: String
        /// Whether another file of the same origin has ended since.
        var mayGoOn = false
        /// The task that waits for a slot, once the delay is over.
        var waiting: Answer<Void>?
    }

    private struct State {
        var width: BatchWidth
        var underWay = 0
        /// The active files that are known to be large, and those that are known to be small.
        var large: Set<Int> = []
        var small: Set<Int> = []
        /// The files and connections that each host has room for, as last reported.
        var rooms: [String: HostGovernor.Room] = [:]
        /// The number of queued files, and the sum of their known sizes.
        var ahead = 0
        var aheadBytes: Int64 = 0
        /// The number of queued files that are known to be large.
        var aheadLarge = 0
        /// The number of bytes of each parked file, by its index in the list.
        var parked: [Int: Int] = [:]
        var parkedBytes = 0
        /// The parked files that were downloaded in segments.
        var complete: Set<Int> = []
        var hasFailure = false
        /// Files that need a task to continue.
        var unfinished: [Unfinished] = []
        /// Files without a slot, by their index in the list.
        var asides: [Int: Aside] = [:]
        /// Whether there was a change since the last return of `change`.
        var isNews = false
        var waiting: Answer<Void>?

        /// The number of files that count; parked ones count if the caller has set a number.
        var load: Int { underWay + (width.isAsked ? parked.count : 0) }

        /// The most queued files; none if the caller has set a number.
        var mostAhead: Int { width.isAsked ? 0 : width.width }

        /// The number of active files whose size is unknown.
        var unknown: Int { max(0, underWay - large.count - small.count) }

        /// The number of further files that may start or be queued.
        var room: Int {
            width.width + mostAhead - (width.isAsked ? load : unknown + small.count) - ahead
        }

        var mayStart: Bool { mayStart(size: nil) }

        func mayStart(size: Int64?, besideLarge queued: Int = 0) -> Bool {
            width.allows(
                size: size,
                beside: .init(
                    large: large.count + queued, small: small.count, unknown: unknown,
                    parked: width.isAsked ? parked.count : 0))
                && parked.count < mostParked.files && complete.count < mostComplete
                && parkedBytes < (width.isNearby ? mostParked.bytesNearby : mostParked.bytes)
        }

        /// Forgets the size of a file that is no longer active.
        mutating func forget(_ index: Int) {
            large.remove(index)
            small.remove(index)
        }

        var isEmpty: Bool { underWay + ahead + parked.count + asides.count == 0 }

        /// Whether a queued request could start.
        var isStuck: Bool { ahead > 0 && mayStart }

        /// Whether the task that starts files should check for work.
        ///
        /// Batches of free slots keep it from waking up for each file that ends.
        fileprivate var isWorthALook: Bool {
            isEmpty || !unfinished.isEmpty || room > 0 && 2 * room >= mostAhead
        }

        /// Gives a slot to the first file set aside that may be retried; returns its waiting task.
        ///
        /// A file may be retried if another file of its origin has ended, or if no other file is
        /// active.
        fileprivate mutating func takeAside() -> Answer<Void>? {
            let isAlone = underWay + ahead == 0
            guard isAlone || mayStart,
                let index = asides.filter({ $1.waiting != nil && ($1.mayGoOn || isAlone) }).keys
                    .min()
            else { return nil }
            underWay += 1
            return asides.removeValue(forKey: index)?.waiting
        }

        /// Gives a slot to a file set aside if it waits for one, without regard to other files.
        fileprivate mutating func leaveAside(_ index: Int) -> Answer<Void>? {
            guard let waiting = asides[index]?.waiting else { return nil }
            asides[index] = nil
            underWay += 1
            return waiting
        }

        /// Removes a file from the parked files; returns whether it was parked.
        mutating func unpark(_ index: Int) -> Bool {
            guard let bytes = parked.removeValue(forKey: index) else { return false }
            parkedBytes -= bytes
            complete.remove(index)
            return true
        }
    }

    private let state: Monitor<State>

    init(_ width: BatchWidth) { state = Monitor(State(width: width)) }

    /// Whether another file may start with a task.
    ///
    /// No first request may be queued, because the new file may have to wait for the names of the
    /// queued ones.
    var mayStart: Bool { state.withLock { $0.ahead == 0 && $0.mayStart } }

    /// Whether another file of this size in bytes may start or be queued; `nil` if it is unknown.
    ///
    /// A file that is known to be large is queued only if it may start.
    func hasRoom(for size: Int64?) -> Bool {
        state.withLock { state in
            guard state.room > 0 else { return false }
            guard let size, BatchWidth.isLarge(size) else { return true }
            return state.mayStart(size: size, besideLarge: state.aheadLarge)
        }
    }

    /// Whether no file is active, queued, parked or set aside.
    var isEmpty: Bool { state.withLock { $0.isEmpty } }

    /// Whether a queued request could start.
    var isStuck: Bool { state.withLock { $0.isStuck } }

    /// Whether a file has failed.
    var hasFailure: Bool { state.withLock { $0.hasFailure } }

    /// The number of queued files, and the sum of their known sizes.
    var queued: (files: Int, bytes: Int64) { state.withLock { ($0.ahead, $0.aheadBytes) } }

    /// The number of large files that may be in progress.
    var largeLimit: Int { state.withLock { $0.width.largeLimit } }

    /// Takes the number of files and connections that a host has room for.
    ///
    /// - Returns: Whether the number of files that may be in progress has changed.
    func take(_ room: HostGovernor.Room, of origin: String) -> Bool {
        state.withLock { state in
            guard state.rooms[origin] != room else { return false }
            state.rooms[origin] = room
            state.width.take(state.rooms.values)
            return true
        }
    }

    /// Counts a file that starts with a task.
    ///
    /// `large` is its index, if it counts as a large file.
    func begin(large index: Int? = nil) {
        state.withLock { state in
            state.underWay += 1
            if let index { state.large.insert(index) }
        }
    }

    /// Counts a file whose first request is queued; `size` is its size in bytes, if known.
    func queue(size: Int64? = nil) {
        state.withLock { state in
            state.ahead += 1
            state.aheadBytes += size ?? 0
            if let size, BatchWidth.isLarge(size) { state.aheadLarge += 1 }
        }
    }

    /// Turns a queued file into an active one, if it may start or `must` is set.
    ///
    /// - Parameters:
    ///   - index: The file; `nil` if it is not known.
    ///   - size: The size of the file in bytes; `nil` if it is unknown.
    ///   - must: Whether it starts in any case.
    /// - Returns: Whether the file is active now.
    func start(_ index: Int? = nil, size: Int64? = nil, must: Bool = false) -> Bool {
        change(isFollowed: true) { state in
            guard state.ahead > 0, must || state.mayStart(size: size) else { return false }
            state.ahead -= 1
            state.aheadBytes -= size ?? 0
            state.underWay += 1
            if let index, let size {
                if BatchWidth.isLarge(size) {
                    state.aheadLarge -= 1
                    state.large.insert(index)
                } else {
                    state.small.insert(index)
                }
            }
            return true
        }
    }

    /// Parks a file of which one response has delivered all `bytes`.
    ///
    /// `isFollowed` means that the caller itself starts queued requests afterwards.
    func park(_ index: Int, bytes: Int, isFollowed: Bool = false) {
        change(isFollowed: isFollowed) { state in
            state.width.saw(isLarge: false)
            state.underWay -= 1
            state.forget(index)
            state.parked[index] = bytes
            state.parkedBytes += bytes
        }
    }

    /// Parks a file that was downloaded in segments, of which all bytes have arrived.
    func complete(_ index: Int) {
        change { state in
            state.underWay -= 1
            state.forget(index)
            state.parked[index] = 0
            state.complete.insert(index)
        }
    }

    /// Makes a parked file active again, because it cannot be published from memory.
    func unpark(_ index: Int) {
        change { if $0.unpark(index) { $0.underWay += 1 } }
    }

    /// Adds a file, which may be parked, to those that need a task to continue.
    func leave(_ file: Unfinished) {
        change { state in
            let wasParked = state.unpark(file.index)
            if wasParked { state.underWay += 1 }
            // Its size is unknown if the request has failed.
            if !wasParked, file.answered.exchange.isKept {
                if !state.large.contains(file.index) { state.width.saw(isLarge: true) }
                state.large.insert(file.index)
            }
            state.unfinished.append(file)
        }
    }

    /// Returns and removes the files that need a task.
    func takeUnfinished() -> [Unfinished] {
        state.withLock { state in
            guard !state.unfinished.isEmpty else { return [] }
            defer { state.unfinished = [] }
            return state.unfinished
        }
    }

    /// Applies the number of connections that the caller has set for each file.
    ///
    /// `isOfHost` means that the number is that of all files of a host.
    func limit(to connections: ConnectionCount, isOfHost: Bool) {
        state.withLock { $0.width.limit(to: connections, isOfHost: isOfHost) }
    }

    /// Adjusts the number of slots after a small file; `wait` is the time to first byte.
    func adjust(wait: BatchWidth.Wait?) { state.withLock { $0.width.adjust(wait: wait) } }

    /// Counts a file that has ended.
    ///
    /// `origin` is evaluated only if a file is set aside.
    func end(_ index: Int, of origin: @autoclosure () -> String? = nil, isDone: Bool) {
        let aside = change { state in
            if !state.unpark(index) { state.underWay -= 1 }
            state.forget(index)
            if !isDone { state.hasFailure = true }
            guard !state.asides.isEmpty, let origin = origin() else { return state.takeAside() }
            let next = state.asides.filter { !$1.mayGoOn && $1.origin == origin }.keys.min()
            if let next { state.asides[next]?.mayGoOn = true }
            return state.takeAside()
        }
        aside?.resume(returning: ())
    }

    /// Sets aside a file that its server refuses, and returns when it has a slot again.
    ///
    /// The file waits at least `delay` seconds, and until another file of its origin has ended. If
    /// no other file is active, it waits for the delay only. After cancelling, the method returns
    /// immediately.
    func stepAside(_ index: Int, of origin: String, for delay: Double) async {
        let aside = change { state in
            state.underWay -= 1
            state.forget(index)
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

    /// Waits until there was a relevant change since the last return; for one caller.
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

    /// Wakes the caller of `change`, without regard to what has changed.
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
