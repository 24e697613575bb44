import Assembler

// A download that goes out in order: what has gone out cannot be taken back.
extension DownloadRun {
    /// The stream that the present attempt goes on with.
    ///
    /// That is the one of the attempt before, where a strong validator proves that the same version
    /// is offered; or a new one, as long as nothing of another version has gone out.
    ///
    /// - Throws: What broke the stream, when it cannot be gone on with.
    func openStream(
        _ descriptor: Int32, _ finding: Probe.Finding, _ probe: Probe, _ state: inout State
    ) async throws(DownloadError.Reason) -> StreamOutput {
        let identity = finding.file.identity
        var startedOver: StartOverReason?
        if let stream = state.stream {
            var obstacle = stream.identity.obstacle(toStreaming: identity)
            if obstacle == nil, state.streamURL != probe.url.text,
                !stream.identity.hasSameStrongETag(as: identity)
            {
                // That another server's file has the same date proves nothing.
                obstacle = .urlChanged
            }
            if obstacle == nil, !stream.recorded.covered.isEmpty {
                if finding.file.plan != .segments { stream.forgetBeyondFront() }
                return stream
            }
            try await close(stream)
            guard stream.bytesWritten == 0 else {
                if let breach = obstacle?.change { throw .remoteChanged(breach) }
                throw state.attempts.setback ?? .contract(.wholeFileForRange)
            }
            startedOver =
                stream.recorded.covered.isEmpty ? nil : state.attempts.startOver ?? obstacle
        }
        let request = StreamOutput.Request(
            descriptor: descriptor, identity: identity,
            expected: [options.checksum].compactMap { $0 } + finding.file.digests,
            window: options.stream.window, startedOver: startedOver)
        let stream = try await onDisk { () throws(AssemblyError) in try StreamOutput(request) }
        state.stream = stream
        state.streamURL = probe.url.text
        return stream
    }

    /// Ends the stream of a download that has failed, if it has one.
    ///
    /// - Returns: Bytes that have gone out; `nil` for a download to a file.
    func endStream(_ state: State) async -> Int64? {
        guard case .descriptor = destination else { return nil }
        guard let stream = state.stream else { return 0 }
        _ = await onDiskResult { () throws(AssemblyError) in stream.stop() }
        return stream.bytesWritten
    }
}

extension RemoteIdentity {
    /// Why a stream of this version may not go on with bytes of `offered`.
    ///
    /// As `obstacle(toContinuingWith:)`, but a stream needs no size.
    func obstacle(toStreaming offered: RemoteIdentity) -> StartOverReason? {
        guard size == nil, offered.size == nil else { return obstacle(toContinuingWith: offered) }
        var (mine, theirs) = (self, offered)
        (mine.size, theirs.size) = (0, 0)
        return mine.obstacle(toContinuingWith: theirs)
    }
}
