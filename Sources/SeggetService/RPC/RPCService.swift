// RPC: aria2's JSON-RPC: its requests, its responses, and their effect on the queue. This folder
// uses the terms of aria2 and of the queue; it knows no sockets.

import Assembler
package import FoundationEssentials
import SeggetFormats
package import SeggetQueue
import SeggetReports
import Segmenter
import Synchronization
import SeggetAria2

/// Answers aria2's JSON-RPC from the state of a queue.
package final class RPCService: Sendable {
    let queue: any RPCQueue
    let policy: RPCPolicy
    /// The defaults for options that a task does not set, as changed by clients.
    let common: Mutex<Aria2Options>
    /// The id of this run, for clients.
    let session = "\(QueueTask.ID())\(QueueTask.ID())"

    /// Creates a service for a queue.
    package init(_ queue: any RPCQueue, _ policy: RPCPolicy) {
        (self.queue, self.policy) = (queue, policy)
        common = Mutex(policy.options)
    }

    /// Answers a request or a batch.
    ///
    /// - Parameters:
    ///   - text: The body of a request, or a message of a WebSocket.
    ///   - isExposed: Whether pages of any site can cause the request, which then always needs a
    ///     token.
    /// - Returns: The response.
    package func answer(_ text: Data, isExposed: Bool = false) async -> RPCAnswer {
        let caller = RPCCaller(policy.isOpen && !isExposed ? nil : policy.secret)
        switch RPCBody(text) {
        case .broken:
            return await caller.answer(
                RPCRequest.broken.answer(.failure(.parse)), status: RPCError.parse.status)
        case .one(let request):
            let result = await carryOut(request.call, caller)
            var status = 200
            if case .failure(let error) = result { status = error.status }
            return await caller.answer(request.answer(result), status: status)
        case .batch(let requests):
            var answers: [JSONValue] = []
            for request in requests {
                answers.append(request.answer(await carryOut(request.call, caller)))
            }
            return await caller.answer(.array(answers), status: 200)
        }
    }

    private func carryOut(
        _ call: Result<RPCCall, RPCError>, _ caller: RPCCaller
    ) async -> Result<JSONValue, RPCError> {
        do throws(RPCError) {
            return .success(try await result(of: try call.get(), caller))
        } catch {
            return .failure(error)
        }
    }

    private func result(
        of call: RPCCall, _ caller: RPCCaller
    ) async throws(RPCError) -> JSONValue {
        switch call.method {
        case "system.multicall": return try await several(RPCParameters(call.parameters), caller)
        case "system.listMethods": return .texts(Self.methods)
        case "system.listNotifications": return .texts(RPCNotices.methods)
        default:
            let parameters = try caller.admit(call)
            return try await carryOut(call.method, RPCParameters(parameters))
        }
    }

    /// Carries out the calls of `system.multicall`, one at a time.
    private func several(
        _ parameters: RPCParameters, _ caller: RPCCaller
    ) async throws(RPCError) -> JSONValue {
        var results: [JSONValue] = []
        for value in try parameters.calls(0) {
            do throws(RPCError) {
                guard let members = value.object else {
                    throw RPCError("system.multicall expected struct.")
                }
                guard let method = members["methodName"]?.string else {
                    throw RPCError("Missing methodName.")
                }
                guard method != "system.multicall" else {
                    throw RPCError("Recursive system.multicall forbidden.")
                }
                let call = RPCCall(method, members["params"]?.array ?? [])
                results.append([try await result(of: call, caller)])
            } catch {
                results.append(error.value)
            }
        }
        return .array(results)
    }
}

/// Checks the tokens of all calls of a request or batch, and records the results.
private final class RPCCaller: Sendable {
    private let secret: Secret?
    private let seen = Mutex((isRefused: false, isAuthorized: false))

    /// Creates a check.
    ///
    /// - Parameter secret: The valid token; `nil` if none is required.
    init(_ secret: String?) { self.secret = secret.map(Secret.init) }

    /// Removes the token from a call's parameters, and checks it.
    ///
    /// - Returns: The other parameters.
    /// - Throws: `RPCError.unauthorized`.
    func admit(_ call: RPCCall) throws(RPCError) -> [JSONValue] {
        var parameters = call.parameters
        var token: Substring?
        if let text = parameters.first?.string, text.hasPrefix("token:") {
            token = text.dropFirst(6)
            parameters.removeFirst()
        }
        guard let secret else { return parameters }
        guard let token, secret.is(token) else {
            seen.withLock { $0.isRefused = true }
            throw .unauthorized
        }
        seen.withLock { $0.isAuthorized = true }
        return parameters
    }

    func answer(_ value: JSONValue, status: Int) async -> RPCAnswer {
        let (isRefused, isAuthorized) = seen.withLock { $0 }
        // Encode a long response outside the pool of threads that the queue uses.
        let body = Self.isLong(value) ? await offLoop("answer") { value.data } : value.data
        return RPCAnswer(
            status: status, body: body, isRefused: isRefused, isAuthorized: isAuthorized)
    }

    /// Returns whether a response has the results of many tasks.
    private static func isLong(_ value: JSONValue) -> Bool {
        switch value {
        case .array(let values): values.count > 100 || values.contains(where: isLong)
        case .object(let members): members["result"].map(isLong) ?? false
        default: false
        }
    }
}
