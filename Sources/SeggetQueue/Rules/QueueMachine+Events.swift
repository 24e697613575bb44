import Segmenter

// The events of tasks. After each call, the caller carries out the actions, and records the
// changes.
extension QueueMachine {
    /// The download of a task has lost the network, and waits for it.
    mutating func networkLost(_ id: QueueTask.ID, _ now: Moment) {
        guard let entry = entries[id], entry.fetching == .on, !entry.isAway else { return }
        let isAsked =
            entries.askers >= Self.mostCanaries
            || entries.away(entry.host).contains { $0.fetching == .on }
        update(id) { $0.status.state = .waitingForNetwork(since: now.wall) }
        if isAsked { stop(id) }
        settle(now)
    }

    /// The download of a task has a response again, so its host is reachable.
    mutating func networkBack(_ id: QueueTask.ID, _ now: Moment) {
        guard let back = entries[id], back.isAway else { return }
        reach(back.host, now)
        settle(now)
    }

    /// Gives the tasks that wait for a host the first claim on a slot; the one that tested it
    /// continues, or is stopped.
    private mutating func reach(_ host: String, _ now: Moment) {
        for entry in entries.away(host) {
            let goesOn = entry.fetching == .on && slotsTaken < maxRunning
            update(entry.id) { entry in
                entry.status.state = goesOn ? .running : .waiting
                entry.hasClaim = !goesOn
                if goesOn { entry.slotSince = now.boot }
            }
            if !goesOn { stop(entry.id) }
        }
    }

    /// All bytes of a task have arrived; or not, because it had to start over.
    mutating func verifying(_ id: QueueTask.ID, _ isVerifying: Bool) {
        guard entries[id]?.status.hasSlot == true, entries[id]?.goesOn == false else { return }
        update(id) { $0.status.state = isVerifying ? .verifying : .running }
        if !isVerifying { demote() }
    }

    /// A task has received data: earlier failures no longer count.
    mutating func progressed(_ id: QueueTask.ID) {
        update(id) { entry in
            entry.status.attempts = 0
            entry.status.problem = nil
        }
    }

    /// The download of a task has ended, and has closed its files.
    mutating func ended(_ id: QueueTask.ID, _ ending: Ending, _ now: Moment) {
        guard let entry = entries[id] else { return }
        let (wasAsked, goesOn) = (entry.fetching == .stopping, entry.goesOn)
        entries[id]?.fetching = .none
        entries[id]?.goesOn = false
        switch ending {
        case .completed:
            update(id) { entry in
                entry.status.wanted = .run
                entry.status.state = .completed
                entry.hasClaim = false
                entry.status.attempts = 0
                entry.status.problem = nil
            }
            if entry.isAway { reach(entry.host, now) }
            // The file is complete, so it is not discarded.
            if entry.chore == .discard { update(id) { $0.chore = nil } }
        case _ where goesOn:
            entries[id]?.goesOn = entry.chore != nil
            if entry.chore == nil { resumeFetching(id) }
        case .failed(let step, let problem):
            if !wasAsked {
                fail(id, step, problem, now)
            } else if entry.status.state != .cancelled {
                update(id) { $0.status.problem = problem }
            }
        case .stopped:
            if !wasAsked, entry.status.hasSlot || entry.isAway {
                // The queue has not stopped it, so it waits in queue order.
                update(id) { $0.status.state = .waiting }
            }
        }
        if entries[id]?.chore != nil { actions.append(.doChore(id)) }
        settle(now)
    }

    private mutating func resumeFetching(_ id: QueueTask.ID) {
        entries[id]?.fetching = .on
        actions.append(.begin(id))
    }

    private mutating func fail(
        _ id: QueueTask.ID, _ step: FailureStep, _ problem: TaskProblem, _ now: Moment
    ) {
        update(id) { entry in
            entry.status.problem = problem
            switch step {
            case .retry(let seconds):
                entry.status.attempts += 1
                entry.status.state = .retrying(at: now.wall + seconds)
                entry.due = now.boot + seconds
            case .wait(let seconds):
                entry.status.state = .retrying(at: now.wall + seconds)
                entry.due = now.boot + seconds
            case .fail: entry.status.state = .failed
            }
        }
    }

    /// The chore of a task is done, or has failed with `problem`; its record may have been removed.
    mutating func choreDone(
        _ id: QueueTask.ID, isRemoved: Bool, problem: TaskProblem? = nil, _ now: Moment
    ) {
        if isRemoved {
            forget(id)
        } else {
            update(id) { entry in
                entry.chore = nil
                entry.status.problem = problem ?? entry.status.problem
            }
            if entries[id]?.goesOn == true, entries[id]?.status.hasSlot == true {
                entries[id]?.goesOn = false
                resumeFetching(id)
            }
        }
        settle(now)
    }

    /// Time has passed: tasks whose next try is due wait for a slot.
    mutating func tick(_ now: Moment) {
        while let id = entries.due(at: now.boot) {
            update(id) { entry in
                entry.due = .infinity
                if case .retrying = entry.status.state { entry.status.state = .waiting }
            }
        }
        settle(now)
    }

    /// Sets the number of tasks that may run.
    mutating func limit(to maxRunning: Int, _ now: Moment) {
        self.maxRunning = maxRunning
        if maxRunning > 0 {
            changed.formUnion(restored)
            restored = []
        }
        settle(now)
    }

    /// Pauses or continues the whole queue.
    mutating func pause(_ isPaused: Bool, _ now: Moment) {
        self.isPaused = isPaused
        settle(now)
    }
}
