import Assembler
import Glibc
package import Segmenter

/// The texts about fleets.
///
/// Pure.
package enum FleetWords {
    /// Returns the message about a new fleet.
    package static func created(_ fleet: Fleet, wanted: Int) -> [Message] {
        let size = fleet.plan.size.map { ", \(Units.size($0))" } ?? ""
        var messages = [
            Message(
                .none,
                "\(Diagnostic.quote(fleet.path)): \(Units.count(Int64(fleet.plan.count), "file"))"
                    + "\(size) in \(Units.count(Int64(fleet.shards), "shard"))")
        ]
        if fleet.shards < wanted {
            messages.append(
                Message(.note, "the plan has too little for \(wanted) shards"))
        }
        return messages
    }

    /// Returns the message that a shard has begun.
    package static func began(_ began: FleetRun.Began) -> String {
        var text = "shard \(began.shard)"
        if began.attempt > 1 { text += ", attempt \(began.attempt)" }
        text += ": \(Units.size(began.size))"
        let complete = began.earlier.files + began.work.complete
        if complete > 0 {
            text += "; complete already: \(Units.count(Int64(complete), "file"))"
        }
        return text
    }

    /// Returns the message that a shard has ended.
    package static func ended(_ shard: Int, _ end: FleetRun.End) -> String {
        switch end {
        case .complete: "shard \(shard) is complete"
        case .stopped(isReplaced: true):
            "shard \(shard) is left to a later attempt, which another process has begun"
        case .stopped(isReplaced: false): "shard \(shard) was stopped; received bytes are kept"
        case .left: "shard \(shard) is left to another attempt; received bytes are kept"
        case .failed: "shard \(shard) has failed"
        }
    }

    /// Returns the message that another process works on a shard, or finishes the fleet.
    package static func waits(_ shard: Int?, _ process: String?) -> String {
        let process = process ?? "another process"
        return shard.map { "waiting for shard \($0), on which \(process) works" }
            ?? "waiting for \(process), which finishes the fleet"
    }

    /// Returns the messages at the end of a worker.
    ///
    /// - Parameters:
    ///   - ending: How it has ended.
    ///   - path: The path of the fleet, as typed.
    ///   - isStopped: Whether a signal has ended it, of which the last shard has told.
    /// - Returns: The messages.
    package static func ended(
        _ ending: FleetRun.Ending, at path: String, isStopped: Bool
    ) -> [Message] {
        switch ending {
        case .done: []
        case .again where isStopped: []
        case .again:
            [Message(.hint, "run the same command again: it continues what was received")]
        case .failed(_, let message):
            [
                Message(.error, message),
                Message(.hint, "`segget fleet status \(path)` shows all failures"),
            ]
        }
    }

    /// Returns the messages about a finished fleet.
    ///
    /// - Parameters:
    ///   - result: What was found.
    ///   - fleet: The fleet.
    ///   - place: The place of the files, as typed; `nil` for the Hub's cache.
    /// - Returns: The messages.
    package static func finished(
        _ result: FleetFinish.Result, _ fleet: Fleet, in place: String?
    ) -> [Message] {
        var messages: [Message] = []
        for (path, shard) in result.wrong.prefix(most) {
            messages.append(
                Message(
                    .error,
                    "\(Diagnostic.quote(path)): the bytes of shard \(shard) are wrong, or were not "
                        + "recorded; the next worker downloads them again"))
        }
        for path in result.foreign.prefix(most) {
            messages.append(
                Message(
                    .error, "\(Diagnostic.quote(path)) has another content; it was left as it is"))
        }
        let files = Units.count(Int64(fleet.plan.count), "file")
        messages.append(
            Message(
                .none, "\(result.complete) of \(files) in place, \(Units.size(result.bytes))"))
        if let rest = result.rest {
            let count = result.missing.count + Set(result.wrong.map(\.path)).count
            messages.append(
                Message(
                    .error,
                    "\(Units.count(Int64(count), "file")) missing or wrong; the plan of "
                        + "the rest is \(Diagnostic.quote(rest))"))
            let folder = place.map { " -d \($0)" } ?? ""
            messages.append(
                Message(
                    .hint,
                    "run `segget fleet work` and `segget fleet finish` again, or "
                        + "`segget get --plan \(rest)\(folder)`"))
        }
        if place == nil, result.isComplete {
            messages.append(HubWords.saved(result.path, unchecked: 0))
        }
        if !result.foreign.isEmpty { messages.append(Message(.hint, SetWords.keptHint)) }
        return messages
    }

    /// The number of paths that are named.
    private static let most = 10
}

