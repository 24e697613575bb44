public import Assembler

/// The reason why a mirror is no longer used.
#if hasAttribute(nonexhaustive)
    @nonexhaustive
#endif
public enum MirrorFault: Error, Sendable, Hashable {
    /// The mirror could not be reached, refused access, or failed permanently.
    case failed(DownloadError.Reason)
    /// The mirror offers a file of another size; both sizes in bytes.
    case otherSize(expected: Int64, got: Int64)
    /// The mirror advertises a digest that contradicts the caller's or that of the primary mirror.
    case otherDigest(expected: Digest, got: Digest)
    /// A sample from the mirror differs from the bytes on disk; none of the mirror's bytes are
    /// used.
    case otherData(ByteRange)
    /// The file of the mirror has changed since the download started.
    case changed(ContractBreach)
    /// The mirror does not serve byte ranges, contrary to the probe.
    case rangesIgnored
    /// The file assembled from several mirrors has the wrong digest.
    ///
    /// This mirror sent `bytes` bytes of the file, which are downloaded again from another mirror.
    case doubted(bytes: Int64)
    /// The whole file came from this mirror and has the wrong digest.
    case wrongDigest

    /// The reason of the download's failure if no other mirror remains.
    package var reason: DownloadError.Reason {
        switch self {
        case .failed(let reason): reason
        case .changed(let breach): .remoteChanged(breach)
        case .rangesIgnored: .contract(.wholeFileForRange)
        case .otherSize(let expected, let got):
            .contract(.otherSize(expected: expected, got: got))
        case .otherDigest(let expected, let got):
            .transfer(
                .network(
                    code: 0, message: "the server says that it has `\(got)`, not `\(expected)`"),
                attempts: 1)
        case .otherData, .doubted, .wrongDigest:
            .transfer(
                .network(code: 0, message: "its data differs from that of other mirrors"),
                attempts: 1)
        }
    }
}

/// A mirror that failed, as listed in the error of a download.
public struct FailedMirror: Sendable, Hashable {
    /// The URL of the mirror, without credentials and query.
    public var url: String
    /// The reason of the failure.
    public var fault: MirrorFault

    package init(url: String, fault: MirrorFault) {
        self.url = url
        self.fault = fault
    }
}

extension DownloadError.Reason {
    /// Whether the failure concerns a single server, so that another server may succeed.
    package var isOfServer: Bool {
        switch self {
        case .transfer, .refused, .unusableScheme, .htmlPage, .untrusted, .addressDenied,
            .unsafeRedirect, .tooManyRedirects,
            .remoteChanged, .otherVersion, .contract:
            true
        default: false
        }
    }
}
