// Aria2: the replacement for `aria2c` with JSON-RPC: a worker with a separate queue, which is
// deleted when the process ends.

import Glibc
import SeggetCommand
import SeggetFormats
import SeggetQueue
import SeggetReports
import SeggetService
import Segmenter
import SeggetAria2

/// The replacement for aria2c with `--enable-rpc` or `--daemon`.
struct Aria2Daemon: Sendable {
    private let settings: Aria2Settings
    private let tasks: [Aria2Task]
    private let warnings: [String]
    private let log: Aria2DaemonLog

    /// Parses the command line, runs it, and ends the process.
    static func run(_ words: [String]) -> Never {
        StandardStreams.prepare()
        do throws(Aria2Refusal) {
            var settings = try Aria2Settings.read(words, in: Aria2Command.surroundings)
            if settings.isDaemon {
                guard Detachment.isDone else {
                    Detachment.run(log: nil, isQuiet: true, hint: "run without `-D` to see why")
                }
                // Like aria2: relative paths then start at `/`, but the default folder is still the
                // current one.
                settings.useFolder(Self.currentFolder)
                chdir("/")
            }
            Aria2Command.hideSecrets(settings)
            let list = try settings.inputFile.map { path throws(Aria2Refusal) in
                try Aria2Command.read(path)
            }
            let (tasks, warnings) = try settings.tasks(list: list)
            let daemon = Aria2Daemon(
                settings: settings, tasks: tasks, warnings: settings.warnings + warnings,
                log: try Aria2DaemonLog(settings))
            daemon.run()
        } catch {
            let text = error.lines.map { PrintableText.escape($0) + "\n" }.joined()
            StandardStreams.write(text, to: STDERR_FILENO)
            Glibc.exit(error.code)
        }
    }

    /// Runs the worker on other threads while the main thread waits for signals; ends the process.
    private func run() -> Never {
        let interrupts = Interrupts()
        let stop = AsyncStream.makeStream(of: Void.self)
        Task {
            do throws(QueueError) {
                let folder = try Aria2Folder()
                let code: Int32
                do throws(QueueError) {
                    code = try await work(in: folder, until: stop)
                } catch {
                    folder.remove()
                    throw error
                }
                folder.remove()
                Glibc.exit(code)
            } catch {
                log.say(.error, error.message)
                if settings.isDaemon {
                    ServiceManager.take().tell("STOPPING=1", status: error.message)
                }
                Glibc.exit(Aria2ErrorCode.unknown.rawValue)
            }
        }
        interrupts.wait(code: { _ in Aria2ErrorCode.inProgress.rawValue }) {
            stop.continuation.finish()
            return true
        }
    }

    private func work(
        in folder: Aria2Folder,
        until stop: (stream: AsyncStream<Void>, continuation: AsyncStream<Void>.Continuation)
    ) async throws(QueueError) -> Int32 {
        for warning in warnings { log.say(.warn, warning) }
        var configuration = DownloadQueue.Configuration()
        configuration.memory = ServerMemory.own
        let queue = try await DownloadQueue.open(folder.queue, configuration: configuration)
        var queueSettings = QueueSettings()
        // A download already makes aria2's number of attempts (`--max-tries`).
        queueSettings.retryDelays = []
        queueSettings.maxRunning = min(max(1, settings.jobs ?? 5), 64)
        queueSettings.rateLimit =
            settings.overallLimit > 0 ? Double(settings.overallLimit) : nil
        let session = Aria2DaemonSession(settings, queue)
        var policy = RPCPolicy(secret: settings.secret, folder: Self.currentFolder)
        policy.judge = { _, _ in }
        (policy.isDropIn, policy.options) = (true, settings.options)
        policy.home = getenv("HOME").map { String(cString: $0) } ?? ""
        policy.exists = Aria2Command.isReadable
        policy.shutdown = { stop.continuation.finish() }
        policy.saveSession = { await session.save(to: $0) == nil }
        let server: QueueServer
        do throws(QueueError) {
            try await queue.change(queueSettings)
            server = try await QueueServer.start(
                for: folder.queue, door: queue, runtime: nil, users: "/dev/null")
        } catch {
            await queue.shutdown()
            throw error
        }
        let following = Task { [log, settings] in await log.follow(queue, settings.hooks) }
        do throws(QueueError) {
            let commands = tasks.map { QueueCommand.add(newTask($0, policy)) }
            for result in try await queue.perform(commands).joined()
            where result.outcome == .refused {
                log.say(.error, result.message ?? "the queue refused a task")
            }
            if settings.isService { try await listen(server, queue, policy) }
        } catch {
            await server.close()
            await queue.shutdown()
            throw error
        }
        await queue.work()
        if settings.isDaemon { ServiceManager.take().tell("READY=1") }
        await wait(for: queue, until: stop.stream, session)
        let code = await log.code(of: queue)
        if let problem = await session.save() { log.say(.error, problem) }
        await server.close()
        await queue.shutdown()
        following.cancel()
        return code
    }

