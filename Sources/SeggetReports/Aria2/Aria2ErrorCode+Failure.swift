import Assembler
import Glibc
package import Segmenter

// As aria2c 1.36 ends where it meets the same, measured; what it never meets is judged by its manual.
extension Aria2ErrorCode {
    /// The code of a failed download.
    package init(_ error: DownloadError) {
        if case .assembly(.cannotCreate(let path, let code)) = error.reason,
            error.path?.hasPrefix("\(path)/") == true
        {
            // What cannot be made is a folder above the file.
            self.init(errno: code, else: .directoryCreate)
        } else {
            self.init(error.reason)
        }
    }

    /// The code of a failed download, where a file that is not found is asked for again:
    /// `--max-file-not-found`, before `tries` are over (0: never).
    package init(_ error: DownloadError, mostNotFound: Int, tries: Int) {
        self.init(error)
        if self == .resourceNotFound, mostNotFound > 0, tries == 0 || mostNotFound <= tries {
            self = .maxFileNotFound
        }
    }

    /// The code of a mirror that failed.
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

    /// The code of a status that is no success (RFC 9110 §15).
    private init(status: Int) {
        self =
            switch status {
            case 401: .authorizationFailed
            case 404: .resourceNotFound
            case 502...504: .serviceUnavailable
            default: .httpProtocol
            }
    }

    /// The code of a `CURLcode`: names (5, 6) and time (28) have their own, all else has that of a
    /// connection that is refused or breaks off.
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
