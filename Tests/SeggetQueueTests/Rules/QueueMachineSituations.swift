@testable import SeggetQueue

extension MachineSituation {
    /// All possible situations, each reached by commands and events.
    static let all: [Self] = [
        Self("run waiting none -") { $0.waits() },
        Self("run waiting stopping -") { $0.isPreempted() },
        Self("run waiting none move") {
            $0.waits()
            $0.moveFiles(1)
        },
        Self("run waiting stopping move") {
            $0.isPreempted()
            $0.moveFiles(1)
        },
        Self("run waiting none discard") { $0.isRetriedAtOnce() },
        Self("run waiting stopping discard") { $0.isRetriedEarlier() },
        Self("run running on -") { $0.isRunning() },
        Self("run running stopping -") {
            $0.isRunning()
            $0.restart(1)
        },
        Self("run running stopping move") {
            $0.isRunning()
            $0.moveFiles(1)
        },
        Self("run running none move") {
            $0.isRunning()
            $0.moveFiles(1)
            $0.end(1, .stopped)
        },
        Self("run running stopping discard") {
            $0.isRetriedEarlier()
            $0.start(1)
        },
        Self("run running none discard") {
            $0.isRetriedAtOnce()
            $0.start(1)
        },
        Self("run verifying on -") {
            $0.isRunning()
            $0.verify(1)
        },
        Self("run retrying none -") { $0.isRetrying() },
        Self("run retrying none move") {
            $0.isRetrying()
            $0.moveFiles(1)
        },
        Self("run waiting_for_network on -") {
            $0.isRunning()
            $0.lose(1)
        },
        Self("run waiting_for_network stopping -") { $0.isAwayAsAnother() },
        Self("run waiting_for_network none -") {
            $0.isAwayAsAnother()
            $0.end(1, .stopped)
        },
        Self("run waiting_for_network stopping move") {
            $0.isAwayAsAnother()
            $0.moveFiles(1)
        },
        Self("run waiting_for_network none move") {
            $0.isAwayAsAnother()
            $0.end(1, .stopped)
            $0.moveFiles(1)
        },
        Self("run completed none -") {
            $0.isRunning()
            $0.end(1)
        },
        Self("run completed none move") {
            $0.isRunning()
            $0.moveFiles(1)
            $0.end(1)
        },
        Self("run completed none remove") {
            $0.isRunning()
            $0.remove(1)
            $0.end(1)
        },
        Self("run failed none -") { $0.fails() },
        Self("run failed none move") {
            $0.fails()
            $0.moveFiles(1)
        },
        Self("run failed none remove") {
            $0.fails()
            $0.remove(1)
        },
        Self("run cancelled stopping discard") {
            $0.isRunning()
            $0.cancel(1)
        },
        Self("run cancelled none discard") {
            $0.isRunning()
            $0.cancel(1)
            $0.end(1, .stopped)
        },
        Self("run cancelled none -") { $0.isCancelled() },
        Self("run cancelled none remove") {
            $0.isCancelled()
            $0.remove(1)
        },
        Self("paused waiting none -") {
            $0.waits()
            $0.pause(1)
        },
        Self("paused waiting stopping -") {
            $0.isRunning()
            $0.pause(1)
        },
        Self("paused waiting none move") {
            $0.waits()
            $0.pause(1)
            $0.moveFiles(1)
        },
        Self("paused waiting stopping move") {
            $0.isRunning()
            $0.pause(1)
            $0.moveFiles(1)
        },
        Self("paused waiting none remove") {
            $0.waits()
            $0.remove(1)
        },
        Self("paused waiting stopping remove") {
            $0.isRunning()
            $0.remove(1)
        },
        Self("paused waiting none discard") {
            $0.isRetriedAtOnce()
            $0.pause(1)
        },
        Self("paused waiting stopping discard") {
            $0.isRetriedEarlier()
            $0.pause(1)
        },
    ]
}

extension MachineDesk {
    fileprivate mutating func isRunning() {
        add(1...1)
        add(9...9, host: "z")
    }
    fileprivate mutating func waits() {
        add(9...9, host: "z")
        add(1...1)
    }
    fileprivate mutating func isPreempted() {
        isRunning()
        start(9)
    }
    fileprivate mutating func isRetrying() {
        isRunning()
        end(1, .failed(.retry(after: 30), .some))
    }
    fileprivate mutating func fails() {
        isRunning()
        end(1, .failed(.fail, .some))
    }
    /// It waits for the network, and task 3 probes its host.
    fileprivate mutating func isAwayAsAnother() {
        add(3...3)
        lose(3)
        add(1...1)
        start(1)
        add(9...9, host: "z")
        lose(1)
    }
    fileprivate mutating func isCancelled() {
        isRunning()
        cancel(1)
        end(1, .stopped)
        chore(1)
    }
    /// It is cancelled and retried while its part is deleted.
    fileprivate mutating func isRetriedAtOnce() {
        isRunning()
        cancel(1)
        end(1, .stopped)
        retry(1)
    }
    /// It is cancelled and retried before its download has stopped.
    fileprivate mutating func isRetriedEarlier() {
        isRunning()
        cancel(1)
        retry(1)
    }
}
