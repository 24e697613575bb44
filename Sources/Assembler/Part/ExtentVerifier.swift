/// Checks an earlier run's extents against the data on the disk.
///
/// The check runs on a separate thread while the missing bytes are downloaded.
final class ExtentVerifier: Sendable {
    private let stopped = Monitor(false)
    private let thread: OwnedThread

    /// Starts checking; the thread calls `report` once for each extent, with the result.
    init(
        file: PartialFile, extents: [Extent], diskPriority: DiskPriority = .normal,
        report: @escaping @Sendable (Extent, _ isIntact: Bool) -> Void
    ) {
        let stopped = stopped
        thread = OwnedThread(name: "verify", diskPriority: diskPriority) {
            for extent in extents {
                guard !stopped.withLock({ $0 }) else { return }
                report(extent, isIntact(extent, in: file.descriptor))
            }
        }
    }

    /// Stops after the current extent and waits until the thread has ended.
    func stop() {
        stopped.withLock { $0 = true }
        thread.join()
    }
}
