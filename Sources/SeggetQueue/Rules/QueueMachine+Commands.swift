import Segmenter

// What the user tells a queue to do. Each command answers whether anything was to be done; the caller settles when
// all commands of a batch are carried out.
extension QueueMachine {
    /// Starts tasks now, in place of those that have run longest where all slots are taken.
    ///
    /// Those that are started together do not take the slot of one another: what finds none comes next. So does what is
    /// started while nothing may be fetched.
    ///
    /// - Returns: Those that were not running.
    mutating func start(_ ids: [QueueTask.ID], _ now: Moment) -> Set<QueueTask.ID> {
        var (started, next): (Set<QueueTask.ID>, [QueueTask.ID]) = ([], [])
        for id in ids {
            guard let entry = entries[id], !entry.status.isEnded, !entry.isRemoved,
                !entry.status.hasSlot || entry.status.wanted == .paused
            else { continue }
            started.insert(id)
            update(id) { entry in
                entry.status.wanted = .run
                entry.status.attempts = 0
            }
            guard !entry.isAway || entry.fetching != .on else { continue }
            if slotsTaken >= maxRunning, maxRunning > 0, !isPaused,
                let longest = longestRunning(sparing: Set(ids))
            {
                preempt(longest)
            }
            if slotsTaken < maxRunning, !isPaused {
                begin(id, now)
            } else {
                next.append(id)
            }
        }
        let isWorked = maxRunning > 0
        for (id, place) in zip(next, place(.first, without: [], count: next.count)) {
            update(id) { entry in
                entry.status.state = .waiting
                entry.status.position = place
                entry.due = .infinity
                entry.hasClaim = isWorked
            }
        }
        return started
    }

    /// Sends a task back to wait at the head of the order.
    private mutating func preempt(_ id: QueueTask.ID) {
        giveUpSlot(id)
        let head = place(.first, without: [id])[0]
        update(id) { $0.status.position = head }
    }

    /// Pauses a task.
    ///
    /// - Returns: Whether the task was not paused, and has not ended.
    mutating func pause(_ id: QueueTask.ID) -> Bool {
        guard let entry = entries[id], !entry.status.isEnded, !entry.isRemoved,
            entry.status.wanted == .run
        else { return false }
        update(id) { entry in
            entry.status.wanted = .paused
            entry.status.state = .waiting
            entry.goesOn = false
            entry.hasClaim = false
            entry.due = .infinity
        }
        stop(id)
        return true
    }

    /// Resumes a paused task.
    ///
    /// - Returns: Whether the task was paused.
    mutating func resume(_ id: QueueTask.ID) -> Bool {
        guard let entry = entries[id], !entry.isRemoved, entry.status.wanted == .paused,
            !entry.status.isEnded
        else { return false }
        update(id) { entry in
            entry.status.wanted = .run
            entry.status.attempts = 0
            entry.status.problem = nil
        }
        return true
    }

    /// Has a task that is to be tried again later, or waits for the network, try at once.
    ///
    /// - Returns: Whether it was one of these.
    mutating func retry(_ id: QueueTask.ID) -> Bool {
        guard let entry = entries[id], !entry.isRemoved, entry.fetching != .on else { return false }
        switch entry.status.state {
        case .retrying, .waitingForNetwork, .failed, .cancelled: break
        default: return false
        }
        if entry.status.isEnded {
            let last = place(.last, without: [])[0]
            update(id) { $0.status.position = last }
        }
        update(id) { entry in
            entry.status.wanted = .run
            entry.status.state = .waiting
            entry.status.attempts = 0
            entry.status.problem = nil
            entry.due = .infinity
        }
        return true
    }

    /// Ends a task: it is cancelled, and its part is deleted once nothing writes to it, unless `keepsPart`.
    ///
    /// - Returns: Whether it had not ended, or had failed.
    mutating func cancel(_ id: QueueTask.ID, keepsPart: Bool = false) -> Bool {
        guard let entry = entries[id], !entry.isRemoved,
            !entry.status.isEnded || entry.status.state == .failed
        else { return false }
        update(id) { entry in
            entry.status.wanted = .run
            entry.status.state = .cancelled
            entry.status.problem = nil
            entry.goesOn = false
            entry.hasClaim = false
            entry.due = .infinity
            if !keepsPart { entry.chore = .discard }
        }
        stop(id)
        if !keepsPart, entries[id]?.fetching == Entry.Fetching.none { doChore(id) }
        return true
    }

    /// Takes a task away, once nothing writes to its file.
    mutating func remove(_ id: QueueTask.ID, files: Bool) {
        update(id) { entry in
            entry.goesOn = false
            entry.hasClaim = false
            entry.due = .infinity
            entry.chore = .remove(files: files)
            guard !entry.status.isEnded else { return }
            (entry.status.wanted, entry.status.state) = (.paused, .waiting)
        }
        stop(id)
        if entries[id]?.fetching == Entry.Fetching.none { doChore(id) }
    }

    /// Notes that what there is of a task's file is to be moved to its place from another one.
    ///
    /// What fetches it is stopped for that, and goes on afterwards in the same slot.
    mutating func moveFiles(_ id: QueueTask.ID, from place: QueueTask.Place) {
        update(id) { $0.chore = .move(from: place) }
        restart(id)
        if entries[id]?.fetching == Entry.Fetching.none { doChore(id) }
    }

    /// Has what fetches a task begin again, as its options or URLs are others now.
    mutating func restart(_ id: QueueTask.ID) {
        guard let entry = entries[id], entry.fetching == .on else { return }
        update(id) { entry in
            entry.goesOn = entry.status.hasSlot
            if entry.goesOn { entry.status.state = .running }
        }
        stop(id)
    }

    /// Moves tasks in the order, which they keep among themselves.
    ///
    /// - Returns: Those that have a place in the order.
    mutating func move(_ ids: [QueueTask.ID], to position: QueuePosition) -> Set<QueueTask.ID> {
        let ids = ids.filter { entries[$0]?.status.isEnded == false }
        guard !ids.isEmpty else { return [] }
        for (id, place) in zip(ids, place(position, without: Set(ids), count: ids.count)) {
            update(id) { $0.status.position = place }
        }
        return Set(ids)
    }

    // MARK: The order

    /// Places in the order for new or moved tasks, one behind the other.
    ///
    /// Where there is no room between two tasks, all are given new places.
    mutating func place(
        _ position: QueuePosition, without ids: Set<QueueTask.ID>, count: Int = 1
    ) -> [Int64] {
        switch position {
        case .first: return (0..<count).map { lowest - Int64(count - $0) * Self.gap }
        case .last: return (0..<count).map { highest + Int64($0 + 1) * Self.gap }
        case .at(let number):
            let others = order.filter { !ids.contains($0) }
            let index = max(1, number) - 1
            guard index > 0 else { return place(.first, without: ids, count: count) }
            guard index < others.count, let before = entries[others[index - 1]]?.status.position,
                let behind = entries[others[index]]?.status.position
            else { return place(.last, without: ids, count: count) }
            let step = (behind - before) / Int64(count + 1)
            if step > 0 { return (1...count).map { before + Int64($0) * step } }
            for (index, id) in others.enumerated() {
                update(id) { $0.status.position = Int64(index) * Self.gap * Int64(count + 1) }
            }
            return place(position, without: ids, count: count)
        }
    }
}
