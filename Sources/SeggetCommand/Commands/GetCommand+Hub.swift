import Glibc
import SeggetReports
import Segmenter

// A repository on the Hugging Face Hub, whose files are a data set.
extension GetCommand {
    /// Lists the chosen files of a repository on the Hub; ends the process if that fails.
    func hubListing(
        _ address: HubAddress, _ access: HubAccess, _ options: DownloadOptions,
        _ session: DownloadSession, _ interrupts: Interrupts
    ) -> (listing: Listing, tree: HubTree?) {
        let style = display.style(terminal: .standardError, json: json != nil)
        let line = ListingLine(address.name, style: style)
        var (listing, tree) = Self.list(address, access, options, session, line) { found in
            interrupts.pollUntil({ found.withLock { $0 } }, stop: line.clear)
        }
        choose(from: &listing)
        return (listing, tree)
    }

    /// The answer of the Hub; `nil` before it.
    typealias HubAnswer = Monitor<Result<(listing: Listing, tree: HubTree?), HubError>?>

    /// Lists files of a repository on the Hub; ends the process if that fails.
    ///
    /// - Parameters:
    ///   - address: The address.
    ///   - access: The Hub.
    ///   - options: The options of the requests.
    ///   - session: Sends the requests.
    ///   - line: Shows the progress.
    ///   - wait: Waits for the answer.
    /// - Returns: The listing, and the list of all files if they were listed.
    static func list(
        _ address: HubAddress, _ access: HubAccess, _ options: DownloadOptions,
        _ session: DownloadSession, _ line: ListingLine,
        wait: (HubAnswer) -> Result<(listing: Listing, tree: HubTree?), HubError>
    ) -> (listing: Listing, tree: HubTree?) {
        if let note = access.note { say([note]) }
        line.show(0)
        let answer = HubAnswer(nil)
        Task {
            let found: Result<(listing: Listing, tree: HubTree?), HubError>
            do throws(HubError) {
                found = .success(
                    try await session.repository(
                        at: address, from: access, options: options, found: line.show))
            } catch {
                found = .failure(error)
            }
            answer.withLock { $0 = found }
        }
        let result = wait(answer)
        line.clear()
        do throws(HubError) { return try result.get() } catch {
            say(Diagnostic.messages(error))
            Glibc.exit(Diagnostic.status(error).rawValue)
        }
    }

    private func choose(from listing: inout Listing) {
        let filter = sets.chosen.filter
        listing.files.removeAll { !filter.chooses($0.path) }
    }

    /// Makes the plan of a listing; ends the process if its paths cannot be used.
    func hubPlan(of listing: Listing) -> PlanFile {
        do throws(PlanError) {
            return try PlanFile(listing, foldsCase: SetFolder.foldsCase(directory ?? "."))
        } catch {
            Self.end(.plan(error, path: listing.source.address ?? ""))
        }
    }

    /// Downloads files of the Hub into its cache on other threads while the main thread waits for
    /// signals.
    func runCache(
        _ listing: Listing, _ tree: HubTree?, _ address: HubAddress, _ access: HubAccess,
        _ options: DownloadOptions, _ session: DownloadSession, _ interrupts: Interrupts,
        _ hooks: Hooks, _ refresh: RefreshCommand?, _ jar: CookieJarFile?
    ) throws -> Never {
        let snapshot: HubSnapshot
        let cache = try HubOptions.cache
        do throws(SetError) {
            snapshot = try HubSnapshot(listing, tree, of: address, in: cache)
        } catch {
            Self.end(error)
        }
        var options = options
        // Nothing but the copied beginning of a blob has its path.
        options.continuesExisting = true
        let current = Monitor<DownloadBatch?>(nil)
        let settings = reportSettings(terminal: .standardError, refresh)
        let (jobs, failFast) = (batch.jobs, batch.failFast)
        let (rechecks, trusts, prints) = (sets.recheck, cached.trustCache, cached.printPath)
        Task { [options] in
            var download = HubCacheDownload(
                snapshot, access, rechecks: rechecks, trusts: trusts, interrupts
            ) { set, work in
                let batch = session.start(
                    set, work, options: options, jobs: jobs, failFast: failFast,
                    refreshURL: refresh?.link, jars: jar?.jars)
                current.withLock { $0 = batch }
                return batch
            }
            var status = await download.run(settings) { event, item in
                guard hooks.areWanted, case .ended(let result) = event.kind else { return }
                await hooks.run(result, url: item(event.index).url, status: ExitStatus(result))
            }
            if let jar { status = jar.save(status) }
            if prints, status == .done {
                StandardStreams.write(snapshot.path + "\n", to: STDOUT_FILENO)
            }
            await session.shutdown()
            Glibc.exit(status.rawValue)
        }
        interrupts.wait(change: session.changeRate) {
            current.withLock { $0 }?.cancel()
            return true
        }
    }

