public import Assembler

/// Why a mirror is not used any more.
#if hasAttribute(nonexhaustive)
    @nonexhaustive
#endif
public enum MirrorFault: Error, Sendable, Hashable {
    /// It could not be reached, refused, or broke off for good.
    case failed(DownloadError.Reason)
    /// It offers a file of another size. In bytes.
    case otherSize(expected: Int64, got: Int64)
    /// It advertises a digest that contradicts `--checksum`, or the primary mirror.
    case otherDigest(expected: Digest, got: Digest)
    /// It sent other bytes than were there already, and none of its bytes had been used.
    case otherData(ByteRange)
    /// Its file is another one than when the download began.
    case changed(ContractBreach)
    /// It does not serve byte ranges after all.
    case rangesIgnored
    /// The file put together from several mirrors had the wrong digest; this many bytes are of this
    /// mirror, and are fetched again elsewhere.
    case doubted(bytes: Int64)
    /// All of the file came from it, and had the wrong digest.
    case wrongDigest

    /// The failure of a download that no other mirror is left for.
    var reason: DownloadError.Reason {
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

    /// Whether the mirror could yet be the one that is right: only a digest can show it.
    ///
    /// - Parameter checksum: The digest that the caller expects, if any.
    /// - Returns: Whether its file is worth a try when those of others are wrong.
    func mayBeRight(_ checksum: Digest?) -> Bool {
        switch self {
        case .otherData, .doubted: true
        // It differs from the primary one, which may itself be wrong.
        case .otherSize, .changed: MirrorAgreement.canDecide(checksum)
        case .otherDigest(let expected, _):
            MirrorAgreement.canDecide(checksum) && expected != checksum
        case .failed, .rangesIgnored, .wrongDigest: false
        }
    }
}

/// A mirror that failed, for the error that lists them.
public struct FailedMirror: Sendable, Hashable {
    /// Its URL, without credentials and query.
    public var url: String
    /// What was wrong with it.
    public var fault: MirrorFault
}

extension DownloadError.Reason {
    /// Whether it lies with one server, so that another may do better.
    package var isOfServer: Bool {
        switch self {
        case .transfer, .refused, .unusableScheme, .htmlPage, .untrusted, .addressDenied,
            .unsafeRedirect, .tooManyRedirects,
            .remoteChanged, .contract:
            true
        default: false
        }
    }

    /// Whether the file itself was refused, rather than a request that failed.
    var isRefusal: Bool {
        switch self {
        case .refused, .unusableScheme: true
        // 407 is the proxy's.
        case .transfer(.status(407), _): false
        case .transfer(.status(let status), _): Segmenter.isRefusal(status) || isGone(status)
        default: false
        }
    }
}
