import Assembler

/// A download that goes out in order: what has gone out cannot be taken back.
struct OutgoingStream: Sendable {
    /// Where it goes, once something is there to go out.
    private(set) var output: StreamOutput?
    /// The full URL that its bytes come from.
    private var url: String?

    /// The stream that the present attempt goes on with.
    ///
    /// That is the one of the attempt before, where a strong validator proves that the same version
    /// is offered; or a new one, as long as nothing of another version has gone out.
    ///
    /// - Parameters:
    ///   - descriptor: Where the bytes go.
    ///   - job: What was asked for.
    ///   - primary: Where they come from.
    ///   - attempts: What earlier attempts have shown.
    /// - Returns: The stream.
    /// - Throws: What broke the stream, when it cannot be gone on with.
    mutating func open(
        _ descriptor: Int32, _ job: DownloadJob, _ primary: Primary, _ attempts: Attempts
    ) async throws(DownloadError.Reason) -> StreamOutput {
        let (file, source) = (primary.finding.file, primary.probe.url.text)
        var startedOver: StartOverReason?
        if let output {
            var obstacle = output.identity.obstacle(toStreaming: file.identity)
            if obstacle == nil, url != source,
                !output.identity.hasSameStrongETag(as: file.identity)
            {
                // That another server's file has the same date proves nothing.
                obstacle = .urlChanged
            }
            if obstacle == nil, !output.recorded.covered.isEmpty {
                if file.transfer != .segments { output.forgetBeyondFront() }
                return output
            }
            try await Disk.run { () throws(AssemblyError) in output.stop() }
            guard output.bytesWritten == 0 else {
                if let breach = obstacle?.change { throw .remoteChanged(breach) }
                throw attempts.setback ?? .contract(.wholeFileForRange)
            }
            startedOver =
                output.recorded.covered.isEmpty ? nil : attempts.startOver ?? obstacle
        }
        let request = StreamOutput.Request(
            descriptor: descriptor, identity: file.identity,
            expected: [job.options.checksum].compactMap { $0 } + file.digests,
            window: job.options.stream.window, startedOver: startedOver)
        let stream = try await Disk.run { () throws(AssemblyError) in try StreamOutput(request) }
        (output, url) = (stream, source)
        return stream
    }

    /// Why what has come could not be gone on with, if this were fetched; `nil` when it can be.
    func loss(_ offered: RemoteIdentity) -> StartOverReason? {
        guard let output, !output.recorded.covered.isEmpty else { return nil }
        return output.identity.obstacle(toStreaming: offered)
    }

    /// Ends the stream of a download that has failed.
    ///
    /// - Returns: Bytes that have gone out.
    func end() async -> Int64 {
        guard let output else { return 0 }
        _ = await Disk.result { () throws(AssemblyError) in output.stop() }
        return output.bytesWritten
    }
}

extension RemoteIdentity {
    /// Why a stream of this version may not go on with bytes of `offered`.
    ///
    /// As `obstacle(toContinuingWith:)`, but a stream needs no size.
    fileprivate func obstacle(toStreaming offered: RemoteIdentity) -> StartOverReason? {
        guard size == nil, offered.size == nil else { return obstacle(toContinuingWith: offered) }
        var (mine, theirs) = (self, offered)
        (mine.size, theirs.size) = (0, 0)
        return mine.obstacle(toContinuingWith: theirs)
    }
}
