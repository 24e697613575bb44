import Assembler

// Comparisons of the existing file with the server's offer.
extension Plan {
    /// Compares a file that may count for the download with the server's offer.
    func compared(
        _ file: StandingFacts, _ doubt: FinishedDoubt?, _ offer: Offer
    ) -> Step {
        // A `HEAD` is only a hint: it justifies neither replacing the file nor keeping it.
        guard offer.isProven else { return .prove }
        switch job.takeOver(of: file.size, controlledSize: file.controlledSize, offer) {
        case .none:
            return job.options.overwrite ? .replace(nil) : exists(file, doubt)
        case .replace: return .replace(.unproven)
        case .adopt: return .adopt
        case .compareSample: return doubt.map { .replace($0) } ?? comparedWhole(file, offer)
        }
    }

    /// Compares a file of full length with the server's offer, by the strongest available evidence.
    ///
    /// That is a digest, then the record of an earlier run, then a sample.
    func comparedWhole(_ file: StandingFacts, _ offer: Offer) -> Step {
        if let step = comparedByDigest(file, offer, otherwise: { .replace($0) }) { return step }
        if let known = file.known {
            let step = compared(file, known, offer)
            guard case .refuse(_, let doubt?) = step else { return step }
            // Without evidence of another version, the bytes may show that the file is the same.
            guard doubt.isUnproven else { return .replace(doubt) }
            guard let checked = answers.content else { return .checkContent }
            guard checked != nil else { return .replace(.damaged) }
        }
        guard offer.servesRanges else { return .replace(.unproven) }
        guard let isSame = answers.isSampleSame else { return .compareSample }
        guard isSame else { return .replace(.otherBytes) }
        return left(file, .alreadyComplete, isSampled: true)
    }

    /// Compares a file with a digest that the server states; `nil` if it states none.
    func comparedByDigest(
        _ file: StandingFacts, _ offer: Offer, otherwise: (FinishedDoubt) -> Step
    ) -> Step? {
        guard let stated = offer.digests.min(by: { $0.algorithm.order < $1.algorithm.order })
        else { return nil }
        guard let answer = answers.stated else { return .compareDigest(stated) }
        guard let content = answer, let actual = content.digests.first else {
            return otherwise(.damaged)
        }
        guard actual == stated else {
            return otherwise(.otherDigest(expected: stated, actual: actual))
        }
        return left(file, .alreadyComplete, content)
    }

    /// Compares a file with the record of an earlier run and the server's offer.
    func compared(
        _ file: StandingFacts, _ known: FinishedFacts, _ offer: Offer
    ) -> Step {
        let decision = FinishedDecision(
            known, size: file.size, offered: offer.identity, fullURL: offer.fullURL,
            url: offer.url, otherURLs: job.urls.map(\.text))
        var isSampled = false
        if case .doubtful(let doubt) = decision {
            // A `HEAD` is only a hint: some servers omit the validators in its response.
            guard offer.isProven else { return .prove }
            if doubt == .remote(.noValidator), known.header.isFor(fullURL: offer.fullURL),
                let step = comparedByDigest(file, offer, otherwise: { exists(file, $0) })
            {
                return step
            }
            let isDateDoubted =
                file.size == known.size && known.header.isFor(fullURL: offer.fullURL)
                && known.header.identity.isDoubted(by: offer.identity)
            guard isDateDoubted else { return exists(file, doubt) }
            guard let isSame = answers.isSampleSame else { return .compareSample }
            guard isSame else { return exists(file, doubt) }
            isSampled = true
        }
        guard let checked = answers.content else { return .checkContent }
        guard let content = checked else { return exists(file, .damaged) }
        return left(file, .alreadyComplete, content, isSampled: isSampled)
    }

    /// Compares a file by its modification time.
    func compared(_ file: StandingFacts, _ offer: Offer) -> Step {
        let decision = TimestampDecision(
            size: file.size, time: file.modified,
            known: file.header(for: offer.fullURL, offer.url)?.identity, offered: offer.identity,
            modified: offer.modified)
        guard decision == .fetch else { return left(file, .notNewer) }
        guard (offer.identity.size ?? file.size) == file.size else { return .fetch }
        if answers.isUnmodified == true { return left(file, .notNewer) }
        // No second request is allowed, so that the offer alone decides.
        guard !job.options.singleRequest else { return .fetch }
        // Ask again before the file is replaced.
        guard let isUnmodified = answers.isStillUnmodified else { return .askIfModified }
        return isUnmodified ? left(file, .notNewer) : .fetch
    }

    /// Compares a file of unknown origin, which is never replaced.
    ///
    /// The file counts if a digest that the server states matches. Without such a digest, its
    /// length, its modification time and a sample must match the remote file.
    func compared(
        unmarked file: StandingFacts, _ doubt: FinishedDoubt?, _ offer: Offer
    ) -> Step {
        guard let remote = offer.identity.size else { return exists(file, doubt ?? .unmarked) }
        if job.options.continuesExisting {
            let decision = job.continuing(file.size, controlledSize: file.controlledSize, offer)
            // A `HEAD` is only a hint: some servers state a digest only with the bytes.
            if decision == .adopt || decision == .replace, !offer.isProven { return .prove }
            if decision == .adopt { return .adopt }
        }
        guard remote == file.size else {
            return exists(file, doubt ?? .otherSize(file.size, remote: remote))
        }
        if let doubt { return exists(file, doubt) }
        guard offer.isProven else { return .prove }
        if let step = comparedByDigest(file, offer, otherwise: { exists(file, $0) }) { return step }
        guard offer.servesRanges, file.controlledSize == nil, offer.identity.lastModifiedIsStrong,
            offer.modified == file.modified
        else { return exists(file, .unmarked) }
        guard let isSame = answers.isSampleSame else { return .compareSample }
        guard isSame else { return exists(file, .notTheServers) }
        return left(file, .alreadyComplete, isSampled: true, isDated: true)
    }

    /// Returns the step that fails because the destination exists.
    func exists(_ file: StandingFacts, _ doubt: FinishedDoubt? = nil) -> Step {
        .refuse(.assembly(.destinationExists(path: file.path)), because: doubt)
    }

    /// Returns the step that keeps the file and ends.
    func left(
        _ file: StandingFacts, _ why: DownloadedFile.Unchanged, _ content: Content? = nil,
        isSampled: Bool = false, isDated: Bool = false
    ) -> Step {
        .leave(
            Left(
                path: file.path, size: file.size, why: why, crc32: content?.crc32,
                verified: content?.digests ?? [], isSampled: isSampled, isDated: isDated))
    }
}
