import SeggetQueue
import Testing

@testable import SeggetService

struct RouterTests {
    private static func refusal(
        _ method: String, _ target: String, on listener: Listener = .socket
    ) -> Refusal? {
        do throws(Refusal) {
            _ = try Router.call(APIRequest(method: method, target: target), on: listener)
            return nil
        } catch {
            return error
        }
    }

    @Test func findsEachEndpoint() throws {
        for endpoint in Router.endpoints + Router.unversioned {
            let path = endpoint.path.replacing("{id}", with: "a%2Fb")
            let isVersioned = Router.endpoints.contains { $0.name == endpoint.name }
            let target = isVersioned ? APIVersion.current.path(path) : path
            for listener in [Listener.socket, .tcp] {
                let request = APIRequest(method: endpoint.method.rawValue, target: target)
                guard endpoint.listeners.contains(listener) else {
                    #expect(Self.refusal(request.method, target, on: listener)?.status == 404)
                    continue
                }
                let call = try Router.call(request, on: listener)
                #expect(call.endpoint.name == endpoint.name)
                #expect(call.variable == (path == endpoint.path ? "" : "a/b"))
            }
        }
    }

    @Test func wrongMethodListsThoseOfPath() {
        #expect(Self.refusal("POST", "/v2/tags")?.allowed == ["GET", "HEAD"])
        #expect(Self.refusal("DELETE", "/v2/settings")?.allowed == ["GET", "HEAD", "PUT"])
        #expect(Self.refusal("HEAD", "/v2/commands")?.allowed == ["POST"])
        #expect(Self.refusal("PUT", "/metrics", on: .tcp)?.allowed == ["GET", "HEAD"])
    }

    @Test(arguments: ["/v2/tags?x=1", "/v2/tasks?x=1", "/v2/links?sort=size", "/v2/tasks/1?id=1"])
    func refusesOtherParameters(target: String) {
        #expect(Self.refusal("GET", target)?.status == 400)
    }

    @Test func pathsWithoutVersionIgnoreQuery() {
        #expect(Self.refusal("GET", "/metrics?x=1", on: .tcp) == nil)
    }

    /// Expects that the reader of queries knows each parameter that endpoints declare.
    @Test func readsEachDeclaredParameter() throws {
        for endpoint in Router.endpoints {
            for parameter in endpoint.parameters where parameter.place == .query {
                let values = ["state": "running", "sort": "size", "file_state": "failed"]
                let value = values[parameter.name] ?? "1"
                let target = "/v2\(endpoint.path)?\(parameter.name)=\(value)"
                let call = try Router.call(
                    APIRequest(method: endpoint.method.rawValue, target: target), on: .tcp)
                let isRead =
                    try parameter.name == "file_state"
                    ? FileWindow(call.query) != FileWindow()
                    : TaskFilter(call.query) != TaskFilter() || TaskWindow(call.query) != nil
                #expect(isRead, "\(target)")
            }
        }
    }
}
