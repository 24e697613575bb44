import Assembler
import SegmenterRules
import SegmenterTransport

/// The decision how an existing file counts that segget has not downloaded.
///
/// Pure.
enum TakeOverDecision: Sendable, Hashable {
    /// The file does not count; it prevents the download like any other file.
    case none
    /// The file is complete if a sample of it matches the server's bytes.
    case compareSample
    /// The file is adopted as the beginning of the download; a digest verifies the whole file.
    case adopt
    /// The file would be adopted, but nothing can verify its bytes: it is replaced.
    case replace

    /// Decides by the lengths.
    ///
    /// - Parameters:
    ///   - takesOver: The files that may count.
    ///   - size: The length of the existing file in bytes.
    ///   - controlledSize: The length of the remote file in bytes according to aria2's control
    ///     file; `nil` if there is no control file.
    ///   - remote: The length of the remote file in bytes; `nil` if it is unknown.
    ///   - hasDigest: Whether a digest verifies the whole file in the end.
    ///   - resumes: Whether the caller permits resuming.
    init(
        _ takesOver: TakeOver, size: Int64, controlledSize: Int64?, remote: Int64?,
        hasDigest: Bool, resumes: Bool
    ) {
        guard let remote else {
            self = .none
            return
        }
        // A control file with another length belongs to another remote file.
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
    /// Returns why a file that cannot be adopted is replaced; `nil` if it must be kept.
    init?(_ obstacle: AdoptionObstacle) {
        switch obstacle {
        case .sampleDiffers, .longerThanRemote, .otherSize: self = .otherBytes
        case .noProof, .onlyDigestTells, .noRanges: self = .unproven
        case .nothingInIt, .controlFile, .shorterThanControlFile, .hasOtherNames, .otherOwner:
            self = .unusable
        // The file must not be touched, or the obstacle occurs only after this decision.
        case .inUse, .changed, .missing, .notARegularFile, .otherDigest, .otherVersion: return nil
        }
    }
}

extension FinishedDoubt {
    /// Returns why a file that cannot be continued is kept; `nil` if the obstacle states more.
    init?(continuing obstacle: AdoptionObstacle) {
        switch obstacle {
        case .sampleDiffers: self = .notTheServers
        case .noProof, .onlyDigestTells: self = .unmarked
        case .longerThanRemote(let size, let remote): self = .otherSize(size, remote: remote)
        default: return nil
        }
    }

    /// Whether the doubt only states that nothing identifies the version.
    var isUnproven: Bool {
        switch self {
        case .otherURL, .remote(.noValidator), .remote(.urlChanged), .remote(.otherServer): true
        default: false
        }
    }
}

extension DigestAlgorithm {
    /// The rank of the algorithm by strength; 0 is the strongest.
    var order: Int {
        switch self {
        case .sha512: 0
        case .sha256: 1
        case .sha1: 2
        case .gitSHA1: 3
        case .md5: 4
        case .crc32: 5
        }
    }
}

extension DownloadJob {
    /// Whether a file of unknown origin is compared with the remote file.
    ///
    /// It is not if every request may count (`singleRequest`): the comparison needs further
    /// requests.
    var comparesUnmarked: Bool {
        options.takesOver == .nothing && !options.singleRequest && options.adopt == nil
    }

    /// Returns how a file counts that is to be continued, and that is never replaced.
    func continuing(
        _ size: Int64, controlledSize: Int64?, _ offer: Preparation.Offer
    ) -> TakeOverDecision {
        TakeOverDecision(
            .begun, size: size, controlledSize: controlledSize, remote: offer.identity.size,
            hasDigest: !offer.digests.isEmpty || options.checksum != nil, resumes: options.resume)
    }

    /// Returns how a file at the destination counts.
    func takeOver(
        of size: Int64, controlledSize: Int64?, _ offer: Preparation.Offer
    ) -> TakeOverDecision {
        TakeOverDecision(
            options.takesOver, size: size, controlledSize: controlledSize,
            remote: offer.identity.size,
            hasDigest: !offer.digests.isEmpty || options.checksum != nil, resumes: options.resume)
    }

    /// Returns whether a file may count for the download, before the lengths are compared.
    func mayCount(controlledSize: Int64?) -> Bool {
        options.takesOver >= (controlledSize == nil || !options.resume ? .complete : .controlled)
    }

    /// Returns whether a file that may count for the download exists at the destination; blocks.
    ///
    /// - Parameters:
    ///   - target: The destination.
    ///   - offer: The server's offer; without it, the lengths are not compared.
    /// - Returns: Whether such a file exists.
    func mayTakeOver(_ target: FileTarget, _ offer: Preparation.Offer? = nil) -> Bool {
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
