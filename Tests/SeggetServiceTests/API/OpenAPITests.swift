import Foundation
import SeggetAria2
import SeggetFormats
import SeggetReports
import TestSupport
import Testing

@testable import SeggetQueue
@testable import SeggetService

struct OpenAPITests {
    private static func description() throws -> [String: Any] {
        let value = try JSONSerialization.jsonObject(with: OpenAPI.data)
        return try #require(value as? [String: Any])
    }

    @Test func descriptionNeedsSecret() async throws {
        try await ServedSite.use { site in
            let reply = try await site.ask("GET /api/openapi.json", ServedSite.authorization)
            #expect(reply?.status == 200)
            #expect(reply?.field("content-type") == "application/json")
            #expect(reply?.body == String(decoding: OpenAPI.data, as: UTF8.self))
            #expect(try await site.ask("GET /api/openapi.json")?.status == 401)
        }
    }

    @Test func describesEachEndpointForClients() throws {
        let paths = try #require(try Self.description()["paths"] as? [String: [String: Any]])
        let described = paths.flatMap { path, methods in
            methods.keys.map { "\($0.uppercased()) \(path)" }
        }
        let endpoints = Router.endpoints.filter { $0.listeners.contains(.tcp) }
            .map { "\($0.method.rawValue) \($0.path)" }
        #expect(endpoints.count == 11)
        #expect(described.sorted() == endpoints.sorted())
    }

    @Test(arguments: [APIVersion.first, .current])
    func eachDescribedPathIsRouted(version: APIVersion) throws {
        let paths = try #require(try Self.description()["paths"] as? [String: [String: Any]])
        for (path, methods) in paths {
            for method in methods.keys {
                let request = APIRequest(
                    method: method.uppercased(),
                    target: version.path(path.replacing("{id}", with: "1")))
                let call = try Router.call(request, on: .tcp)
                #expect(call.endpoint.path == path)
                #expect(call.endpoint.method.rawValue == method.uppercased())
                #expect(call.version == version)
                #expect(call.variable == (path.contains("{id}") ? "1" : ""))
            }
        }
    }

    /// Expects that each reference has a target, and each component a reference.
    @Test func referencesEachComponent() throws {
        let description = try Self.description()
        var components: Set<String> = []
        for (kind, named) in description["components"] as? [String: [String: Any]] ?? [:]
        where kind != "securitySchemes" {
            components.formUnion(named.keys.map { "#/components/\(kind)/\($0)" })
        }
        #expect(components.count > 30)
        #expect(Self.references(in: description) == components)
    }

    private static func references(in value: Any) -> Set<String> {
        switch value {
        case let members as [String: Any]:
            let reference = (members["$ref"] as? String).map { [$0] } ?? []
            return members.values.reduce(into: Set(reference)) { $0.formUnion(references(in: $1)) }
        case let values as [Any]:
            return values.reduce(into: []) { $0.formUnion(references(in: $1)) }
        default: return []
        }
    }

    @Test func operationsHaveDifferentNames() {
        #expect(Set(OpenAPI.endpoints.map(\.name)).count == OpenAPI.endpoints.count)
    }

    /// Expects that the status of each error of the queue is described.
    @Test(arguments: [
        QueueError.Code.invalid, .noTask, .hasWorker, .damaged, .worker, .busy, .diskFull,
    ])
    func describesStatusOfErrors(code: QueueError.Code) {
        let reply = APIReply(QueueError(code, "message", hint: "hint"))
        #expect(ErrorReply.allCases.contains { $0.status == reply.status })
    }

    /// Expects that all names of the code are described.
    @Test func describesWholeAPI() throws {
        let description = try Self.description()
        let schemas = try #require(
            (description["components"] as? [String: Any])?["schemas"] as? [String: Any])
        let parameters =
            (description["components"] as? [String: Any])?["parameters"] as? [String: Any]
        let sort = (parameters?["sort"] as? [String: Any])?["schema"] as? [String: Any]
        #expect(sort?["enum"] as? [String] == TaskWindow.Order.allCases.map(\.rawValue))
        func keys(_ name: String) -> Set<String> {
            Set(((schemas[name] as? [String: Any])?["properties"] as? [String: Any] ?? [:]).keys)
        }
        #expect(keys("Add") == NewTask.keys.subtracting(["refresh_command", "plan"]))
        #expect(keys("Settings") == Set(QueueOption.table.map(\.key)))
        #expect(Aria2Option.forQueues == Set(QueueOption.table.compactMap(\.aria2)))
        #expect(Self.leaves(schemas["Options"]) == Self.open { _ in true })
        #expect(Self.leaves(schemas["ChangedOptions"]) == Self.open { $0.effect != .never })
        let commands = try Commands.all.map { command in
            try #require(try JSONValue.read(JSON.write(command))?.object?["command"]?.string)
        }
        #expect(Self.constants(schemas["Command"], schemas["Add"]) == Set(commands))
        let task = try JSON.write(Sample.tasks[0])
        let object = try JSONSerialization.jsonObject(with: task) as? [String: Any]
        #expect(Set((object ?? [:]).keys).isSubset(of: keys("Task")))
    }

    /// Returns the names of the commands that a schema describes, with those of a named one.
    private static func constants(_ command: Any?, _ add: Any?) -> Set<String> {
        let all = (command as? [String: Any])?["oneOf"] as? [Any] ?? []
        return Set(
            (all + [add as Any]).compactMap { schema in
                let members = (schema as? [String: Any])?["properties"] as? [String: Any]
                return (members?["command"] as? [String: Any])?["const"] as? String
            })
    }

    /// Returns the storage keys of the options that clients over TCP may set.
    private static func open(_ isMeant: (TransferOption) -> Bool) -> Set<String> {
        Set(
            TransferOption.table.filter { $0.places.contains(.tcp) && isMeant($0) }.map(\.key))
    }

    /// Returns the keys of a schema's members, with dots for inner objects; credentials are one
    /// value.
    private static func leaves(_ schema: Any?) -> Set<String> {
        let members = (schema as? [String: Any])?["properties"] as? [String: Any] ?? [:]
        return Set(
            members.flatMap { name, value in
                let inner = name == "credentials" ? [] : leaves(value)
                return inner.isEmpty ? [name] : inner.map { "\(name).\($0)" }
            })
    }
}
