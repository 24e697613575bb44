package import Assembler
import Glibc
package import Segmenter
import SegmenterRules

/// Whether a failed download may succeed later, and the time of a queue's next try.
///
/// Pure. The download itself has already retried for some seconds or minutes.
package enum FailureRule: Sendable, Hashable {
    /// It is transient: a later attempt may succeed, if the server said so not before some seconds.
    case passes(notBefore: Double? = nil)
    /// No request is sent for some seconds, without limit of repetitions.
    case rests(for: Double)
    /// The disk is full; the needed bytes, if known.
    case space(needed: Int64? = nil)
    /// It is permanent until the user acts.
    case final
    /// The download was stopped.
    case stopped

    /// The step after a failure.
    package enum Decision: Sendable, Hashable {
        /// Retry after some seconds.
        case retry(after: Double)
        /// Retry after some seconds, which is not counted as an attempt.
        case wait(Double)
        /// Fail.
        case fail
        /// Wait for space; the needed bytes, if known.
        case waitForSpace(needed: Int64?)
        /// Do nothing, because it was stopped.
        case stop
    }

    /// The longest wait in seconds, whatever the server requests.
    package static let longestWait = 86_400.0
    /// Seconds between two tests of a full disk.
    package static let spaceDelay = 60.0
    /// Seconds between two attempts while other tasks wait for the network.
    package static let networkDelay = 60.0

    /// Returns the step after a failure.
    ///
    /// - Parameters:
    ///   - failure: The failure.
    ///   - attempts: The number of transient failures in a row before it.
    ///   - delays: Seconds to wait after the first failure, the second and so on; after the last
    ///     one the task fails.
    /// - Returns: The step.
    package static func next(
        after failure: FailureRule, attempts: Int, delays: [Double]
    ) -> Decision {
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

// MARK: - Kinds of failures

extension FailureRule {
    /// Whether a later run may succeed without a change by the user.
    package var maySucceedLater: Bool {
        switch self {
        case .passes, .rests, .space: true
        case .final, .stopped: false
        }
    }

    /// Creates the rule for a failed download; if mirrors have failed, the most hopeful of them
    /// counts.
    package init(_ error: DownloadError) {
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

    /// Creates the rule for the reason of a failed download.
    package init(_ reason: DownloadError.Reason) {
        switch reason {
        case .assembly(let error): self.init(error)
        case .transfer(let failure, _): self.init(failure)
        // The file was being replaced, or the server is too slow now.
        case .remoteChanged, .tooSlow: self = .passes()
        // It may belong to a private network that is not connected now.
        case .access(.unusable(.interface)): self = .passes()
        case .invalidURL, .foreignURL, .invalidHeader, .access, .certificateFile, .noCertificates,
            .nameTaken,
            .refused, .unusableScheme, .proxyRefused, .untrusted, .addressDenied, .unsafeRedirect,
            .tooManyRedirects, .contract, .tooLarge, .htmlPage, .timeIsUp, .unrepairable,
            .notContinued, .otherVersion:
            self = .final
        case .cancelled: self = .stopped
        }
    }

    /// Creates the rule for a failed request.
    package init(_ failure: TransferFailure) {
        switch failure {
        case .network, .proxy: self = failure.isHopeless ? .final : .passes()
        // 403 during other requests may mean that they are too many; otherwise it is `refused`.
        case .status(let status): self = isTransient(status) || status == 403 ? .passes() : .final
        case .stalled, .truncated: self = .passes()
        case .retryAfterTooLong(let time): self = .passes(notBefore: time.inSeconds)
        case .resting(let time): self = .rests(for: time.inSeconds)
        case .breach: self = .final
        }
    }

    /// Creates the rule for a failure on the disk.
    package init(_ error: AssemblyError) {
        switch error {
        case .noSpace(_, let needed, _): self = .space(needed: needed)
        case .folderUnavailable(_, let code), .cannotCreate(_, let code), .io(_, _, let code):
            self.init(errno: code)
        // Another process uses the part, or has changed it, so that the download starts over.
        case .busy, .locked, .partChanged, .notAdopted(_, .inUse): self = .passes()
        // A part that was removed is not created again.
        case .partGone: self = .final
        case .destinationExists, .notARegularFile, .foreignPart, .noPart, .notAdopted,
            .digestMismatch, .streamDigestMismatch, .readerGone:
            self = .final
        }
    }

    /// Creates the rule for the error of a system call.
    private init(errno code: Int32) {
        switch code {
        case ENOSPC, EDQUOT: self = .space()
        // This machine is overloaded, or its file server is unreachable.
        case EAGAIN, EBUSY, EINTR, EMFILE, ENFILE, ENOMEM, ENOBUFS, ENOLCK, ESTALE, ETIMEDOUT,
            EHOSTDOWN, ENOTCONN, ETXTBSY:
            self = .passes()
        default: self = .final
        }
    }
}
