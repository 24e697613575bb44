import Assembler
import Glibc
package import SeggetReports
package import Segmenter

/// The exit codes of aria2c, which it also prints as error codes (aria2c(1), `EXIT STATUS`).
package enum Aria2ErrorCode: Int32, CaseIterable, Sendable {
    case finished = 0
    case unknown = 1
    case timeOut = 2
    case resourceNotFound = 3
    case maxFileNotFound = 4
    case tooSlow = 5
    case networkProblem = 6
    case inProgress = 7
    case cannotResume = 8
    case notEnoughSpace = 9
    case pieceLengthChanged = 10
    case duplicateDownload = 11
    case duplicateInfoHash = 12
    case fileAlreadyExists = 13
    case renamingFailed = 14
    case fileOpen = 15
    case fileCreate = 16
    case fileIO = 17
    case directoryCreate = 18
    case nameResolution = 19
    case metalinkParse = 20
    case ftpProtocol = 21
    case httpProtocol = 22
    case tooManyRedirects = 23
    case authorizationFailed = 24
    case bencodeParse = 25
    case torrentParse = 26
    case magnetParse = 27
    case option = 28
    case serviceUnavailable = 29
    case jsonParse = 30
    case removed = 31
    case checksum = 32
}

// The codes are those that aria2c 1.36 returned in tests. Failures that aria2c cannot have are
// mapped by its manual.
extension Aria2ErrorCode {
    /// Creates the code of a failed download.
    package init(_ error: DownloadError) {
        switch error.reason {
        case .assembly(.cannotCreate(let path, let code))
        where error.path?.hasPrefix("\(path)/") == true && !Self.isFull(code):
            // The failed path is a folder above the file.
            self = .directoryCreate
        case .assembly(.notAdopted(_, let obstacle)): self.init(obstacle)
        default:
            let diagnostic = Diagnostic(error)
            self.init(
                kind: diagnostic.kind, exitCode: diagnostic.status.rawValue,
                FailureFacts(error.reason))
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

    /// Creates the code of a failure that is recorded with its kind.
    ///
    /// - Parameters:
    ///   - kind: The `kind` of `docs/json.md`.
    ///   - exitCode: segget's exit code for the failure.
    ///   - facts: The facts about the failure.
    ///   - url: The URL of the file as it was given, which determines the code of a URL that is not
    ///     the web's.
    package init(kind: String, exitCode: Int32, _ facts: FailureFacts, url: String? = nil) {
        if kind == "invalid_url", let url,
            let problem = Aria2Task(urls: [url], options: Aria2Options()).problem
        {
            self = Self(rawValue: problem.code) ?? .unknown
        } else if let status = facts.status {
            self.init(status: status)
        } else if let code = facts.curlCode {
            self.init(libcurl: code)
        } else if let code = facts.errno, Self.isFull(code) {
            self = .notEnoughSpace
        } else {
            self = Self.codes[kind] ?? Self.code(exitCode: exitCode)
        }
    }

    /// The codes of the kinds that segget's exit code does not determine.
    private static let codes: [String: Aria2ErrorCode] = [
        "adoption_busy": .duplicateDownload, "adoption_unproven": .cannotResume,
        "busy": .duplicateDownload, "cancelled": .inProgress, "cannot_create": .fileCreate,
        "folder_unavailable": .directoryCreate, "invalid_url": .unknown,
        "name_taken": .duplicateDownload, "no_manifest": .cannotResume,
        "no_space": .notEnoughSpace, "not_a_regular_file": .fileCreate,
        "proxy_refused": .unknown, "reader_gone": .fileIO, "resting": .serviceUnavailable,
        "retry_after_too_long": .serviceUnavailable, "stalled": .timeOut,
        "time_is_up": .inProgress, "too_many_open_files": .fileCreate,
        "too_many_redirects": .tooManyRedirects, "too_slow": .tooSlow,
        "unsafe_redirect": .httpProtocol, "untrusted": .unknown,
    ]

    private static func code(exitCode: Int32) -> Aria2ErrorCode {
        switch ExitStatus(rawValue: exitCode) {
        case .usage: .option
        case .checksumMismatch: .checksum
        case .cannotCreate: .fileAlreadyExists
        case .disk: .fileIO
        case .remoteChanged: .cannotResume
        case .refused: .authorizationFailed
        default: .unknown
        }
    }

    /// Creates the code of a failed mirror.
    init(_ fault: MirrorFault) {
        self =
            switch fault {
            case .failed(let reason):
                Self(DownloadError(reason: reason, url: "", path: nil, bytesKept: 0))
            case .changed, .rangesIgnored, .otherSize, .otherData: .cannotResume
            case .otherDigest, .doubted, .wrongDigest: .checksum
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

    /// Returns whether an error number says that no space, or no quota, is left.
    private static func isFull(_ code: Int32) -> Bool { code == ENOSPC || code == EDQUOT }
}
