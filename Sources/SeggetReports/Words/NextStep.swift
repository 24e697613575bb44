import Assembler
import Glibc
package import Segmenter

/// The action that can help a task that failed.
///
/// Each surface words it differently: the command line by options (``Diagnostic/hint``), the queue
/// by commands, the API by members to send, the page by buttons.
package enum NextStep: String, Sendable, Hashable, CaseIterable {
    /// Give user and password.
    case credentials
    /// Give the secrets again that the queue no longer has: the members that ``TaskProblem``
    /// lists.
    case secrets
    /// Give another link.
    case link
    /// Give another link or credentials; the response does not show which is needed.
    case access
    /// Give other headers.
    case headers
    /// Try again.
    case retry
    /// Try again later.
    case retryLater = "retry_later"
    /// Download a missing file again.
    case again
    /// Give the file another name or folder.
    case place
    /// Free space on the disk.
    case space
    /// Check the disk or the folder.
    case disk
    /// Compare the expected digest with its source.
    case checksum
    /// Add the task again, with other options.
    case options
    /// Check the certificates of this machine, or the link.
    case certificate
    /// Check the proxy.
    case proxy
    /// Add the link on the machine itself, because clients may not use its address.
    case machine

    /// The user interface that shows a step.
    package enum Surface: Sendable {
        /// The command line of the queue, with the ID of the task; `nil` if there is no task yet.
        case queue(String?)
        /// The API.
        case api
    }

    /// Returns the hint for a surface.
    ///
    /// - Parameters:
    ///   - surface: The surface that shows the hint.
    ///   - members: For ``secrets``, the members of `set` that must be given again.
    ///   - startsOver: Whether the next try downloads the whole file again.
    /// - Returns: The text after "hint:".
    package func words(
        on surface: Surface, members: [String] = [], startsOver: Bool = false
    ) -> String {
        let words =
            switch surface {
            case .api: apiWords(members)
            case .queue(let id): queueWords(id ?? "ID", members)
            }
        return startsOver ? words + "; it starts over" : words
    }

    private func queueWords(_ id: String, _ members: [String]) -> String {
        let retry = "`segget retry \(id)`"
        return switch self {
        case .credentials:
            "give user and password: `segget set \(id) --user USER:PASSWORD`, then \(retry)"
        case .secrets:
            if let options = Self.options(members) {
                "give them again: `segget set \(id) \(options)`, then \(retry)"
            } else {
                "`segget set` cannot set all of them: `segget remove \(id)`, then add it again"
            }
        case .link: "give another link: `segget set \(id) --url URL`, then \(retry)"
        case .access:
            "the link may have expired, or require a login: `segget set \(id)` with `--url URL` or "
                + "`--user USER:PASSWORD`, then \(retry)"
        case .headers: "give other headers: `segget set \(id) -H 'NAME: VALUE'`, then \(retry)"
        case .retry: "\(retry) tries again"
        case .retryLater: "the server may recover: \(retry) tries again"
        case .again: "\(retry) downloads it again"
        case .place:
            "give another name: `segget rename \(id) NAME`, or `--directory DIR`, then \(retry)"
        case .space: "free some space, then \(retry)"
        case .disk: "check the folder and its disk, then \(retry)"
        case .checksum: "check the expected checksum; \(retry) downloads the whole file again"
        case .options: "`segget remove \(id)`, then add it again with other options"
        case .certificate:
            "check the link, and the certificates of this machine (`ca-certificates`), then \(retry)"
        case .proxy: "check the proxy of the task or the environment, then \(retry)"
        case .machine: "add it with `segget add` on the machine itself"
        }
    }

    private func apiWords(_ members: [String]) -> String {
        switch self {
        case .credentials: "send `set` with `user` (`USER:PASSWORD`), then `retry`"
        case .secrets:
            if Self.options(members) != nil {
                "send `set` with \(members.map { "`\($0)`" }.joined(separator: ", ")), then `retry`"
            } else {
                "send `remove`, then `add`: `set` cannot set all of them"
            }
        case .link: "send `set` with `urls`, then `retry`"
        case .access:
            "the link may have expired, or require a login: send `set` with `urls` or `user`, then `retry`"
        case .headers: "send `set` with `headers`, then `retry`"
        case .retry: "send `retry`"
        case .retryLater: "the server may recover: send `retry` later"
        case .again: "send `retry` with its id"
        case .place: "send `rename` with `name` or `folder`, then `retry`"
        case .space: "free some space, then send `retry`"
        case .disk: "check the folder and its disk, then send `retry`"
        case .checksum: "check the expected checksum; `retry` downloads the whole file again"
        case .options: "send `remove`, then `add` with other `options`"
        case .certificate: "check the link, and the certificates of the machine, then send `retry`"
        case .proxy: "check the proxy of the task or of the service, then send `retry`"
        case .machine: "clients may not use this address: add the link on the machine itself"
        }
    }

    /// Returns the options of `segget set` for the members; `nil` if a member has no option.
    private static func options(_ members: [String]) -> String? {
        let options = [
            "urls": "--url URL", "headers": "-H 'NAME: VALUE'", "user": "-u USER:PASSWORD",
        ]
        let given = members.compactMap { options[$0] }
        return given.count == members.count ? given.joined(separator: " ") : nil
    }
}

