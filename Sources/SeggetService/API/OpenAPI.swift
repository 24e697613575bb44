import FoundationEssentials
import SeggetReports

/// The description of the API for programs, OpenAPI 3.1, made from the endpoints that exist over TCP.
enum OpenAPI {
    /// The endpoints that it describes.
    static let endpoints = Router.endpoints.filter { $0.listeners.contains(.tcp) }

    /// The description, as JSON.
    static let data = document.data

    private static var document: JSONValue {
        let paths = Dictionary(grouping: endpoints, by: \.path).mapValues { endpoints in
            JSONValue.object(
                Dictionary(uniqueKeysWithValues: endpoints.map { ($0.verb, operation($0)) }))
        }
        return [
            "openapi": "3.1.0",
            "info": [
                "title": "The API of a queue", "version": "2",
                "description": "The API of `segget serve --rpc` below /api, see docs/api.md",
            ],
            "servers": [["url": .string("/api/\(APIVersion.current.rawValue)")]],
            "security": [["secret": []]],
            "paths": .object(paths),
            "components": [
                "securitySchemes": ["secret": ["type": "http", "scheme": "bearer"]],
                "parameters": .object(parameters),
                "responses": .object(errors),
                "schemas": .object(schemas),
            ],
        ]
    }

    private static func operation(_ endpoint: Endpoint) -> JSONValue {
        var responses = Dictionary(
            endpoint.errors.map { (String($0.status), reference("responses", $0.rawValue)) },
            uniquingKeysWith: { $1 })
        responses["200"] = [
            "description": .string(endpoint.reply.description),
            "content": .object([endpoint.reply.type: ["schema": endpoint.reply.schema.json]]),
        ]
        var members: [String: JSONValue] = [
            "operationId": .string(endpoint.name), "summary": .string(endpoint.summary),
            "responses": .object(responses),
        ]
        if !endpoint.parameters.isEmpty {
            members["parameters"] = .array(
                endpoint.parameters.map { parameter in
                    parameter.place == .query
                        ? reference("parameters", parameter.name) : describe(parameter)
                })
        }
        if let body = endpoint.body {
            var content = ["schema": body.schema.json]
            content["examples"] = describe(body.examples)
            members["requestBody"] = [
                "required": .bool(true), "content": ["application/json": .object(content)],
            ]
        }
        return .object(members)
    }

    private static func describe(_ parameter: Parameter) -> JSONValue {
        var members: [String: JSONValue] = [
            "name": .string(parameter.name), "in": .string(parameter.place.rawValue),
            "description": .string(parameter.description), "schema": parameter.schema.json,
        ]
        if parameter.place == .path { members["required"] = .bool(true) }
        if parameter.schema.json.object?["type"] == "array" { members["explode"] = .bool(true) }
        members["examples"] = describe(parameter.examples)
        return .object(members)
    }

    private static func describe(_ examples: [String: JSONValue]) -> JSONValue? {
        examples.isEmpty ? nil : .object(examples.mapValues { ["value": $0] })
    }

    private static func reference(_ kind: String, _ name: String) -> JSONValue {
        ["$ref": .string("#/components/\(kind)/\(name)")]
    }

    // MARK: The parts that endpoints share

    /// The parameters of queries, which have one meaning in all endpoints.
    private static var parameters: [String: JSONValue] {
        let all = endpoints.flatMap(\.parameters).filter { $0.place == .query }
        return Dictionary(all.map { ($0.name, describe($0)) }, uniquingKeysWith: Schema.same)
    }

    private static var errors: [String: JSONValue] {
        let content: JSONValue = ["application/json": ["schema": Schema.error.json]]
        return Dictionary(
            uniqueKeysWithValues: ErrorReply.allCases.map {
                ($0.rawValue, ["description": .string($0.description), "content": content])
            })
    }

    private static var schemas: [String: JSONValue] {
        let all =
            endpoints.map(\.reply.schema) + endpoints.compactMap(\.body?.schema) + [.error]
            + endpoints.flatMap { $0.parameters.map(\.schema) }
        return all.reduce(into: [:]) { $0.merge($1.named, uniquingKeysWith: Schema.same) }
    }
}

extension Endpoint {
    /// The method, as OpenAPI writes it.
    fileprivate var verb: String { method.rawValue.lowercased() }
}
