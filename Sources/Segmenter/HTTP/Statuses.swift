/// Whether a status says that the server has too much to do at present (429, RFC 6585, section 4; 503, RFC
/// 9110, section 15.6.4).
func isOverload(_ status: Int) -> Bool { [429, 503].contains(status) }

/// Whether a status may say so: some servers refuse with 403 who asks for too much at a time, and it means
/// as well that the file is forbidden.
func mayBeOverload(_ status: Int) -> Bool { status == 403 || isOverload(status) }

/// Whether a status says that access is refused.
package func isRefusal(_ status: Int) -> Bool { [401, 403, 407].contains(status) }

/// Whether a status says that the file is not there.
func isGone(_ status: Int) -> Bool { [404, 410].contains(status) }

/// What a status that refuses access means: 407 is the proxy's.
func refusal(_ status: Int) -> DownloadError.Reason {
    status == 407 ? .proxyRefused(status: status) : .refused(status: status)
}

extension TransferFailure {
    /// Whether the server has replied, with a status that is not the file's.
    var isStatus: Bool { if case .status = self { true } else { false } }
}

/// Whether trying again may help against a status.
package func isTransient(_ status: Int) -> Bool {
    [408, 425, 429].contains(status)
        || (500..<600).contains(status) && status != 501
            && status != 505
}
