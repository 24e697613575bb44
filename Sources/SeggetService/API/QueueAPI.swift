import Glibc
import SeggetQueue
import Segmenter

/// Answers requests with what a queue says.
struct QueueAPI: Sendable {
    let door: any QueueDoor

    /// Answers a request; whoever asked may be gone by then, what was begun is done all the same.
    func answer(_ request: APIRequest) async -> APIReply {
        do {
            let route = try Route(request.method, request.target)
            return try await answer(route, request)
        } catch let refusal as Refusal {
            return refusal.reply
        } catch let error as QueueError {
            return APIReply(error)
        } catch {
            preconditionFailure("nothing else is thrown: \(error)")
        }
    }

    private func answer(_ route: Route, _ request: APIRequest) async throws -> APIReply {
        switch route {
        case .health: try APIReply(HealthReport(version: seggetVersion, worker: getpid()))
        case .tasks(let filter): try APIReply(try await door.report(filter))
        case .task(let selector): try APIReply(try await door.detail(selector))
        // Whoever asks for events is not answered once, but listens.
        case .events: throw Refusal("there is nothing at this path", status: 404)
        case .commands:
            try APIReply(
                BatchResults(
                    results: try await door.perform(
                        try JSON.read(CommandBatch.self, from: request.body).commands)))
        case .settings: try APIReply(try await door.settings())
        case .newSettings:
            try await change(try JSON.read(QueueSettings.self, from: request.body))
        }
    }

    private func change(_ settings: QueueSettings) async throws -> APIReply {
        try await door.change(settings)
        return try APIReply(try await door.settings())
    }
}
