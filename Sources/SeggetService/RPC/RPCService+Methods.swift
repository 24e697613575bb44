import SeggetFormats
import SeggetQueue
import SeggetReports
import Segmenter
import Synchronization
import SeggetAria2

extension RPCService {
    /// All methods, in the form of `system.listMethods`.
    static let methods = [
        "aria2.addUri", "aria2.getPeers", "aria2.remove", "aria2.pause", "aria2.forcePause",
        "aria2.pauseAll", "aria2.forcePauseAll", "aria2.unpause", "aria2.unpauseAll",
        "aria2.forceRemove", "aria2.changePosition", "aria2.tellStatus", "aria2.getUris",
        "aria2.getFiles", "aria2.getServers", "aria2.tellActive", "aria2.tellWaiting",
        "aria2.tellStopped", "aria2.getOption", "aria2.changeUri", "aria2.changeOption",
        "aria2.getGlobalOption", "aria2.changeGlobalOption", "aria2.purgeDownloadResult",
        "aria2.removeDownloadResult", "aria2.getVersion", "aria2.getSessionInfo", "aria2.shutdown",
        "aria2.forceShutdown", "aria2.getGlobalStat", "aria2.saveSession", "system.multicall",
        "system.listMethods", "system.listNotifications",
    ]

    /// Carries out one of aria2's methods.
    ///
    /// - Throws: `RPCError`.
    func carryOut(_ method: String, _ parameters: RPCParameters) async throws(RPCError) -> JSONValue
    {
        do {
            return try await perform(method, parameters)
        } catch let error as RPCError {
            throw error
        } catch let error as QueueError {
            throw RPCError(error.message)
        } catch {
            throw RPCError("\(error)")
        }
    }

    private func perform(_ method: String, _ parameters: RPCParameters) async throws -> JSONValue {
        switch method {
        case "aria2.addUri": try await addURI(parameters)
        case "aria2.remove", "aria2.forceRemove": try await remove(parameters)
        case "aria2.pause", "aria2.forcePause": try await pause(parameters)
        case "aria2.unpause": try await unpause(parameters)
        case "aria2.pauseAll", "aria2.forcePauseAll":
            try await all { .pause($0) }
        case "aria2.unpauseAll": try await all { .resume($0) }
        case "aria2.changePosition": try await changePosition(parameters)
        case "aria2.changeUri": try await changeURI(parameters)
        case "aria2.changeOption": try await changeOption(parameters)
        case "aria2.changeGlobalOption": try await changeGlobalOption(parameters)
        case "aria2.removeDownloadResult": try await removeResult(parameters)
        case "aria2.purgeDownloadResult": try await purge()
        case "aria2.tellStatus": try await tellStatus(parameters)
        case "aria2.tellActive": try await tellActive(parameters)
        case "aria2.tellWaiting": try await tellWaiting(parameters)
        case "aria2.tellStopped": try await tellStopped(parameters)
        case "aria2.getFiles": try await status(parameters, ["files"], mostFiles: .max).files
        case "aria2.getUris": try await status(parameters, ["files"]).uris
        case "aria2.getServers": try await servers(parameters)
        case "aria2.getPeers": try await peers(parameters)
        case "aria2.getOption": try await option(parameters)
        case "aria2.getGlobalOption": try await globalOption()
        case "aria2.getGlobalStat": try await globalStat()
        case "aria2.getVersion":
            [
                "version": .string(Aria2Words.version),
                "enabledFeatures": ["Async DNS", "GZip", "HTTPS", "Message Digest"],
            ]
        case "aria2.getSessionInfo": ["sessionId": .string(session)]
        case "aria2.shutdown", "aria2.forceShutdown": try shutdown()
        case "aria2.saveSession": try await saveSession()
        default: throw RPCError("No such method: \(PrintableText.escape(method))")
        }
    }

    /// Finds a task by its GID, or by the first digits of it.
    ///
    /// - Throws: `RPCError`.
    func find(_ parameters: RPCParameters) async throws -> TaskReport {
        let gid = try parameters.text(0)
        let digits = gid.utf8.allSatisfy { Character(Unicode.Scalar($0)).isHexDigit }
        guard (1...16).contains(gid.utf8.count), digits else {
            throw RPCError("Invalid GID \(PrintableText.escape(gid))")
        }
        guard let report = try await report(of: gid.lowercased()) else {
            throw RPCError("GID \(gid) is not found")
        }
        return report
    }

    private func report(of gid: String) async throws(QueueError) -> TaskReport? {
        do throws(QueueError) {
            return try await queue.report(TaskFilter(selection: TaskSelection(ids: [gid]))).tasks
                .first
        } catch  where error.code == .noTask {
            return nil
        }
    }

    /// Carries out a command for one task.
    ///
    /// - Throws: `RPCError`, with the queue's message if it refuses the command.
    func carryOut(_ command: QueueCommand) async throws -> [CommandResult] {
        let results = try await queue.perform([command]).joined()
        if let refused = results.first(where: { $0.outcome == .refused }) {
            throw RPCError(refused.message ?? "The queue refused the change.")
        }
        return Array(results)
    }

    private func all(_ command: (TaskSelection) -> QueueCommand) async throws -> JSONValue {
        _ = try await carryOut(
            command(TaskSelection(isAll: true, states: Self.active + Self.waiting)))
        return "OK"
    }

    private func shutdown() throws -> JSONValue {
        guard let shutdown = policy.shutdown else {
            throw RPCError("The service manager ends this service; stop it there.")
        }
        shutdown()
        return "OK"
    }

    private func saveSession() async throws -> JSONValue {
        guard let save = policy.saveSession,
            let path = common.withLock({ $0.text("save-session") })
        else { throw RPCError("Filename is not given.") }
        guard await save(path) else { throw RPCError("Failed to serialize session.") }
        return "OK"
    }

    private func globalStat() async throws -> JSONValue {
        let view = try await queue.view()
        let stopped = view.counts.total(in: Self.stopped)
        return [
            "downloadSpeed": .text(Int64(view.bytesPerSecond)), "uploadSpeed": "0",
            "numActive": .text(view.counts.total(in: Self.active)),
            "numWaiting": .text(view.counts.total(in: Self.waiting)),
            "numStopped": .text(stopped), "numStoppedTotal": .text(stopped),
        ]
    }
}
