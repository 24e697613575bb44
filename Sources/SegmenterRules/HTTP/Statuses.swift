/// Returns whether a status means that the server is overloaded.
///
/// These are 429 (RFC 6585 §4) and 503 (RFC 9110 §15.6.4).
package func isOverload(_ status: Int) -> Bool { [429, 503].contains(status) }

/// Returns whether a status may mean that the server is overloaded.
///
/// Some servers send 403 to clients with too many requests at a time; it can also mean that the
/// file is forbidden.
package func mayBeOverload(_ status: Int) -> Bool { status == 403 || isOverload(status) }

/// Returns whether a status means that access is refused.
package func isRefusal(_ status: Int) -> Bool { [401, 403, 407].contains(status) }

/// Returns whether a status means that the file does not exist.
package func isGone(_ status: Int) -> Bool { [404, 410].contains(status) }

/// Returns whether servers refuse range requests with a status.
package func mayRefuseRange(_ status: Int) -> Bool {
    [400, 403, 404, 405, 500, 501].contains(status)
}

/// Returns the reason for a status that refuses access; 407 is sent by a proxy.
package func refusal(_ status: Int) -> DownloadError.Reason {
    status == 407 ? .proxyRefused(status: status) : .refused(status: status)
}

extension DownloadError.Reason {
    /// Whether the server refused the file, as opposed to a failed request.
    package var isRefusal: Bool {
        switch self {
        case .refused, .unusableScheme: true
        // The proxy sends 407.
        case .transfer(.status(407), _): false
        case .transfer(.status(let status), _): SegmenterRules.isRefusal(status) || isGone(status)
        default: false
        }
    }
}

extension TransferFailure {
    /// Whether the server sent an error status.
    package var isStatus: Bool { if case .status = self { true } else { false } }
}

/// Returns whether a retry may succeed after a status.
package func isTransient(_ status: Int) -> Bool {
    [408, 425, 429].contains(status)
        || (500..<600).contains(status) && status != 501
            && status != 505
}
