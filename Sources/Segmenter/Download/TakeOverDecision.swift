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
    ///   - isControlled: Whether aria2's control file stands beside it.
    ///   - remote: Length of the remote file in bytes; `nil` when unknown.
    ///   - hasDigest: Whether the whole file is compared with a digest in the end.
    ///   - resumes: Whether what is there may be kept.
    init(
        _ takesOver: TakeOver, size: Int64, isControlled: Bool, remote: Int64?, hasDigest: Bool,
        resumes: Bool
    ) {
        let isBegun = isControlled || takesOver >= .begun && remote.map { size < $0 } ?? false
        if isBegun, takesOver >= .controlled {
            self = resumes && hasDigest && remote != nil ? .adopt : .replace
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

extension DownloadJob {
    /// What a file at the destination counts for.
    func takeOver(
        of size: Int64, isControlled: Bool, _ offer: Plan.Offer
    ) -> TakeOverDecision {
        TakeOverDecision(
            options.takesOver, size: size, isControlled: isControlled, remote: offer.identity.size,
            hasDigest: offer.hasDigest || options.checksum != nil, resumes: options.resume)
    }

    /// Whether a file stands at a place that may count for the download; blocks.
    ///
    /// - Parameters:
    ///   - target: The place.
    ///   - offer: What the server offers; without it, the lengths are not compared.
    /// - Returns: Whether one does.
    func mayTakeOver(_ target: FileTarget, _ offer: Plan.Offer? = nil) -> Bool {
        guard options.takesOver > .nothing,
            let file = try? StandingFile.open(folder: target.folder, name: target.name)
        else { return false }
        let isControlled = ForeignPart.isControlled(target)
        guard let offer else {
            return options.takesOver >= (isControlled ? .controlled : .complete)
        }
        return takeOver(of: file.status.size, isControlled: isControlled, offer) != .none
    }
}
