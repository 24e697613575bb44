import FoundationEssentials
import Glibc
import NIOCore
import NIOHTTP1
import NIOPosix
package import SeggetQueue
import Segmenter

/// Access to a queue through the API of its worker, another process.
///
/// The client connects when it is first used, keeps one connection, and reconnects when that is
/// lost. It has a thread, which ends with ``close()``.
package actor QueueClient: QueueDoor {
    /// The idle time after which the client reconnects.
    ///
    /// It is shorter than ``ServerLimits/headTime``, after which the server closes the connection.
    private static let longestSilence = Duration.seconds(30)

    let path: String
    let connectTime: Duration
    private let mostBytes: Int
    private let tellOtherVersion: @Sendable (String) -> Void
    private let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    private var line: Task<(any Channel, HealthReport), any Error>?
    private var lastUse = ContinuousClock.now
    private var toldVersion: String?
    private var isClosed = false

    /// Creates a client of the worker that listens at a path; connects when it is first used.
    ///
    /// - Parameters:
    ///   - path: The path of the socket.
    ///   - connectTime: The longest time until the worker's first response; later ones may take
    ///     longer.
    ///   - mostBytes: The most bytes of a request; more commands are sent in several requests.
    ///   - tellOtherVersion: Called with one line if the worker has another version than this
    ///     program.
    package init(
        path: String, connectTime: Duration = .seconds(5),
        mostBytes: Int = ServerLimits().body,
        tellOtherVersion: @escaping @Sendable (String) -> Void = { _ in }
    ) {
        (self.path, self.connectTime, self.mostBytes) = (path, connectTime, mostBytes)
        self.tellOtherVersion = tellOtherVersion
    }

    /// Closes the connection and ends the thread; later requests fail.
    package func close() async {
        isClosed = true
        let last = line
        line = nil
        if let (channel, _) = try? await last?.value { try? await channel.close().answer() }
        try? await group.shutdownGracefully()
    }

    /// Returns the worker's report about itself.
    ///
    /// - Throws: `QueueError`, if the worker cannot be reached, or the process is not a worker.
    package func health() async throws(QueueError) -> HealthReport {
        try await ask(.GET, "/health", HealthReport.self)
    }

    /// Returns whether the worker serves the version of the API that this program uses.
    ///
    /// - Throws: `QueueError`, if the worker cannot be reached.
    package func isCurrent() async throws(QueueError) -> Bool {
        try await connected().1 == .current
    }

    package func perform(
        _ commands: [QueueCommand]
    ) async throws(QueueError) -> [[CommandResult]] {
        let body = try JSON.write(CommandBatch(commands: commands))
        guard body.count <= mostBytes || commands.count < 2 else {
            let half = commands.count / 2
            let first = try await perform(Array(commands[..<half]))
            do throws(QueueError) {
                return first + (try await perform(Array(commands[half...])))
            } catch {
                var error = error
                error.isUnsent = false
                throw error
            }
        }
        let results = try await ask(.POST, "/commands", BatchResults.self, body).results
        guard results.count == commands.count else { throw notUnderstood() }
        return results
    }

    package func report(_ filter: TaskFilter) async throws(QueueError) -> QueueReport {
        // The server refuses a head that is too long with another message.
        try filter.check()
        return try await ask(.GET, QueueReport.self) { filter.target(at: "/tasks", $0) }
    }

    package func detail(_ selector: String) async throws(QueueError) -> TaskDetail {
        try await ask(.GET, TaskDetail.path(of: selector), TaskDetail.self)
    }

    package func files(
        _ selector: String, _ window: FileWindow
    ) async throws(QueueError) -> TaskFiles {
        try await ask(.GET, window.target(of: selector), TaskFiles.self)
    }

    package func links(_ filter: TaskFilter) async throws(QueueError) -> [TaskLinks] {
        try filter.check()
        return try await ask(.GET, LinkList.self) { filter.target(at: "/links", $0) }.links
    }

    package func settings() async throws(QueueError) -> QueueSettings {
        try await ask(.GET, "/settings", QueueSettings.self)
    }

    package func change(_ settings: QueueSettings) async throws(QueueError) {
        _ = try await ask(.PUT, "/settings", QueueSettings.self, try JSON.write(settings))
    }

    /// Returns the address of the service's page, with a token that is valid once.
    ///
    /// - Throws: `QueueError`, also if the service has no page.
    package func opening() async throws(QueueError) -> String {
        try await ask(.POST, "/openings", Opening.self).url
    }

    /// Sends a request to a path without its version.
    private func ask<Value: Decodable & Sendable>(
        _ method: HTTPMethod, _ path: String, _ type: Value.Type, _ body: Data? = nil
    ) async throws(QueueError) -> Value {
        try await ask(method, type, body) { $0.path(path) }
    }

    /// Sends a request in the version of the API that the worker serves.
    private func ask<Value: Decodable & Sendable>(
        _ method: HTTPMethod, _ type: Value.Type, _ body: Data? = nil,
        target: (APIVersion) -> String
    ) async throws(QueueError) -> Value {
        // Retry once if the connection was closed before the request was sent.
        for _ in 0..<2 {
            let (channel, version) = try await connected()
            do {
                var answer = try await Self.exchange(
                    method, target(version), body.map(version.body), on: channel)
                answer.body = version.current(answer.body)
                lastUse = .now
                return try read(type, answer)
            } catch let gone as LineGone {
                line = nil
                if gone.wasSent { break }
            } catch let error as QueueError {
                throw error
            } catch {
                break
            }
        }
        throw QueueError(
            .worker, "the worker closed the connection before it answered",
            hint: "`segget list` shows which changes were made, and whether the worker is running")
    }

    private func read<Value: Decodable>(
        _ type: Value.Type, _ answer: ClientAnswer
    ) throws(QueueError) -> Value {
        if answer.status == 200, let value = try? JSONDecoder().decode(type, from: answer.body) {
            return value
        }
        if answer.status != 200,
            let body = try? JSONDecoder().decode(ErrorBody.self, from: answer.body)
        {
            throw body.error
        }
        throw notUnderstood()
    }

    private static func exchange(
        _ method: HTTPMethod, _ target: String, _ body: Data? = nil, on channel: any Channel
    ) async throws -> ClientAnswer {
        let promise = channel.eventLoop.makePromise(of: ClientAnswer.self)
        let call = ClientCall(method: method, target: target, body: body, answer: promise)
        channel.eventLoop.execute {
            guard channel.isActive else {
                promise.fail(LineGone(wasSent: false))
                return
            }
            channel.pipeline.write(call, promise: nil)
        }
        return try await promise.futureResult.answer()
    }

    /// Returns the connection, and the version of the API that the worker serves.
    func connected() async throws(QueueError) -> (any Channel, APIVersion) {
        if let line, let (channel, health) = try? await line.value {
            if channel.isActive, ContinuousClock.now - lastUse < Self.longestSilence {
                return (channel, health.served)
            }
            channel.close(promise: nil)
            // Another task may have replaced it while this one waited.
            if self.line == line { self.line = nil }
        }
        let line = self.line ?? Task { try await connect() }
        self.line = line
        do {
            let (channel, health) = try await line.value
            lastUse = .now
            tell(health)
            return (channel, health.served)
        } catch {
            if self.line == line { self.line = nil }
            throw error as? QueueError ?? unreachable("\(error)")
        }
    }

    /// Connects, and checks that the process is a worker.
    private func connect() async throws -> (any Channel, HealthReport) {
        let deadline = ContinuousClock.now + connectTime
        let channel = try await openChannel(until: deadline) { ClientLine() }
        let alarm = channel.eventLoop.scheduleTask(
            in: TimeAmount(deadline - ContinuousClock.now)
        ) { channel.close(promise: nil) }
        defer { alarm.cancel() }
        do {
            var answer = try await Self.exchange(
                .GET, APIVersion.current.path("/health"), on: channel)
            // A worker of 0.2 serves only the first version.
            if answer.status == 404 {
                answer = try await Self.exchange(
                    .GET, APIVersion.first.path("/health"), on: channel)
            }
            let health = try read(HealthReport.self, answer)
            guard APIVersion(rawValue: health.api) != nil else { throw notUnderstood() }
            return (channel, health)
        } catch is LineGone {
            throw unreachable("it does not answer")
        } catch {
            channel.close(promise: nil)
            throw error
        }
    }

    /// Connects.
    ///
    /// - Parameters:
    ///   - deadline: When to give up.
    ///   - silence: The longest time without a byte from the server; `nil` for no limit.
    ///   - handler: Creates the connection's last channel handler.
    /// - Returns: The connection.
    /// - Throws: `QueueError`.
    func openChannel(
        until deadline: ContinuousClock.Instant,
        silence: TimeAmount? = nil, _ handler: @escaping @Sendable () -> any ChannelHandler
    ) async throws -> any Channel {
        while true {
            guard !isClosed else { throw unreachable("the connection is closed") }
            do {
                return try await ClientBootstrap(group: group)
                    .connectTimeout(TimeAmount(deadline - ContinuousClock.now))
                    .channelInitializer { channel in
                        channel.eventLoop.makeCompletedFuture {
                            let pipeline = channel.pipeline.syncOperations
                            if let silence {
                                try pipeline.addHandler(IdleStateHandler(readTimeout: silence))
                            }
                            try pipeline.addHTTPClientHandlers()
                            try pipeline.addHandler(handler())
                        }
                    }
                    .connect(unixDomainSocketPath: path).answer()
            } catch let error as IOError
                where error.errnoCode == EAGAIN && ContinuousClock.now < deadline
            {
                // The backlog of the server's socket is full.
                try await Task.sleep(for: .milliseconds(20))
            } catch let error as IOError {
                throw unreachable(String(cString: strerror(error.errnoCode)))
            }
        }
    }

    private func tell(_ health: HealthReport) {
        guard health.version != seggetVersion, health.version != toldVersion else { return }
        toldVersion = health.version
        tellOtherVersion(
            "process \(health.worker), which runs the queue, is segget \(health.version); this is"
                + " segget \(seggetVersion)")
    }

    nonisolated func unreachable(_ reason: String) -> QueueError {
        var error = QueueError(
            .worker, "cannot connect to the worker at \(path): \(reason)",
            hint: "check whether the worker is running; `segget run` starts one")
        error.isUnsent = true
        return error
    }

    nonisolated func notUnderstood() -> QueueError {
        QueueError(
            .worker, "the process that listens at \(path) sent an invalid response",
            hint: "restart the worker; it may be another version")
    }
}

extension HealthReport {
    /// The version of the API that the worker serves.
    fileprivate var served: APIVersion { APIVersion(rawValue: api) ?? .current }
}
