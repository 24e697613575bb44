import SeggetQueue

extension Endpoint {
    static let settings = Endpoint(
        path: "/settings", name: "settings", summary: "The settings",
        reply: Reply(description: "The settings", schema: .settings),
        ownErrors: ErrorReply.ofQueue,
        handler: .answer { _, api in try APIReply(try await api.door.settings()) })

    static let newSettings = Endpoint(
        method: .put, path: "/settings", name: "newSettings", summary: "Replaces the settings",
        body: Body(schema: .settings),
        reply: Reply(description: "The new settings", schema: .settings),
        ownErrors: ErrorReply.ofQueue + [.diskFull],
        handler: .answer { call, api in
            try await api.door.change(try JSON.read(QueueSettings.self, from: call.body))
            return try APIReply(try await api.door.settings())
        })
}

extension Schema {
    fileprivate static let settings = object(
        optional: [
            "max_running": .integer(from: 1, to: 64), "rate_limit": .number(from: 0),
            "rate_schedule": .object(
                ["spans": .list(of: .rateSpan)], optional: ["otherwise": .number(from: 0)],
                isClosed: true),
            "max_requests": .text,
            "retry_delays": .list(of: .number(from: 0, to: 86400), to: 100),
            "rules": .list(of: .rule, to: 100), "metered": .words(["auto", "yes", "no"]),
        ], isClosed: true
    ).named("Settings")

    private static let rateSpan = object(
        [
            "start": .integer(from: 0, to: 1440), "end": .integer(from: 0, to: 1440),
            "rate": .number(from: 0),
        ], isClosed: true)

    private static let rule = oneOf([
        .object(["while": .text, "pause": .constant(true)], isClosed: true),
        .object(["while": .text, "rate": .number(above: 0)], isClosed: true),
    ])
}
