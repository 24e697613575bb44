public import ArgumentParser
import CLinux
import FoundationEssentials
import Glibc
import SeggetCommand
import SeggetQueue
import SeggetReports
import SeggetService
public import Segmenter

/// `segget serve`: runs the queue as a service.
struct ServeCommand: ParsableCommand {
    static let configuration = QueueCommandName.serve.configuration(
        discussion: """
            Waits for tasks indefinitely, and writes a log line for each event to standard error. SIGTERM stops it \
            in an orderly way; SIGHUP reloads the settings. systemd can start it (`segget.service`) and listen for it \
            (`segget.socket`). Without systemd, `--detach` runs it in the background.
            """)

    @Option(
        help: ArgumentHelp(
            "Run at this niceness, from 0 to 19.", valueName: "n"))
    var nice = 10
    @Option(
        help: ArgumentHelp(
            "Verify files at this I/O priority: idle (only while no other process uses the disk) or normal.",
            valueName: "class"))
    var ioPriority = DiskPriority.idle
    @Flag(help: "Continue in the background once the service accepts commands.") var detach = false
    @Option(
        help: ArgumentHelp(
            "Write the process id to this file while the service runs.", valueName: "file"),
        completion: .file(), transform: PathArgument.file)
    var pidFile: String?
    @Option(
        help: ArgumentHelp(
            "Append the log to this file; with `--detach`, also all other messages.",
            valueName: "file"),
        completion: .file(), transform: PathArgument.file)
    var logFile: String?
    @OptionGroup(title: "Scripts and sleep") var worker: WorkerOptions
    @OptionGroup(title: "Remote access") var doors: DoorOptions
    @OptionGroup(title: "Queue") var queue: QueueOptions
    @OptionGroup(title: "Configuration") var configuration: ConfigurationOptions

    func validate() throws {
        guard (0...19).contains(nice) else {
            throw ValidationError("`--nice` takes 0 to 19, not \(nice)")
        }
    }

    func run() throws {
        // Swift's threads change their own niceness if they may, as those of root: prevent it
        // first.
        _ = segget_stay_nice()
        StandardStreams.prepare()
        let path = try queue.path
        if doors.ping { try ping() }
        if doors.showSecret { try Self.printSecret(of: path) }
        let pidFile = pidFile.map(Paths.absolute)
        if detach {
            guard Detachment.isDone else { Detachment.run(log: logFile) }
            // The current folder may be on a file system that will be unmounted.
            chdir("/")
        }
        // Files are private until they get the mode that the umask of `segget add` determines.
        umask(0o077)
        if let logFile, !detach { try ServiceLog.append(to: logFile) }
        let log = ServiceLog()
        let companions = try worker.companions { log.say(.warning, $0) }
        let service = Service(
            path: path, checkPriority: ioPriority, manager: .take(), log: log, pidFile: pidFile,
            companions: companions, doors: { [doors] in try doors.doors(path) })
        do throws(QueueError) {
            let listener = try ActivationSocket.take()
            service.setNiceness(nice)
            let interrupts = Interrupts(isService: true)
            let stop = AsyncStream.makeStream(of: Void.self)
            let reloads = AsyncStream.makeStream(of: Void.self)
            Task {
                do throws(QueueError) {
                    try await service.run(listener, until: stop.stream, reloads.stream)
                    Glibc.exit(ExitStatus.done.rawValue)
                } catch {
                    service.end(with: error)
                }
            }
            interrupts.wait(
                change: { if $0 == .reload { reloads.continuation.yield() } },
                code: { _ in ExitStatus.done.rawValue }
            ) {
                stop.continuation.finish()
                return true
            }
        } catch {
            service.end(with: error)
        }
    }
}

extension ServeCommand {
    /// Checks whether a worker responds, without starting one, and ends the process.
    private func ping() throws -> Never {
        try queue.run(startsService: false) { access in
            guard access.worker == nil else { return .done }
            throw QueueError(
                .worker, "no worker is running", hint: "start one with `segget serve`")
        }
    }

