import Assembler

// How long a host is asked from which nothing has come yet.
extension Probe {
    /// What bounds the tries before the first byte of a file.
    struct Beginning: Sendable {
        var contact = FirstContact()
        /// Whether an earlier run's part is continued: then it has begun long ago.
        var isContinued: @Sendable () async -> Bool = { false }
    }

    /// What comes after a request that failed.
    ///
    /// - Parameters:
    ///   - failure: Why it failed.
    ///   - exchange: The request's.
    ///   - url: Where it went.
    ///   - beginning: What has failed before; `nil` from when on the host need not prove that it is there.
    /// - Returns: What is to be done.
    func step(
        after failure: TransferFailure, _ exchange: Exchange, at url: WebURL,
        _ beginning: inout Beginning?
    ) async -> FirstContact.Step {
        guard var begun = beginning else { return .asEver }
        let origin = url.origin
        let known = await loop.contact(with: origin)
        guard !known.hasServed, !(await begun.isContinued()) else {
            beginning = nil
            return .asEver
        }
        var verdict = NameVerdict.noAnswer
        if let name = failure.unresolvedName(host: NamedHost(origin: origin)?.name) {
            verdict = await NameVerdict.of(name, connecting.access.addressFamily)
        }
        let trouble = FirstContact.Trouble(
            failure, retryAfter: exchange.reply?.retryAfter, verdict: verdict)
        let step = begun.contact.step(
            after: trouble, isGivenUp: known.isGivenUp, random: .random(in: 0..<1))
        beginning = begun
        if step == .giveUp {
            loop.perform { $0.contacts.gaveUp(origin, now: monotonicSeconds()) }
        }
        return step
    }
}

extension TransferLoop {
    /// What the session knows of a host.
    fileprivate func contact(with origin: String) async -> (hasServed: Bool, isGivenUp: Bool) {
        await Answer.wait { answer in
            let isTaken = perform { worker in
                let isGivenUp = worker.contacts.isGivenUp(origin, now: monotonicSeconds())
                answer.resume(returning: (worker.hasServed(origin), isGivenUp))
            }
            if !isTaken { answer.resume(returning: (false, false)) }
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
            let target = Self.split(path)
            return await offLoop("disk") {
                Assembly.bytesRecorded(folder: target.folder, name: target.name) > 0
            }
        case .folder(let path):
            let path = path.isEmpty ? "." : path
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
