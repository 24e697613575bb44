import Assembler
import SegmenterRules
import SegmenterTransport

/// A download that is written in order to a descriptor; written bytes cannot be taken back.
struct OutgoingStream: Sendable {
    /// The output, from the first attempt on.
    private(set) var output: StreamOutput?
    /// The full URL from which its bytes are downloaded.
    private var url: String?

    /// Returns the output of the next attempt.
    ///
    /// The previous output continues if a strong validator shows that the server offers the same
    /// version. Otherwise a new output starts, if no bytes have been written yet.
    ///
    /// - Parameters:
    ///   - descriptor: The descriptor to which the bytes are written.
    ///   - job: The request of the caller.
    ///   - primary: The URL that is downloaded.
    ///   - attempts: The results of earlier attempts.
    /// - Returns: The output.
    /// - Throws: The reason why the stream broke, if it cannot be continued.
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
                // An equal date of another server's file is no evidence of the same version.
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

    /// Returns why the received bytes cannot be continued with this version; `nil` if they can be.
    func loss(_ offered: RemoteIdentity) -> StartOverReason? {
        guard let output, !output.recorded.covered.isEmpty else { return nil }
        return output.identity.obstacle(toStreaming: offered)
    }

    /// Stops the output of a download that has failed.
    ///
    /// - Returns: The number of bytes that were written.
    func end() async -> Int64 {
        guard let output else { return 0 }
        _ = await Disk.result { () throws(AssemblyError) in output.stop() }
        return output.bytesWritten
    }
}

extension RemoteIdentity {
    /// Returns why a stream of this version may not be continued with bytes of `offered`.
    ///
    /// Like `obstacle(toContinuingWith:)`, but the size may be unknown.
    fileprivate func obstacle(toStreaming offered: RemoteIdentity) -> StartOverReason? {
        guard size == nil, offered.size == nil else { return obstacle(toContinuingWith: offered) }
        var (mine, theirs) = (self, offered)
        (mine.size, theirs.size) = (0, 0)
        return mine.obstacle(toContinuingWith: theirs)
    }
}