    /// Prints the secret, and ends the process.
    private static func printSecret(of path: String) throws -> Never {
        do throws(QueueError) {
            try QueueFiles(path).makeFolder()
            let secret = try SecretFile(of: path).read()
            let isWritten = StandardStreams.write(secret + "\n", to: STDOUT_FILENO)
            Glibc.exit(isWritten ? ExitStatus.done.rawValue : ExitStatus.disk.rawValue)
        } catch {
            Voice.refuse(error)
        }
    }
}

/// The worker of a queue, from its start to its end.
struct Service: Sendable {
    let path: String
    let checkPriority: DiskPriority
    let manager: ServiceManager
    let log: ServiceLog
    let pidFile: String?
    let companions: WorkerCompanions
    /// Returns the endpoints over TCP; called after the queue is opened.
    let doors: @Sendable () throws -> Doors?

    /// Ends the process after an error of the queue.
    func end(with error: QueueError) -> Never {
        manager.tell("STOPPING=1", status: error.message, hint: error.hint)
        log.say(.error, "\(error.message); \(error.hint)")
        Glibc.exit(error.status.rawValue)
    }

    /// Sets the niceness of all threads; Linux stores one for each thread, and new ones inherit it.
    func setNiceness(_ niceness: Int) {
        let which = __priority_which_t(PRIO_PROCESS.rawValue)
        var others: [id_t]
        repeat {
            // The next turn finds threads that another thread starts meanwhile.
            let all =
                (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task")) ?? []
            others = all.compactMap { id_t($0) }.filter { thread in
                errno = 0
                let own = getpriority(which, thread)
                return errno == 0 && own != Int32(niceness)
            }
            for thread in others where setpriority(which, thread, Int32(niceness)) != 0 {
                guard errno != ESRCH else { continue }
                let reason = Diagnostic.describe(errno: errno)
                return log.say(.warning, "cannot set the niceness to \(niceness): \(reason)")
            }
        } while !others.isEmpty
    }

    /// Runs the queue until it is stopped.
    ///
    /// - Parameters:
    ///   - listener: A socket that the service manager listens on; `nil` to create one.
    ///   - stop: Ends to request a stop.
    ///   - reloads: Has an element for each request to reload the settings.
    /// - Throws: `QueueError`, if the queue cannot run.
    func run(
        _ listener: Int32?, until stop: AsyncStream<Void>, _ reloads: AsyncStream<Void>
    ) async throws(QueueError) {
        let worked = try await WorkedQueue.open(
            path, companions: companions, checkPriority: checkPriority, listener: listener
        ) { [log, manager] error in
            manager.tell(status: error.waiting)
            log.say(.warning, error.waiting)
        }
        let queue = worked.queue
        do throws(QueueError) {
            try writePIDFile()
            try await openDoors(worked)
        } catch {
            await worked.close()
            throw error
        }
        let events = await queue.events()
        let logging = Task { await log.follow(events) }
        log.say(.info, "segget \(seggetVersion) runs the queue \(path)")
        if let advice = Lingering.advice { log.say(.warning, advice) }
        await queue.work()
        manager.tell("READY=1", "STATUS=\(await status(of: queue))")
        let others = [
            Task { await tellStatus(of: queue) }, Task { await keepAlive(queue) },
            Task { await reload(queue, reloads) }, Task { await companions.follow(queue) },
        ]
        let failure = await worked.wait(for: stop) { queue throws(QueueError) in
            try await queue.lasts()
        }
        manager.tell("STOPPING=1", "STATUS=stopping")
        for task in others { task.cancel() }
        await worked.close()
        await logging.value
        await companions.finish(within: 1)
        if let pidFile { unlink(pidFile) }
        if let failure { throw failure }
        log.say(.info, "the service has stopped")
    }

    /// Listens over TCP, if the options request it.
    private func openDoors(_ worked: WorkedQueue) async throws(QueueError) {
        let opened: Doors?
        do {
            opened = try doors()
        } catch let error as QueueError {
            throw error
        } catch {
            throw QueueError(
                .invalid, "\(error)", hint: "see `segget help serve remote-access`")
        }
        guard let opened else { return }
        for place in try await opened.open(worked.server, worked.queue) {
            log.say(.info, place)
        }
        let secret = Diagnostic.quote(SecretFile(of: path).path)
        log.say(.info, "the secret for clients is in \(secret)")
        for place in opened.places where !place.isLoopback {
            log.say(
                .warning, "other machines can reach the service at \(place.address), unencrypted")
        }
    }

    // MARK: Messages to the service manager

    private func status(of queue: DownloadQueue) async -> String {
        guard let snapshot = try? await queue.snapshot() else { return "the queue cannot be read" }
        return Self.status(snapshot)
    }

    private static let idle = "nothing to do"

    /// Returns a line such as `3 running, 12 MiB/s`.
    static func status(_ snapshot: QueueView) -> String {
        let running = snapshot.counts.total(in: TaskStatus.Word.withSlot)
        var parts = running > 0 ? ["\(running) running", Units.speed(snapshot.bytesPerSecond)] : []
        let waiting = snapshot.counts.total(in: [.waiting, .retrying])
        if waiting > 0 { parts.append("\(waiting) waiting") }
        let offline = snapshot.counts.total(in: [.waitingForNetwork])
        if offline > 0 { parts.append("\(offline) waiting for the network") }
        return parts.isEmpty ? idle : parts.joined(separator: ", ")
    }

    /// Sends changes of the status to the service manager, at most once a second.
    private func tellStatus(of queue: DownloadQueue) async {
        var told = ""
        for await snapshot in await queue.snapshots() {
            let status = Self.status(snapshot)
            if status != told {
                manager.tell("STATUS=\(status)")
                // An idle service may not need the memory of its start or its last download for
                // days.
                if status == Self.idle { segget_give_back_memory() }
            }
            told = status
            guard (try? await Task.sleep(for: .seconds(1))) != nil else { return }
        }
    }

    /// Confirms twice in each watchdog period that the queue responds.
    private func keepAlive(_ queue: DownloadQueue) async {
        guard let time = manager.watchdog else { return }
        while (try? await Task.sleep(for: time / 2)) != nil {
            if (try? await queue.settings()) != nil { manager.tell("WATCHDOG=1") }
        }
    }

    // MARK: Settings

    /// Reloads the queue's and the command's settings on each request.
    private func reload(_ queue: DownloadQueue, _ wishes: AsyncStream<Void>) async {
        for await _ in wishes {
            manager.tellReloading()
            do {
                try await queue.rereadSettings()
                if let command = try Program(Manager.self).reread() as? ServeCommand {
                    setNiceness(command.nice)
                }
                log.say(.info, "the settings were reloaded")
            } catch {
                let reason = (error as? QueueError)?.message ?? "\(error)"
                log.say(.error, "cannot reload the settings, keeping the old ones: \(reason)")
            }
            manager.tell("READY=1", "STATUS=\(await status(of: queue))")
        }
    }

    private func writePIDFile() throws(QueueError) {
        guard let pidFile else { return }
        unlink(pidFile)
        let descriptor = open(pidFile, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else { throw .noFile(pidFile, errno) }
        defer { close(descriptor) }
        guard fchmod(descriptor, 0o644) == 0,
            StandardStreams.write("\(getpid())\n", to: descriptor)
        else { throw .noFile(pidFile, errno) }
    }
}

extension DiskPriority: ExpressibleByArgument {}

extension QueueError {
    /// Creates the error for a file that the service cannot write.
    static func noFile(_ path: String, _ code: Int32) -> QueueError {
        QueueError(
            .unavailable,
            "\(Diagnostic.quote(path)) cannot be written: \(Diagnostic.describe(errno: code))",
            hint: "choose a file in a writable folder")
    }
}

/// Checks whether systemd keeps a user's services running after logout.
enum Lingering {
    /// The advice if systemd ends this service at logout; otherwise `nil`.
    static var advice: String? {
        guard getenv("INVOCATION_ID") != nil, geteuid() != 0, let user = getpwuid(geteuid()) else {
            return nil
        }
        let name = String(cString: user.pointee.pw_name)
        guard access("/var/lib/systemd/linger/\(name)", F_OK) != 0 else { return nil }
        return
            "downloads stop when you log out; `loginctl enable-linger` keeps services running"
    }
}
