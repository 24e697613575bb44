/// Checks an earlier run's extents against the data on the disk, on a thread of its own, while the
/// network already works on what is missing.
final class ExtentVerifier: Sendable {
    private let stopped = Monitor(false)
    private let thread: OwnedThread

    /// Starts checking; `report` is called on the thread, once for each extent, with the outcome.
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

    /// Stops after the extent under way and waits for the thread's end.
    func stop() {
        stopped.withLock { $0 = true }
        thread.join()
    }
}
