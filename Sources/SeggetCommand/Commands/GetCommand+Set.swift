import ArgumentParser
import Glibc
import SeggetReports
import Segmenter

// A data set: the files of a plan in one folder, and the ledger of what is complete.
extension GetCommand {
    /// Refuses options that do not fit a set, or its absence.
    func validateSet() throws {
        let hasHub = try hubAddress != nil
        let isCached = hasHub && directory == nil
        for (name, isGiven) in [("delete-extra", sets.deleteExtra), ("force", sets.force)]
        where isGiven && isCached {
            throw ValidationError("`--\(name)` is for a folder (`--directory`), not for the cache")
        }
        guard isCached || !cached.trustCache else {
            throw ValidationError(
                "`--trust-cache` is for the Hub's cache: `hf://…` without `--directory`")
        }
        guard hasHub || !cached.printPath else {
            throw ValidationError("`--print-path` is for `hf://…`")
        }
        guard !cached.printPath || json == nil else {
            throw ValidationError(
                "`--print-path` and `--json` cannot both write to standard output")
        }
        guard hasHub || sets.chosen.include.isEmpty && sets.chosen.exclude.isEmpty else {
            throw ValidationError("`--include` and `--exclude` are for `hf://` and `segget plan`")
        }
        guard sets.plan == nil, !hasHub else {
            guard hasHub || urls.isEmpty && batch.inputFile.isEmpty else {
                throw ValidationError(
                    "`--plan` has the URLs: leave out "
                        + (urls.isEmpty ? "`--input-file`" : "those on the command line"))
            }
            guard !sets.force || sets.deleteExtra else {
                throw ValidationError("`--force` belongs to `--delete-extra`")
            }
            return
        }
        for (name, isGiven) in [
            ("recheck", sets.recheck), ("delete-extra", sets.deleteExtra), ("force", sets.force),
        ] where isGiven {
            throw ValidationError("`--\(name)` is for the set of a plan (`--plan`)")
        }
    }

    /// Downloads the set of a plan on other threads while the main thread waits for signals.
    func runSet(
        _ plan: PlanFile, _ hub: HubAccess?, _ options: DownloadOptions, _ session: DownloadSession,
        _ interrupts: Interrupts, _ hooks: Hooks, _ refresh: RefreshCommand?, _ jar: CookieJarFile?,
        listed tree: HubTree? = nil, printing path: String? = nil
    ) -> Never {
        let set: SetFolder
        let work: SetWork
        do throws(SetError) {
            set = try SetFolder(
                plan, in: directory ?? ".", hub: hub, describe: { SetFailure($0) })
            work = try set.examine(rechecks: sets.recheck) { interrupts.received != nil }
        } catch {
            Self.end(error)
        }
        if let tree { set.note(tree) }
        let item: @Sendable (Int) -> BatchItem = {
            set.item(work.files[$0], of: work, options: options)
        }
        let (figures, settings) = (
            set.figures, reportSettings(terminal: .standardError, refresh)
        )
        let download = session.start(
            set, work, options: options, jobs: batch.jobs, failFast: batch.failFast,
            refreshURL: refresh?.link, jars: jar?.jars)
        if interrupts.received != nil { download.cancel() }
        let (deletes, force) = (sets.deleteExtra && !work.isCancelled, sets.force)
        Self.follow(download, session, interrupts, hooks, jar, item: item) {
            var report = BatchReport(settings, count: figures.files, set: figures)
            report.begin(set: set.plan.set, in: set.path, figures, work)
            return report
        } end: { report in
            var worst = ExitStatus.done
            if deletes, report.isComplete {
                worst = Self.removeExtras(set, work, force: force, &report)
            }
            if let problem = set.close() {
                for message in SetWords.unrecorded(problem) { report.print(message) }
                worst = worst.worse(.disk)
            }
            if let path, report.isComplete, worst == .done {
                StandardStreams.write(path + "\n", to: STDOUT_FILENO)
            }
            return worst
        }
    }

    private static func removeExtras(
        _ set: SetFolder, _ work: SetWork, force: Bool, _ report: inout BatchReport
    ) -> ExitStatus {
        do throws(SetError) {
            let (removed, kept) = try set.removeExtras(work, force: force)
            for path in removed {
                report.print(
                    Message(.none, SetWords.removed("\(set.path)/\(path)", isDryRun: false)))
            }
            for path in kept {
                report.print(Message(.error, SetWords.keptExtra("\(set.path)/\(path)")))
            }
            return kept.isEmpty ? .done : .cannotCreate
        } catch {
            for message in Diagnostic.messages(error) { report.print(message) }
            return Diagnostic.status(error)
        }
    }

    static func say(_ messages: [Message]) {
        let colour = Terminal.standardError.colour
        for message in messages {
            StandardStreams.write(message.line(colour: colour) + "\n", to: STDERR_FILENO)
        }
    }

    /// Opens a plan; ends the process if it cannot be read or parsed.
    static func plan(at path: String, foldsCase: Bool = false) -> PlanFile {
        do throws(PlanError) { return try PlanFile(path, foldsCase: foldsCase) } catch {
            end(.plan(error, path: path))
        }
    }

    /// Lists the files that `--delete-extra` would remove.
    func showExtras(of plan: PlanFile) {
        do throws(SetError) {
            for path in try SetStatus(plan, in: directory ?? ".").extras {
                let text = SetWords.removed("\(directory ?? ".")/\(path)", isDryRun: true)
                StandardStreams.write(text + "\n", to: STDOUT_FILENO)
            }
        } catch {
            Self.end(error)
        }
    }

    /// Ends the process because of a set; parts of files remain for the next run.
    static func end(_ error: SetError) -> Never {
        say(Diagnostic.messages(error))
        Glibc.exit(Diagnostic.status(error).rawValue)
    }
}
