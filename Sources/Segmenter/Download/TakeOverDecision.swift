import Assembler

/// What a file that segget has not brought counts for, where it stands at the destination.
///
/// Pure.
enum TakeOverDecision: Sendable, Hashable {
    /// Nothing: it is in the way, as any other file.
    case none
    /// It is the file, if a sample of it is what the server sends.
    case compareSample
    /// It is the beginning of the file, if its bytes are: a digest decides in the end.
    case adopt
    /// It was to become the file, and nothing proves that its bytes are the server's: it is replaced.
    case replace

    /// Decides by the lengths.
    ///
    /// - Parameters:
    ///   - takesOver: What may count.
    ///   - size: Length of the file in bytes.
    ///   - controlledSize: Length of the remote file by aria2's control file, if one stands beside the file.
    ///   - remote: Length of the remote file in bytes; `nil` when unknown.
    ///   - hasDigest: Whether the whole file is compared with a digest in the end.
    ///   - resumes: Whether what is there may be kept.
    init(
        _ takesOver: TakeOver, size: Int64, controlledSize: Int64?, remote: Int64?,
        hasDigest: Bool, resumes: Bool
    ) {
        guard let remote else {
            self = .none
            return
        }
        // A control file of another file's says nothing of this one.
        let isControlled = takesOver >= .controlled && resumes && controlledSize == remote
        if isControlled || takesOver >= .begun && size < remote {
            self = resumes && hasDigest ? .adopt : .replace
        } else if takesOver >= .complete, remote == size {
            self = .compareSample
        } else {
            self = .none
        }
    }
}

extension FinishedDoubt {
    /// Why a file is replaced that was to become the one that is fetched; `nil` where it must stay.
    init?(_ obstacle: AdoptionObstacle) {
        switch obstacle {
        case .sampleDiffers, .longerThanRemote, .otherSize: self = .otherBytes
        case .noProof, .onlyDigestTells, .noRanges: self = .unproven
        case .nothingInIt, .controlFile, .shorterThanControlFile, .hasOtherNames, .otherOwner:
            self = .unusable
        // Somebody works on it, or it is no file; the rest comes later.
        case .inUse, .changed, .missing, .notARegularFile, .otherDigest, .otherVersion: return nil
        }
    }
}

extension FinishedDoubt {
    /// Why a file stays that was to be continued; `nil` where the obstacle says more.
    init?(continuing obstacle: AdoptionObstacle) {
        switch obstacle {
        case .sampleDiffers: self = .notTheServers
        case .noProof, .onlyDigestTells: self = .unmarked
        case .longerThanRemote(let size, let remote): self = .otherSize(size, remote: remote)
        default: return nil
        }
    }

    /// Whether it says no more than that nothing proves the version.
    var isUnproven: Bool {
        switch self {
        case .otherURL, .remote(.noValidator), .remote(.urlChanged), .remote(.otherServer): true
        default: false
        }
    }
}

extension DigestAlgorithm {
    /// The lower, the more a digest shows.
    var order: Int {
        switch self {
        case .sha512: 0
        case .sha256: 1
        case .sha1: 2
        case .md5: 3
        case .crc32: 4
        }
    }
}

extension DownloadJob {
    /// Whether a file that no earlier run has marked is compared with the server's.
    ///
    /// Where each request may count, none is sent for that.
    var comparesUnmarked: Bool {
        options.takesOver == .nothing && !options.singleRequest && options.adopt == nil
    }

    /// What a file counts for that is to be continued; nothing is replaced.
    func continuing(
        _ size: Int64, controlledSize: Int64?, _ offer: Plan.Offer
    ) -> TakeOverDecision {
        TakeOverDecision(
            .begun, size: size, controlledSize: controlledSize, remote: offer.identity.size,
            hasDigest: !offer.digests.isEmpty || options.checksum != nil, resumes: options.resume)
    }

    /// What a file at the destination counts for.
    func takeOver(
        of size: Int64, controlledSize: Int64?, _ offer: Plan.Offer
    ) -> TakeOverDecision {
        TakeOverDecision(
            options.takesOver, size: size, controlledSize: controlledSize,
            remote: offer.identity.size,
            hasDigest: !offer.digests.isEmpty || options.checksum != nil, resumes: options.resume)
    }

    /// Whether a file may count for the download, as far as can be said before the lengths are compared.
    func mayCount(controlledSize: Int64?) -> Bool {
        options.takesOver >= (controlledSize == nil || !options.resume ? .complete : .controlled)
    }

    /// Whether a file stands at a place that may count for the download; blocks.
    ///
    /// - Parameters:
    ///   - target: The place.
    ///   - offer: What the server offers; without it, the lengths are not compared.
    /// - Returns: Whether one does.
    func mayTakeOver(_ target: FileTarget, _ offer: Plan.Offer? = nil) -> Bool {
        guard options.takesOver > .nothing || options.continuesExisting,
            let file = try? StandingFile.open(folder: target.folder, name: target.name)
        else { return false }
        let controlled = ForeignPart.controlledSize(of: target)
        guard !options.continuesExisting else {
            guard let offer else { return true }
            let size = file.status.size
            let decision = continuing(size, controlledSize: controlled, offer)
            return decision == .adopt || decision == .compareSample
        }
        guard let offer else { return mayCount(controlledSize: controlled) }
        return takeOver(of: file.status.size, controlledSize: controlled, offer) != .none
    }
}
