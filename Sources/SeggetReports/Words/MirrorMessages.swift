import Assembler
public import Segmenter

extension MirrorFault {
    /// A stable name for programs; `docs/json.md` lists them all.
    public var kind: String {
        switch self {
        case .failed(let reason):
            Diagnostic(DownloadError(reason: reason, url: "", path: nil, bytesKept: 0)).kind
        case .otherSize: "other_size"
        case .otherDigest: "other_digest"
        case .otherData: "other_data"
        case .changed: "remote_changed"
        case .rangesIgnored: "ranges_ignored"
        case .doubted: "doubted"
        case .wrongDigest: "checksum_mismatch"
        }
    }

    /// The message that says why the mirror failed.
    public var text: String { Diagnostic.describe(self) }
}

extension Diagnostic {
    /// Returns the target of a redirect that is not followed; it is empty if it is not http or https.
    static func describe(unsafeTarget target: String) -> String {
        target.isEmpty
            ? "an address that is not http or https" : "\(quote(target)), which is less secure"
    }

    /// Returns the reason why a mirror failed.
    package static func describe(_ fault: MirrorFault) -> String {
        switch fault {
        case .failed(let reason): describe(reason)
        case .otherSize(let expected, let got):
            "its file has \(exact(got)), not \(exact(expected))"
        case .otherDigest(let expected, let got):
            "it states the digest `\(got)`, not `\(expected)`"
        case .otherData(let range):
            "its bytes \(range) differ from those on disk; none of its data is used"
        case .changed(let breach): "its file changed: \(describe(breach))"
        case .rangesIgnored: "it does not serve byte ranges"
        case .doubted(let bytes):
            "the file put together from several mirrors has the wrong checksum; "
                + "\(Units.size(bytes)) from this mirror are downloaded again elsewhere"
        case .wrongDigest: "it delivered the whole file, with the wrong checksum"
        }
    }

    /// Returns the reason why one of several servers failed.
    private static func describe(_ reason: DownloadError.Reason) -> String {
        switch reason {
        case .transfer(let failure, _): describe(failure)
        case .refused(let status): "the server refused access: \(describe(status: status))"
        case .untrusted(let problem): "its certificate is not trusted: \(problem)"
        case .addressDenied(.privateAddress(let address)):
            "it leads to the private address \(quote(address))"
        case .unsafeRedirect(let target): "it redirects to \(describe(unsafeTarget: target))"
        case .tooManyRedirects(let limit):
            "it redirects more than \(Units.count(Int64(limit), "time"))"
        case .remoteChanged(let breach), .otherVersion(let breach), .contract(let breach):
            describe(breach)
        default: Diagnostic(DownloadError(reason: reason, url: "", path: nil, bytesKept: 0)).message
        }
    }
}