extension Diagnostic {
    /// Returns the messages for a fleet that cannot be used.
    package static func messages(_ error: FleetError) -> [Message] {
        func pair(_ text: String, _ hint: String) -> [Message] {
            [Message(.error, text), Message(.hint, hint)]
        }
        switch error {
        case .exists(let path):
            return pair(
                "\(quote(path)) exists and is not empty; nothing was changed",
                "give the path of a folder that does not exist")
        case .notAFleet(let path):
            return pair(
                "\(quote(path)) is not the folder of a fleet",
                "`segget fleet create PLAN FLEET` makes one")
        case .laterVersion(let version, let path):
            return pair(
                "\(quote(path)) has format version \(version), which this segget does not know",
                "use the version of segget that created the fleet")
        case .damaged(let path):
            return pair(
                "\(quote(path)) does not match its checksums; nothing was changed",
                "create the fleet again, in another folder")
        case .otherPlan(let path):
            return pair(
                "\(quote(path)) is not the plan that this fleet was created for",
                "put the original plan back; received bytes are kept")
        case .otherUser(let path):
            return pair(
                "\(quote(path)) belongs to another user",
                "give `--shared` if you trust all users who can write to this folder")
        case .unpinned(let paths, let count):
            let more = count > paths.count ? ["and \(count - paths.count) more"] : []
            return [
                Message(
                    .error,
                    "nothing pins \(Units.count(Int64(count), "file")) to one version (no digest, "
                        + "no strong ETag)")
            ] + (paths.map { quote($0) } + more).map { Message(.none, "  \($0)") } + [
                Message(
                    .hint,
                    "`--allow-unpinned` accepts them; machines may then get different versions")
            ]
        case .empty: return pair("the plan has no files", "check the plan")
        case .inUse(_, let host, let pid):
            let process = pid.map { " (process \($0)\(host.map { " on \($0)" } ?? ""))" } ?? ""
            return pair(
                "another process is finishing this fleet\(process)", "run the command again later")
        case .plan(let error, let path): return messages(error, path: path)
        case .set(let error): return messages(error)
        case .assembly(let error):
            return [
                Message(.error, Diagnostic(error, again: "run the same command again").message)
            ]
        }
    }

    /// Returns the exit code for a fleet that cannot be used.
    package static func status(_ error: FleetError) -> ExitStatus {
        switch error {
        case .exists: .cannotCreate
        case .assembly(.folderUnavailable(_, let code)) where isFinal(errno: code),
            .assembly(.cannotCreate(_, let code)) where isFinal(errno: code),
            .assembly(.io(_, _, let code)) where isFinal(errno: code):
            .cannotCreate
        case .notAFleet, .laterVersion, .unpinned, .empty: .usage
        case .damaged, .otherPlan: .checksumMismatch
        case .otherUser: .refused
        case .inUse, .assembly, .set(.assembly), .set(.inUse): .stopped
        case .plan(let error, _): status(error)
        case .set(let error): status(error)
        }
    }

    /// Whether a folder with this error cannot be used, however often that is tried.
    private static func isFinal(errno code: Int32) -> Bool {
        [ENOENT, EACCES, EPERM, ENOTDIR, EROFS, ELOOP, ENAMETOOLONG].contains(code)
    }
}
