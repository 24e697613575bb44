extension Endpoint {
    static let events = Endpoint(
        path: "/events", name: "events", summary: "Events of the queue, as they happen",
        parameters: Parameter.ofFilter + [
            Parameter(
                name: "Last-Event-ID", place: .header,
                description: "The id of the last event that was received", schema: .text)
        ],
        reply: Reply(description: "Events", type: "text/event-stream"),
        ownErrors: ErrorReply.ofQueue, handler: .events)
}