    private func newTask(_ task: Aria2Task, _ policy: RPCPolicy) -> NewTask {
        var new = NewTask(of: task, policy)
        (new.id, new.isPaused) = (task.gid, task.isPaused)
        new.place = RPCService.place(task.options, in: policy.folder)
        if new.options.naming.numbersTaken { new.place.isNameGiven = false }
        if let problem = task.problem {
            new.url = task.urls.first ?? ""
            new.problem = TaskProblem(
                kind: task.hasNoWebURL ? "invalid_url" : "invalid_option", message: problem.text,
                hint: "use aria2c for this", code: ExitStatus.usage.rawValue)
        }
        return new
    }

    private func listen(
        _ server: QueueServer, _ queue: DownloadQueue, _ policy: RPCPolicy
    ) async throws(QueueError) {
        let site = WebSite(
            rpc: RPCService(queue, policy), gate: nil, secret: nil,
            allowsAllOrigins: settings.allowsAllOrigins)
        var limits = ServerLimits.web
        limits.body = settings.mostRequestBytes ?? limits.body
        let addresses = settings.listensToAll ? ["0.0.0.0", "::"] : ["127.0.0.1", "::1"]
        do throws(QueueError) {
            let port = settings.port
            let ports = try await server.serve(
                site, at: [(addresses[0], port)], of: queue, limits: limits)
            log.say(.notice, "IPv4 RPC: listening on TCP port \(ports[0])")
        } catch {
            log.say(.error, "IPv4 RPC: failed to bind TCP port \(settings.port)")
            throw error
        }
        // The machine may not support IPv6.
        if (try? await server.serve(
            site, at: [(addresses[1], settings.port)], of: queue, limits: limits)) != nil
        {
            log.say(.notice, "IPv6 RPC: listening on TCP port \(settings.port)")
        }
    }

    /// Waits for a request to stop, or without JSON-RPC until no task remains.
    private func wait(
        for queue: DownloadQueue, until stop: AsyncStream<Void>, _ session: Aria2DaemonSession
    ) async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { for await _ in stop {} }
            group.addTask { [settings] in
                if settings.isService {
                    try? await queue.lasts()
                } else {
                    try? await queue.idle()
                }
            }
            group.addTask { [settings] in await Self.tick(settings, session) }
            _ = await group.next()
            group.cancelAll()
        }
    }

    /// Saves the session when due; returns when the time is up, or the given process has ended.
    private static func tick(_ settings: Aria2Settings, _ session: Aria2DaemonSession) async {
        var seconds = 0
        while (try? await Task.sleep(for: .seconds(1))) != nil {
            seconds += 1
            if let interval = settings.saveSessionInterval, seconds % interval == 0 {
                _ = await session.save()
            }
            let isGone = settings.stopWithProcess.map { kill($0, 0) != 0 && errno == ESRCH }
            if isGone == true || settings.stopAfter.map({ seconds >= $0 }) == true { return }
        }
        // The task was cancelled.
    }

    private static var currentFolder: String {
        guard let path = getcwd(nil, 0) else { return "/" }
        defer { free(path) }
        guard let text = String(validatingCString: path) else {
            Invocation.refuse(
                "the path of the current folder is not UTF-8",
                hint: "start the daemon in another folder")
        }
        return text
    }
}
