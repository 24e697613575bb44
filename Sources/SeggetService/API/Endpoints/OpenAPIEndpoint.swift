extension Endpoint {
    static let openAPI = Endpoint(
        path: "/openapi.json", listeners: [.tcp], name: "openAPI",
        summary: "The description of the API: OpenAPI 3.1",
        reply: Reply(description: "The description", schema: .object()),
        handler: .answer { _, _ in APIReply(OpenAPI.data, type: "application/json") })
}
