package import SeggetReports

// What to do about a problem, for each surface.
extension TaskProblem {
    /// Makes a problem, with what to do about it.
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

    /// The next step; `nil` where there is none but what ``hint`` says.
    package var next: NextStep? {
        step.map { NextStep(rawValue: $0) } ?? NextStep(ofKind: kind)
    }

    /// What to do next, by the commands of the queue.
    package func queueHint(_ id: QueueTask.ID?) -> String {
        guard let next else { return hint }
        return next.words(
            on: .queue(id?.description), members: needed ?? [], startsOver: startsOver == true)
    }

    /// The same problem in the words of the API, also where it was recorded with others.
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
    /// The same result, with what to do next.
    package func then(_ next: NextStep) -> CommandResult {
        var result = self
        result.step = next.rawValue
        return result
    }

    /// What to do next, by the commands of the queue; `nil` where there is nothing.
    package var queueHint: String? {
        step.flatMap { NextStep(rawValue: $0) }?.words(on: .queue(id?.description))
    }
}
