import Foundation
import SeggetQueue
import TestSupport

@testable import SeggetService

/// A fake queue that is served over TCP.
struct ServedSite {
    let door: FakeDoor
    let server: QueueServer
    let port: Int

    static let secret = "the secret of the tests"

    /// Runs a test on a fake queue that is served over TCP.
    ///
    /// - Parameters:
    ///   - limits: The limits for clients.
    ///   - gate: The accepted hosts and origins; `nil` for all.
    ///   - isOpen: Whether calls need no token.
    ///   - page: The page for browsers.
    ///   - body: The test.
    /// - Returns: The result of the test.
    /// - Throws: The error of the test, or the reason why it cannot listen.
    static func use<Result>(
        limits: ServerLimits = .web, gate: Gate? = Gate(), isOpen: Bool = false,
        page: Page? = nil, _ body: (ServedSite) async throws -> Result
    ) async throws -> Result {
        let sandbox = try Sandbox("site")
        let door = FakeDoor()
        let server = try await QueueServer.start(at: sandbox.path("q.sock"), door: door)
        var policy = RPCPolicy(secret: secret, folder: "/srv/downloads")
        policy.isOpen = isOpen
        let site = WebSite(
            rpc: RPCService(door, policy), page: page, openings: server.openings, gate: gate,
            secret: secret)
        do {
            let ports = try await server.serve(
                site, at: [("127.0.0.1", 0)], of: door, limits: limits)
            let result = try await body(
                ServedSite(door: door, server: server, port: ports[0]))
            await door.release()
            await server.close()
            return result
        } catch {
            await door.release()
            await server.close()
            throw error
        }
    }

    func connect(from source: String? = nil, receiveBuffer: Int32? = nil) throws -> WebClient {
        try WebClient(port: port, from: source, receiveBuffer: receiveBuffer)
    }

    /// Returns a call of JSON-RPC with the token.
    static func call(_ method: String = "aria2.getVersion", _ more: String = "") -> String {
        #"{"id":"1","method":"\#(method)","params":["token:\#(secret)"\#(more)]}"#
    }

    /// Returns the text of a request.
    static func request(_ line: String, _ fields: String = "", _ body: String = "") -> String {
        "\(line) HTTP/1.1\r\nHost: localhost\r\nContent-Length: \(body.utf8.count)\r\n\(fields)\r\n"
            + body
    }

    /// The header that authorizes requests to the API.
    static let authorization = "Authorization: Bearer \(secret)\r\n"

    /// Waits for the next response; `nil` if the connection is closed.
    static func reply(_ client: WebClient) async -> WebReply? {
        var reply: WebReply?
        _ = await soon {
            reply = client.takeReply()
            return reply != nil || client.isEnded
        }
        return reply
    }

    /// Sends a request, and returns the response.
    func ask(_ line: String, _ fields: String = "", _ body: String = "") async throws -> WebReply? {
        let client = try connect()
        client.send(Self.request(line, fields, body))
        return await Self.reply(client)
    }

    /// Opens a WebSocket.
    func socket(receiveBuffer: Int32? = nil) async throws -> WebClient {
        let client = try connect(receiveBuffer: receiveBuffer)
        client.send(WebClient.upgrade())
        let reply = await Self.reply(client)
        guard reply?.status == 101 else { throw NoSocket() }
        return client
    }

    /// The server has refused the WebSocket.
    struct NoSocket: Error {}

    /// Waits for the next message; `nil` if the connection is closed.
    static func message(_ client: WebClient) async -> WebClient.Message? {
        var message: WebClient.Message?
        _ = await soon {
            message = client.takeMessage()
            return message != nil || client.isEnded
        }
        return message
    }
}
