package import SeggetReports

// The next step after a problem, for each surface.
extension TaskProblem {
    /// Creates a problem with its next step.
    package init(
        _ next: NextStep, kind: String, message: String, code: Int32
    ) {
        self.init(kind: kind, message: message, hint: next.words(on: .api), code: code)
        step = next.rawValue
    }

    /// Creates the problem of a task that has failed without a download.
    package init(_ failure: TaskFailure) {
        var needed: [String] = []
        if case .secretsGone(let secrets, _) = failure { needed = secrets.map(\.rawValue) }
        self.init(
            kind: failure.kind, message: failure.message,
            hint: failure.next?.words(on: .api, members: needed) ?? failure.hint,
            code: failure.status.rawValue)
        step = failure.next?.rawValue
        self.needed = needed.isEmpty ? nil : needed
    }

    /// The next step; `nil` if only ``hint`` names it.
    package var next: NextStep? {
        step.map { NextStep(rawValue: $0) } ?? NextStep(ofKind: kind)
    }

    /// Returns the next step in the words of the command line.
    package func queueHint(_ id: QueueTask.ID?) -> String {
        guard let next else { return hint }
        return next.words(
            on: .queue(id?.description), members: needed ?? [], startsOver: startsOver == true)
    }

    /// The same problem in the words of the API, even if an earlier version has recorded other
    /// words.
    package var forClients: TaskProblem {
        guard let next else { return self }
        var problem = self
        problem.step = next.rawValue
        problem.hint = next.words(
            on: .api, members: needed ?? [], startsOver: startsOver == true)
        return problem
    }
}

extension TaskReport {
    /// The same task in the words of the command line.
    package var forCommands: TaskReport {
        var task = self
        if let error { task.error?.hint = error.queueHint(id) }
        return task
    }
}

extension TaskDetail {
    /// The same task in the words of the command line.
    package var forCommands: TaskDetail {
        var detail = self
        detail.task = task.forCommands
        return detail
    }
}

extension CommandResult {
    /// Returns the same result with its next step.
    package func then(_ next: NextStep) -> CommandResult {
        var result = self
        result.step = next.rawValue
        return result
    }

    /// The next step in the words of the command line; `nil` if there is none.
    package var queueHint: String? {
        step.flatMap { NextStep(rawValue: $0) }?.words(on: .queue(id?.description))
    }
}
