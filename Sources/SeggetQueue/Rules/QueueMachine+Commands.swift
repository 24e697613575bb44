import Segmenter

// The commands of the user. Each returns whether it had anything to do; the caller calls `settle`
// after all commands of a batch.
extension QueueMachine {
    /// Starts tasks now; if all slots are taken, they replace the tasks that have run longest.
    ///
    /// Tasks that are started together do not take each other's slots: the rest is next in order.
    /// So is a task that is started while the queue is paused.
    ///
    /// - Returns: The tasks that were not running.
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

    /// Takes the slot of a task, which waits at the front of the queue.
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

    /// Lets a task that waits for a retry or for the network try now, and a task that has failed or
    /// was cancelled.
    ///
    /// - Returns: Whether it was such a task.
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

    /// Cancels a task, and deletes its part once its download has stopped, unless `keepsPart`.
    ///
    /// - Returns: Whether the task had not ended, or had failed.
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

    /// Removes a task, once its download has stopped.
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

    /// Notes that a task's files are to be moved from another place to its own.
    ///
    /// Its download is stopped for that, and continues afterwards in the same slot.
    mutating func moveFiles(_ id: QueueTask.ID, from place: QueueTask.Place) {
        update(id) { $0.chore = .move(from: place) }
        restart(id)
        if entries[id]?.fetching == Entry.Fetching.none { doChore(id) }
    }

    /// Restarts the download of a task, because its options or URLs have changed.
    mutating func restart(_ id: QueueTask.ID) {
        guard let entry = entries[id], entry.fetching == .on else { return }
        update(id) { entry in
            entry.goesOn = entry.status.hasSlot
            if entry.goesOn { entry.status.state = .running }
        }
        stop(id)
    }

    /// Moves tasks in queue order; their relative order remains.
    ///
    /// - Returns: The tasks that have a place in the order.
    mutating func move(_ ids: [QueueTask.ID], to position: QueuePosition) -> Set<QueueTask.ID> {
        let ids = ids.filter { entries[$0]?.status.isEnded == false }
        guard !ids.isEmpty else { return [] }
        for (id, place) in zip(ids, place(position, without: Set(ids), count: ids.count)) {
            update(id) { $0.status.position = place }
        }
        return Set(ids)
    }

    // MARK: The order

    /// Returns places in the order for new or moved tasks, one after the other.
    ///
    /// If no number is free between two tasks, all tasks get new places.
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
