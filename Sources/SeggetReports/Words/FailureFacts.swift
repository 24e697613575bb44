import Assembler
package import Segmenter

/// Facts about a failure, for programs, in addition to its `kind`.
package struct FailureFacts: Sendable, Hashable {
    /// The status code of the response (RFC 9110 §15); `nil` if no response failed.
    package var status: Int?
    /// The `CURLcode` of the failed transfer; `nil` if libcurl reported none.
    package var curlCode: Int?
    /// The error number of the failed system call; `nil` if none failed.
    package var errno: Int32?

    /// Creates facts.
    package init(status: Int? = nil, curlCode: Int? = nil, errno: Int32? = nil) {
        self.status = status
        self.curlCode = curlCode
        self.errno = errno
    }

    /// Creates the facts of a failed download.
    package init(_ reason: DownloadError.Reason) {
        switch reason {
        case .transfer(.network(let code, _), _), .transfer(.proxy(let code, _), _):
            curlCode = code
        case .transfer(.status(let code), _), .refused(let code): status = code
        case .proxyRefused(let code): status = code
        case .assembly(.folderUnavailable(_, let code)), .assembly(.cannotCreate(_, let code)),
            .assembly(.io(_, _, let code)):
            errno = code
        default: break
        }
    }
}
