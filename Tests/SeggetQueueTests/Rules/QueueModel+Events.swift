// Events of the downloads of a queue, and of its worker.
extension QueueModel {
    mutating func networkLost(_ number: Int) {
        guard let task = self[number], task.download == .on, task.phase != .away else { return }
        let isAsked = line.contains {
            $0.host == task.host && $0.phase == .away && $0.download == .on
        }
        change(number) { [wall] task in
            task.phase = .away
            task.awaySince = wall
            if isAsked { task.download = .stopping }
        }
        if isAsked { stopped.insert(number) }
        settle()
    }

    mutating func networkBack(_ number: Int) {
        guard let task = self[number], task.phase == .away else { return }
        hostIsBack(task.host)
        settle()
    }

    /// Tasks that wait for a host have the first claim; the one that probes it receives a slot, or
    /// stops.
    private mutating func hostIsBack(_ host: String) {
        for task in line where task.phase == .away && task.host == host {
            change(task.number) { task in
                task.phase = .waiting
                task.hasFirstClaim = true
            }
            guard task.download == .on else { continue }
            if slots < limit {
                change(task.number) { [boot] task in
                    task.phase = .running
                    task.slotSince = boot
                    task.hasFirstClaim = false
                }
            } else {
                change(task.number) { $0.download = .stopping }
                stopped.insert(task.number)
            }
        }
    }

    mutating func verifying(_ number: Int, _ isVerifying: Bool) {
        guard let task = self[number], task.hasSlot, task.download == .on else { return }
        change(number) { $0.phase = isVerifying ? .verifying : .running }
        // Verifying tasks were not stopped when the limit was lowered.
        if !isVerifying { settle() }
    }

    mutating func progressed(_ number: Int) {
        change(number) { task in
            task.attempts = 0
            task.hasProblem = false
        }
    }

    mutating func completed(_ number: Int) {
        guard let task = self[number] else { return }
        change(number) { task in
            task.phase = .completed
            (task.isHeld, task.hasFirstClaim) = (false, false)
            task.attempts = 0
            task.hasProblem = false
            if task.chore == .discard { task.chore = .none }
        }
        // The other tasks of this host now know that it is reachable.
        if task.phase == .away { hostIsBack(task.host) }
        downloadIsOver(number)
    }

    mutating func stoppedDownload(_ number: Int) {
        guard let task = self[number] else { return }
        if task.download == .on { change(number) { $0.phase = .waiting } }
        downloadIsOver(number)
    }

    mutating func failed(_ number: Int, _ failure: Failure) {
        guard let task = self[number] else { return }
        // A stopping task that fails does what it was stopped for.
        if !task.isToGoOn, task.phase != .cancelled { change(number) { $0.hasProblem = true } }
        if task.download == .on {
            change(number) { [boot, wall] task in
                switch failure {
                case .again(let seconds):
                    task.attempts += 1
                    task.phase = .retrying
                    (task.retryBoot, task.retryWall) = (boot + seconds, wall + seconds)
                case .later(let seconds):
                    task.phase = .retrying
                    (task.retryBoot, task.retryWall) = (boot + seconds, wall + seconds)
                case .forGood: task.phase = .failed
                }
            }
        }
        downloadIsOver(number)
    }

    private mutating func downloadIsOver(_ number: Int) {
        change(number) { $0.download = .none }
        guard let task = self[number] else { return }
        if task.chore != .none {
            chores.insert(number)
        } else if task.isToGoOn, task.hasSlot {
            goOn(number)
        }
        change(number) { if $0.isOver { $0.isToGoOn = false } }
        settle()
    }

    private mutating func goOn(_ number: Int) {
        change(number) { task in
            task.isToGoOn = false
            task.download = .on
        }
        begun.append((number, .goesOn))
    }

    mutating func choreDone(_ number: Int, isRemoved: Bool) {
        if isRemoved {
            line.removeAll { $0.number == number }
            over.removeAll { $0.number == number }
        } else {
            change(number) { $0.chore = .none }
            if let task = self[number], task.isToGoOn, task.hasSlot { goOn(number) }
        }
        settle()
    }

    mutating func tick() {
        for task in line where task.phase == .retrying && task.retryBoot <= boot {
            change(task.number) { $0.phase = .waiting }
        }
        settle()
    }

    mutating func restartWorker() {
        isPaused = false
        for task in line + over {
            change(task.number) { [boot, wall] task in
                task.download = .none
                (task.isToGoOn, task.hasFirstClaim) = (false, false)
                if task.hasSlot || task.phase == .away {
                    task.phase = .waiting
                    task.hasFirstClaim = true
                }
                if task.phase == .retrying {
                    task.retryBoot = boot + min(max(0, task.retryWall - wall), 86_400)
                }
            }
            if task.chore != .none { chores.insert(task.number) }
        }
        settle()
    }
}