extension NextStep {
    /// Creates the step for a failed download.
    package init(after error: DownloadError) {
        self =
            switch error.reason {
            case .invalidURL, .foreignURL, .unsafeRedirect, .tooManyRedirects, .htmlPage: .link
            case .invalidHeader: .headers
            case .access, .tooLarge, .tooSlow, .timeIsUp, .unrepairable, .notContinued,
                .unusableScheme, .otherVersion:
                .options
            case .certificateFile, .noCertificates, .untrusted: .certificate
            case .assembly(let failure): NextStep(after: failure)
            case .nameTaken: .place
            case .transfer(.status, _) where error.isLinkExpired || error.isLinkUsedUp,
                .refused where error.isLinkExpired:
                .link
            case .transfer(.status(let code), _), .refused(let code): NextStep(afterStatus: code)
            case .transfer(.proxy, _), .proxyRefused, .addressDenied(.proxy): .proxy
            case .transfer(.retryAfterTooLong, _), .transfer(.resting, _): .retryLater
            case .transfer(.network, _), .transfer(.stalled, _), .transfer(.truncated, _),
                .transfer(.breach, _):
                .retry
            case .addressDenied: .machine
            case .remoteChanged, .contract: .retryLater
            case .cancelled: .retry
            }
    }

    private init(afterStatus code: Int) {
        self =
            switch code {
            case 401: .credentials
            case 407: .proxy
            case 403: .access
            case 408, 425, 429: .retryLater
            case 400..<500: .link
            default: .retryLater
            }
    }

    private init(after failure: AssemblyError) {
        self =
            switch failure {
            case .destinationExists, .notARegularFile, .foreignPart: .place
            case .folderUnavailable, .cannotCreate: .disk
            case .busy, .locked: .retryLater
            case .noPart, .notAdopted: .options
            case .partChanged, .partGone, .readerGone: .retry
            case .noSpace: .space
            case .io(_, _, let code): [ENOSPC, EDQUOT].contains(code) ? .space : .disk
            case .digestMismatch, .streamDigestMismatch: .checksum
            }
    }

    /// Creates the step from the kind of a failure; `nil` if the kind does not determine it.
    ///
    /// Failures that older versions recorded have no step.
    package init?(ofKind kind: String) {
        switch kind {
        case "network", "stalled", "truncated", "part_changed", "part_gone", "cancelled":
            self = .retry
        case "status", "retry_after_too_long", "resting", "contract_broken", "remote_changed",
            "busy":
            self = .retryLater
        case "refused": self = .access
        case "proxy", "proxy_refused": self = .proxy
        case "invalid_url", "too_many_redirects", "unsafe_redirect", "html_page": self = .link
        case "invalid_header": self = .headers
        case "destination_exists", "not_a_regular_file", "foreign_part", "name_taken": self = .place
        case "no_space": self = .space
        case "io", "folder_unavailable", "cannot_create": self = .disk
        case "checksum_mismatch": self = .checksum
        case "untrusted", "certificate_file": self = .certificate
        default: return nil
        }
    }
}
