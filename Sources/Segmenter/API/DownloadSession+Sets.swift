package import SegmenterTransport
public import SegmenterValues

extension DownloadSession {
    /// Starts the download of the files that a set lacks, and returns immediately.
    ///
    /// The results are recorded in the ledger of the set. `BatchEvent.index` is an index of
    /// ``SetWork/files``. The caller awaits the batch before it closes the set.
    ///
    /// - Parameters:
    ///   - set: The set.
    ///   - work: What ``SetFolder/examine(rechecks:isCancelled:)`` returned.
    ///   - options: The options of all files. They share its rate limit.
    ///   - jobs: The number of files to download at a time, 1…64; `nil` as for lists.
    ///   - failFast: Whether the first failure stops the other files.
    ///   - refreshURL: Returns a new link when the server refuses the URL of a file.
    /// - Returns: The running batch.
    public func start(
        _ set: SetFolder, _ work: SetWork, options: DownloadOptions, jobs: Int? = nil,
        failFast: Bool = false, refreshURL: RefreshURL? = nil
    ) -> DownloadBatch {
        start(
            set, work, options: options, jobs: jobs, failFast: failFast, refreshURL: refreshURL,
            jars: nil)
    }

    /// Starts the download of the files that a set lacks, and keeps their cookies in `jars`.
    package func start(
        _ set: SetFolder, _ work: SetWork, options: DownloadOptions, jobs: Int?, failFast: Bool,
        refreshURL: RefreshURL?, jars: CookieJars?
    ) -> DownloadBatch {
        let list = BatchList(work.files.count) {
            set.plan.roughSize(at: Int(work.files[$0]))
        } item: {
            set.item(work.files[$0], of: work, options: options)
        }
        return start(list, jobs: jobs, failFast: failFast, refreshURL, jars) {
            set.record(work.files[$0], $1)
        }
    }
}

extension SetFolder {
    /// Makes the download of the file at an index of the plan.
    ///
    /// If the plan was altered meanwhile, the URL is empty, so that the file fails.
    package func item(_ index: UInt32, of work: SetWork, options: DownloadOptions) -> BatchItem {
        do throws(PlanError) {
            var item = try plan.item(
                at: Int(index), options: options, folder: path, hub: hub)
            if work.replaced.contains(index) { item.options.overwrite = true }
            return item
        } catch {
            return BatchItem("", to: .file("\(path)/\(index)"), options: options)
        }
    }
}