    /// Ends the process without a request: with 0 if all files are complete, else with 69.
    func endOffline(_ address: HubAddress) throws -> Never {
        guard directory != nil else { try endOfflineInCache(address) }
        let folder = directory ?? "."
        let name = Listing(Listing.Source(.hub, address: address.text), files: []).set
        let path = "\(folder)/.segget/\(name).plan"
        var missing: [String] = []
        if Glibc.access(path, F_OK) == 0 {
            let plan = Self.plan(at: path)
            do throws(SetError) {
                let set = try SetFolder(plan, in: folder) { SetFailure($0) }
                let work = try set.examine(rechecks: sets.recheck)
                var figures = set.figures
                set.close()
                missing = work.files.compactMap { try? plan.file(at: Int($0)).path } + work.foreign
                missing.removeAll { !sets.chosen.filter.chooses($0) }
                if missing.isEmpty {
                    // `--include` may have chosen only some files of the set.
                    (figures.files, figures.bytes) = (figures.complete, figures.bytesComplete)
                    endComplete(
                        name, figures, work, in: place(of: address, in: folder), of: set.path)
                }
            } catch {
                Self.end(error)
            }
        }
        Self.say(Diagnostic.offline(address, missing: missing))
        Glibc.exit(ExitStatus.unavailable.rawValue)
    }

    /// Returns the path of what was asked for in a folder.
    func place(of address: HubAddress, in folder: String) -> String {
        address.path.isEmpty ? folder : "\(folder)/\(address.path)"
    }

    /// Reports that all files are complete, and ends the process.
    ///
    /// `path` is that of what was asked for, and `root` the folder of the set. `unchecked` is the
    /// number of files in the cache that were not read; it is `nil` for files in another folder.
    private func endComplete(
        _ set: String, _ figures: SetFigures, _ work: SetWork, in path: String, of root: String,
        unchecked: Int? = nil
    ) -> Never {
        var report = BatchReport(
            reportSettings(terminal: .standardError), count: figures.files, set: figures)
        report.begin(set: set, in: root, figures, work)
        if display.detail != .errors {
            report.print(Message(.note, "no request was sent (HF_HUB_OFFLINE)"))
        }
        let status = report.finish(
            signal: nil, path: unchecked == nil ? nil : path, unchecked: unchecked ?? 0)
        if cached.printPath { StandardStreams.write(path + "\n", to: STDOUT_FILENO) }
        Glibc.exit(status.rawValue)
    }

    private func endOfflineInCache(_ address: HubAddress) throws -> Never {
        let (cache, access) = (try HubOptions.cache, try hub.access())
        do throws(HubError) {
            guard var listing = try HubSnapshot.listing(of: address, from: access, in: cache) else {
                Self.say(Diagnostic.offline(address, missing: []))
                Glibc.exit(ExitStatus.unavailable.rawValue)
            }
            choose(from: &listing)
            do throws(SetError) {
                let snapshot = try HubSnapshot(listing, nil, of: address, in: cache)
                let contents = try snapshot.examine(
                    rechecks: sets.recheck, trusts: cached.trustCache)
                for name in contents.wrong {
                    Self.say([Message(.error, HubWords.wrong(snapshot.blobPath(name)))])
                }
                let missing = contents.missing.flatMap { snapshot.paths(of: $0) }
                if !missing.isEmpty { Self.say(Diagnostic.offline(address, missing: missing)) }
                guard contents.isComplete else {
                    let status: ExitStatus =
                        contents.wrong.isEmpty ? .unavailable : .checksumMismatch
                    Glibc.exit(status.rawValue)
                }
                _ = try snapshot.link(contents)
                let (figures, work) = snapshot.report(of: contents)
                endComplete(
                    snapshot.set, figures, work, in: snapshot.path, of: snapshot.path,
                    unchecked: contents.unchecked)
            } catch {
                Self.end(error)
            }
        } catch {
            Self.say(Diagnostic.messages(error))
            Glibc.exit(Diagnostic.status(error).rawValue)
        }
    }
}
