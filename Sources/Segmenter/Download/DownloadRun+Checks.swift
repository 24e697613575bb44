import Assembler

extension DownloadRun {
    /// The URL that a text is, if it is one that can be fetched; `url` is what it was read as.
    ///
    /// - Throws: `foreignURL`, `invalidURL`.
    static func usable(_ url: WebURL?, _ text: String) throws(DownloadError.Reason) -> WebURL {
        if let url, text.contains("://") { return url }
        if let foreign = ForeignURL(text) {
            throw .foreignURL(foreign, shown: redactedGuess(text))
        }
        guard let url else { throw .invalidURL(redactedGuess(text)) }
        return url
    }
}

extension DownloadRun {
    /// Seconds of a download from which on the file may well have changed meanwhile.
    private static let longEnough = 1.0

    /// Begins to ask whether the complete file is still the server's; `nil` where a digest tells, the
    /// server was given up for other mirrors, or hardly any time has passed.
    func endCheck(
        _ primary: Primary, _ started: Double, _ state: State
    ) throws(DownloadError.Reason) -> EndCheck? {
        let finding = primary.finding
        guard monotonicSeconds() - started > Self.longEnough, destination != .null,
            options.checksum == nil, finding.file.digests.isEmpty, !finding.file.isDecoded
        else { return nil }
        if let book = state.mirroring?.book, !book.usable.contains(primary.number) { return nil }
        if state.target != nil {
            let request = try request(finding, primary.probe.url, state)
            guard request.advertised.isEmpty, request.required.isEmpty else { return nil }
        }
        return EndCheck {
            await primary.probe.recheck(finding, vouchedDates: state.attempts.samples.vouchedDates)
        } report: { [report] in
            report(.notice($0))
        }
    }
}

extension DownloadRun {
    /// What bounds the tries before the first byte.
    var beginning: Probe.Beginning {
        Probe.Beginning(contact: FirstContact(isBounded: !options.areRetriesGiven)) {
            await self.isContinued()
        }
    }

    /// Whether a part of the file may be there that an earlier run has left.
    ///
    /// Where the name is the server's to say, any part in the folder counts that was begun for the URL.
    private func isContinued() async -> Bool {
        guard options.resume else { return false }
        guard !isRepair else { return true }
        let urls = ([url] + options.mirrors.map { WebURL($0) }).compactMap { $0 }
        switch destination {
        case .descriptor, .null: return false
        case .file(let path):
            let target = Target(path: path)
            return await offLoop("disk") {
                Assembly.bytesRecorded(folder: target.folder, name: target.name) > 0
            }
        case .folder(let path):
            let path = FileTarget.folder(path)
            return await offLoop("disk") {
                guard let folder = try? Folder(path) else { return false }
                return folder.ownNames().contains { name in
                    guard let header = folder.header(of: name) else { return false }
                    // Another query may be a fresh signature.
                    return urls.contains {
                        header.url == $0.redacted || header.isFor(fullURL: $0.text)
                    }
                        && Assembly.bytesRecorded(folder: path, name: name) > 0
                }
            }
        }
    }
}
