import Assembler
import Glibc
import Segmenter
import SegmenterRules

/// What the failure of a download means for a queue, and when it is tried again.
///
/// Pure. What a run tries again by itself, for some seconds or minutes, has been tried when this is asked.
enum FailureRule: Sendable, Hashable {
    /// It passes: a later attempt may do better, but not before so many seconds, where the server said so.
    case passes(notBefore: Double? = nil)
    /// The server is left alone for so many seconds, as often as that is worth it.
    case rests(for: Double)
    /// The disk is full: bytes that are needed, where that is known.
    case space(needed: Int64? = nil)
    /// It stays as it is until somebody does something.
    case final
    /// Somebody stopped it.
    case stopped

    /// What follows.
    enum Decision: Sendable, Hashable {
        /// It is tried again after so many seconds.
        case retry(after: Double)
        /// It is tried again after so many seconds, which counts for nothing.
        case wait(Double)
        /// It has failed.
        case fail
        /// It waits for space: bytes that are needed, where that is known.
        case waitForSpace(needed: Int64?)
        /// Nothing: it was stopped.
        case stop
    }

    /// The longest that a task waits, in seconds, whatever a server asks for.
    static let longestWait = 86_400.0
    /// Seconds from one look at a full disk to the next.
    static let spaceDelay = 60.0
    /// Seconds from one attempt to the next while the network is away for other tasks, too.
    static let networkDelay = 60.0

    /// What follows a failure.
    ///
    /// - Parameters:
    ///   - failure: The failure.
    ///   - attempts: Earlier ones in a row that passed.
    ///   - delays: Seconds to wait after the first, the second and so on; behind the last one it fails.
    /// - Returns: The step.
    static func next(after failure: FailureRule, attempts: Int, delays: [Double]) -> Decision {
        switch failure {
        case .stopped: return .stop
        case .final: return .fail
        case .space(let needed): return .waitForSpace(needed: needed)
        case .rests(let seconds): return .wait(seconds)
        case .passes(let notBefore):
            guard delays.indices.contains(attempts) else { return .fail }
            return .retry(after: min(max(delays[attempts], notBefore ?? 0), longestWait))
        }
    }
}

// MARK: - What is what

extension FailureRule {
    /// The failure of a download: of the mirrors that have failed, the one that is most likely to do better counts.
    init(_ error: DownloadError) {
        self.init(error.reason)
        guard self == .final, error.reason.isOfServer else { return }
        let soonest = error.mirrors.compactMap { mirror -> Double? in
            guard case .failed(let reason) = mirror.fault,
                case .passes(let notBefore) = FailureRule(reason)
            else { return nil }
            return notBefore ?? 0
        }.min()
        if let soonest { self = .passes(notBefore: soonest > 0 ? soonest : nil) }
    }

    /// Why a download failed.
    init(_ reason: DownloadError.Reason) {
        switch reason {
        case .assembly(let error): self.init(error)
        case .transfer(let failure, _): self.init(failure)
        // The file was being replaced, or the server is too slow at present.
        case .remoteChanged, .tooSlow: self = .passes()
        // It may be the one of a private network that is not connected at present.
        case .access(.unusable(.interface)): self = .passes()
        case .invalidURL, .foreignURL, .invalidHeader, .access, .certificateFile, .noCertificates,
            .nameTaken,
            .refused, .unusableScheme, .proxyRefused, .untrusted, .addressDenied, .unsafeRedirect,
            .tooManyRedirects, .contract, .tooLarge, .htmlPage, .timeIsUp, .unrepairable,
            .notContinued:
            self = .final
        case .cancelled: self = .stopped
        }
    }

    /// Why a request failed.
    init(_ failure: TransferFailure) {
        switch failure {
        case .network, .proxy: self = failure.isHopeless ? .final : .passes()
        // 403 beside other requests may mean that they are too many; else it is `refused`.
        case .status(let status): self = isTransient(status) || status == 403 ? .passes() : .final
        case .stalled, .truncated: self = .passes()
        case .retryAfterTooLong(let time): self = .passes(notBefore: time.inSeconds)
        case .resting(let time): self = .rests(for: time.inSeconds)
        case .breach: self = .final
        }
    }

    /// What went wrong with a file on the disk.
    init(_ error: AssemblyError) {
        switch error {
        case .noSpace(_, let needed, _): self = .space(needed: needed)
        case .folderUnavailable(_, let code), .cannotCreate(_, let code), .io(_, _, let code):
            self.init(errno: code)
        // Another process works with it; somebody has changed it, and it begins anew.
        case .busy, .locked, .partChanged, .notAdopted(_, .inUse): self = .passes()
        // Nothing is made anew in a place that somebody has cleared.
        case .partGone: self = .final
        case .destinationExists, .notARegularFile, .foreignPart, .noPart, .notAdopted,
            .digestMismatch, .streamDigestMismatch, .readerGone:
            self = .final
        }
    }

    /// What a system call on a file failed with.
    private init(errno code: Int32) {
        switch code {
        case ENOSPC, EDQUOT: self = .space()
        // This machine has too much to do, or the server of its files is away.
        case EAGAIN, EBUSY, EINTR, EMFILE, ENFILE, ENOMEM, ENOBUFS, ENOLCK, ESTALE, ETIMEDOUT,
            EHOSTDOWN, ENOTCONN, ETXTBSY:
            self = .passes()
        default: self = .final
        }
    }
}
