import Assembler

/// The files of a batch that are under way, and those that have come and wait for their names.
///
/// The latter fetch nothing, so that others begin in their place: one reply that takes long holds up
/// the names of all files behind it, and a disk those of a group, but not what is fetched. Where a number
/// of files was asked for, they count all the same. May be used from any thread.
final class BatchSlots: Sendable {
    /// Files that have come and wait, from which on no other begins, and their bytes.
    static let mostParked = (files: 256, bytes: 4 << 20)

    private struct State {
        var width: BatchWidth
        var underWay = 0
        /// Bytes of those that have come, by their place in the list.
        var parked: [Int: Int] = [:]
        var parkedBytes = 0
        var hasFailure = false
        /// Whether something has changed since the last `change`.
        var isNews = false
        var waiting: Answer<Void>?

        var hasRoom: Bool {
            underWay + (width.isAsked ? parked.count : 0) < width.width
                && parked.count < mostParked.files && parkedBytes < mostParked.bytes
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

    /// Whether another file may begin.
    var hasRoom: Bool { state.withLock { $0.hasRoom } }

    /// Whether no file is there that has not ended.
    var isEmpty: Bool { state.withLock { $0.underWay == 0 && $0.parked.isEmpty } }

    /// Whether a file has failed.
    var hasFailure: Bool { state.withLock { $0.hasFailure } }

    /// A file begins.
    func begin() { state.withLock { $0.underWay += 1 } }

    /// One request has brought a file, of so many bytes.
    func park(_ index: Int, bytes: Int) {
        change { state in
            state.underWay -= 1
            state.parked[index] = bytes
            state.parkedBytes += bytes
        }
    }

    /// A file that had come goes the way of others.
    func unpark(_ index: Int) {
        change { if $0.unpark(index) { $0.underWay += 1 } }
    }

    /// A small file is done; `wait` is the usual time to the beginning of a reply, in seconds.
    func widen(wait: Double?) { state.withLock { $0.width.widen(wait: wait) } }

    /// A file has ended.
    func end(_ index: Int, isDone: Bool) {
        change { state in
            if !state.unpark(index) { state.underWay -= 1 }
            if !isDone { state.hasFailure = true }
        }
    }

    /// Waits until something has changed since this returned last; for one caller.
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

    private func change(_ body: (inout State) -> Void) {
        let waiting = state.withLock { state -> Answer<Void>? in
            body(&state)
            guard let waiting = state.waiting else {
                state.isNews = true
                return nil
            }
            state.waiting = nil
            return waiting
        }
        waiting?.resume(returning: ())
    }
}
