import Assembler
import SeggetQueue
import Segmenter

extension Endpoint {
    static let metrics = Endpoint(
        path: "/metrics", listeners: [.tcp], name: "metrics",
        summary: "The queue's numbers in Prometheus' text format",
        reply: Reply(description: "The numbers", type: Metrics.type),
        ownErrors: ErrorReply.ofQueue,
        handler: .answer { _, api in
            let metrics = Metrics(
                try await api.door.view(), version: seggetVersion,
                uptime: monotonicSeconds() - api.start)
            return APIReply(metrics.text, type: Metrics.type)
        })
}
