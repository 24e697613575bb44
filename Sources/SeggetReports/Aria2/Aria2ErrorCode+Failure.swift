import Assembler
import Glibc
package import Segmenter

// The codes are those that aria2c 1.36 returned in tests. Failures that aria2c cannot have are
// mapped by its manual.
extension Aria2ErrorCode {
    /// Creates the code of a failed download.
    package init(_ error: DownloadError) {
        if case .assembly(.cannotCreate(let path, let code)) = error.reason,
            error.path?.hasPrefix("\(path)/") == true
        {
            // The failed path is a folder above the file.
            self.init(errno: code, else: .directoryCreate)
        } else {
            self.init(error.reason)
        }
    }

    /// Creates the code of a failed download with the limit of `--max-file-not-found`.
    ///
    /// The limit applies if it is above 0 and at most `tries`, the limit of attempts (0: none).
    package init(_ error: DownloadError, mostNotFound: Int, tries: Int) {
        self.init(error)
        if self == .resourceNotFound, mostNotFound > 0, tries == 0 || mostNotFound <= tries {
            self = .maxFileNotFound
        }
    }

    /// Creates the code of a failed mirror.
    init(_ fault: MirrorFault) {
        self =
            switch fault {
            case .failed(let reason): Self(reason)
            case .changed, .rangesIgnored, .otherSize, .otherData: .cannotResume
            case .otherDigest, .doubted, .wrongDigest: .checksum
            }
    }

    private init(_ reason: DownloadError.Reason) {
        self =
            switch reason {
            case .invalidURL: .unknown
            case .foreignURL: .unknown
            case .invalidHeader, .access, .certificateFile, .noCertificates: .option
            case .assembly(let failure): Self(failure)
            case .nameTaken: .duplicateDownload
            case .transfer(let failure, _): Self(failure)
            case .unusableScheme: .authorizationFailed
            case .refused(let status): Self(status: status)
            case .proxyRefused(let status): status.map { Self(status: $0) } ?? .unknown
            case .untrusted: .unknown
            case .addressDenied: .authorizationFailed
            case .unsafeRedirect: .httpProtocol
            case .tooManyRedirects: .tooManyRedirects
            case .remoteChanged, .contract: .cannotResume
            case .tooLarge, .htmlPage: .unknown
            case .tooSlow: .tooSlow
            case .timeIsUp: .inProgress
            case .unrepairable(.otherDigest): .checksum
            case .unrepairable: .cannotResume
            case .notContinued: .cannotResume
            case .cancelled: .inProgress
            }
    }

    private init(_ failure: TransferFailure) {
        self =
            switch failure {
            case .network(let code, _), .proxy(let code, _): Self(libcurl: code)
            case .status(let status): Self(status: status)
            case .stalled: .timeOut
            case .truncated: .unknown
            case .breach: .cannotResume
            case .retryAfterTooLong, .resting: .serviceUnavailable
            }
    }

    /// Creates the code of an HTTP status code that is not a success (RFC 9110 §15).
    private init(status: Int) {
        self =
            switch status {
            case 401: .authorizationFailed
            case 404: .resourceNotFound
            case 502...504: .serviceUnavailable
            default: .httpProtocol
            }
    }

    /// Creates the code of a `CURLcode`.
    ///
    /// Name resolution (5, 6) and timeout (28) have separate codes. All others get that of a
    /// refused or interrupted connection.
    private init(libcurl code: Int) {
        self =
            switch code {
            case 5, 6: .nameResolution
            case 28: .timeOut
            default: .unknown
            }
    }

    private init(_ failure: AssemblyError) {
        self =
            switch failure {
            case .destinationExists, .foreignPart: .fileAlreadyExists
            case .notARegularFile: .fileCreate
            case .folderUnavailable(_, let code): Self(errno: code, else: .directoryCreate)
            case .cannotCreate(_, let code): Self(errno: code, else: .fileCreate)
            case .busy, .locked: .duplicateDownload
            case .noPart: .option
            case .notAdopted(_, let obstacle): Self(obstacle)
            case .partChanged, .partGone: .fileIO
            case .noSpace: .notEnoughSpace
            case .io(_, _, let code): Self(errno: code, else: .fileIO)
            case .digestMismatch, .streamDigestMismatch: .checksum
            case .readerGone: .fileIO
            }
    }

    private init(_ obstacle: AdoptionObstacle) {
        self =
            switch obstacle {
            case .missing, .notARegularFile, .otherOwner, .hasOtherNames, .nothingInIt: .fileOpen
            case .inUse, .changed: .duplicateDownload
            case .controlFile, .shorterThanControlFile, .longerThanRemote, .otherSize, .noRanges,
                .noProof, .onlyDigestTells, .sampleDiffers, .otherVersion:
                .cannotResume
            case .otherDigest: .checksum
            }
    }

    private init(errno code: Int32, else other: Self) {
        self = code == ENOSPC || code == EDQUOT ? .notEnoughSpace : other
    }
}
