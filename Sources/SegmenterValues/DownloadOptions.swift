// This module has the public values: options, events, results and errors. They decide nothing, and
// do not know how a file is downloaded.

// These values use digests, ranges and error types of `Assembler`, so importing them imports those
// too.
@_exported public import Assembler
@_exported public import SegmenterURLs

/// The options for the download of one file.
public struct DownloadOptions: Sendable, Hashable {
    /// The number of concurrent connections; in a batch, that of a host over all files.
    public var connections = ConnectionCount.automatic
    /// The fewest bytes that justify a connection; `nil` for no such bound.
    ///
    /// A file of `n` bytes gets at most `n` divided by this number of connections.
    public var minSplitSize: Int64?
    /// The digest that the finished file must have.
    public var checksum: Digest?
    /// The version of the remote file that is downloaded; `nil` for any.
    ///
    /// If the server offers another one, the download fails before the first byte.
    public var pin: FilePin?
    /// The range of the remote file that is downloaded as if it were a file; `nil` for all of it.
    ///
    /// ``checksum`` and ``pin`` are those of the range, whose length is the size of the pin.
    package var window: RemoteWindow?
    /// The Hugging Face Hub and where its token is found, for a set of this source; `nil` for no
    /// token.
    public var hub: HubGrant?
    /// Whether to replace a file at the destination, at the moment of publishing.
    public var overwrite = false
    /// Whether to resume the part of an earlier run.
    public var resume = true
    /// Whether to resume the part of an earlier run if only a sample shows that the file is the
    /// same.
    ///
    /// The option matters only if the server sends no strong validator, and there is no
    /// ``checksum``. The sample is up to 256 KiB from several places of the part, which are
    /// downloaded again. If the bytes differ, the download starts over.
    public var resumeUnverified = false
    /// Whether to send a single `GET` without a range, for links that work only once or a few
    /// times.
    ///
    /// No `HEAD` and no request at the end are sent. Only after an interruption, in this run or an
    /// earlier one, are the missing bytes requested, as ``resume`` allows, with the checks of every
    /// other download. The download uses one connection, whatever ``connections`` is, and does not
    /// use ``mirrors``. ``DownloadSession/preview(_:to:options:)`` also sends a request, which the
    /// server may count.
    public var singleRequest = false
    /// Whether to resume the part at the destination although another URL started it.
    ///
    /// Use it with a new link that replaces an expired one. A strong validator, a digest or, with
    /// ``resumeUnverified``, a sample has to show that the file is the same. Otherwise the download
    /// fails, and the part remains unchanged.
    public var continuesOtherURL = false
    /// The path of a file that another program began to download; `nil` for none.
    ///
    /// Its bytes are used if ``checksum``, an advertised digest or, with ``resumeUnverified``, a
    /// sample shows that they belong to the remote file. Until then the file is only read; if they
    /// do not, the download fails. This option implies ``resume``, so a later run continues what
    /// this run adopted. The option is for downloads to files only.
    public var adopt: String?
    /// Whether to wait for the network, without limit, if it is lost after the download has
    /// started.
    public var waitsForNetwork = false
    /// With ``waitsForNetwork``: whether to wait also before the download has started.
    ///
    /// The download waits while the kernel has no route to the server or its proxy. If a host name
    /// cannot be resolved, a route to the internet counts. If there is a route, a server that does
    /// not respond is a failure as usual.
    public var waitsForNetworkFirst = false
    /// Whether to fail instead of waiting when a server that counts requests refuses more of them.
    ///
    /// segget sends such a server no requests for some time. The error is
    /// ``TransferFailure/resting(for:)``. A later download of the same session can continue after
    /// that time.
    public var endsToRest = false
    /// The existing files, not downloaded by segget, that count for the download.
    public var takesOver = TakeOver.nothing
    /// Whether to continue a shorter file at the destination, begun by another program.
    ///
    /// ``checksum`` or an advertised digest has to verify the whole file in the end. Without
    /// either, the file remains unchanged and the download fails.
    public var continuesExisting = false
    /// The options for the name of the file.
    public var naming = NamingOptions()
    /// Additional request header fields, as `Name: value`.
    ///
    /// Only the origin of the URL receives these fields, unless ``AccessOptions/crossesOrigins`` is
    /// set. Fields that state preferences for the response, such as `Accept-Language`, are sent to
    /// every origin.
    public var headers: [String] = []
    /// A PEM file with the certificates to trust, instead of the system's.
    public var caCertificate: String?
    /// The longest time to connect, TLS handshake included.
    public var connectTimeout = Duration.seconds(10)
    /// The longest time without a byte on a connection.
    public var stallTimeout = Duration.seconds(15)
    /// The number of further attempts without progress before the download fails.
    ///
    /// While this property is not set, a shorter limit applies to a host that has not served
    /// anything in the session: three attempts within about 5 s before the first byte of the file.
    /// That limit does not apply if the host asks for more time, or if the part of an earlier run
    /// is resumed.
    public var retries = 10 {
        didSet { areRetriesGiven = true }
    }
    /// Whether ``retries`` was set; if so, it applies from the first attempt.
    package private(set) var areRetriesGiven = false
    /// The value of ``retries`` if it was set; `nil` for the default.
    package var givenRetries: Int? {
        get { areRetriesGiven ? retries : nil }
        set {
            retries = newValue ?? DownloadOptions().retries
            areRetriesGiven = newValue != nil
        }
    }
    /// The shortest time from a failed attempt to the next.
    public var retryWait = Duration.zero
    /// The options for a download to a descriptor; ignored for other destinations.
    public var stream = StreamOptions()

    /// Credentials, cookies, proxies, TLS and addresses.
    public var access = AccessOptions()
    /// Limits of size, time and speed.
    public var limits = LimitOptions()
    /// Additional URLs of the same file, in order of preference.
    ///
    /// The mirrors are used together if ``checksum``, equal strong entity tags or equal advertised
    /// digests show that all have the same file. Otherwise one is used at a time, and the others
    /// are standby mirrors.
    public var mirrors: [String] = []

    /// The options for the file on disk.
    public var files = FileOptions()

    /// Options that a newer version stored and that this version does not know.
    var unknown: [String: CodedValue] = [:]

    /// Creates the default options.
    public init() {}
}

/// The number of connections that download one file.
#if hasAttribute(nonexhaustive)
    @nonexhaustive
#endif
public enum ConnectionCount: Sendable, Hashable, ExpressibleByIntegerLiteral,
    CustomStringConvertible
{
    /// As many as improve the goodput, 1 to 64, determined during the download.
    case automatic
    /// This number, 1 to 64; values outside are clamped.
    case fixed(Int)
    /// As many as improve the goodput, 1 to this number; values outside 1 to 64 are clamped.
    case upTo(Int)

    /// Creates a fixed number.
    public init(integerLiteral value: Int) { self = .fixed(value) }

    /// Parses `auto`, a number from 1 to 64, or `auto` with an upper bound: `auto:8`.
    public init?(_ text: String) {
        guard text != "auto" else {
            self = .automatic
            return
        }
        let isBound = text.hasPrefix("auto:")
        guard let number = Int(isBound ? text.dropFirst(5) : text[...]), (1...64).contains(number)
        else { return nil }
        self = isBound ? .upTo(number) : .fixed(number)
    }

    /// The text that ``init(_:)`` parses.
    public var description: String {
        switch self {
        case .automatic: "auto"
        case .fixed(let number): "\(number)"
        case .upTo(let number): "auto:\(number)"
        }
    }

    /// The largest number of connections at a time.
    public var most: Int {
        switch self {
        case .automatic: 64
        case .fixed(let number), .upTo(let number): min(max(1, number), 64)
        }
    }

    /// Whether the number is determined during the download.
    package var isFound: Bool { if case .fixed = self { false } else { true } }
}

/// The existing files that count for a download although segget has not downloaded them.
///
/// Each case includes the cases before it. A file at the destination that does not count is refused
/// or replaced, or the download gets a numbered name, depending on ``DownloadOptions/overwrite``
/// and ``NamingOptions/numbersTaken``. If a file counts but turns out to differ from the server's,
/// the complete download replaces it. ``DownloadNotice/notFinished(_:)`` reports that.
#if hasAttribute(nonexhaustive)
    @nonexhaustive
#endif
public enum TakeOver: String, Sendable, Hashable, Comparable, Codable {
    /// No file.
    case nothing
    /// A file that aria2 began to download, with its control file `NAME.aria2` beside it.
    ///
    /// Its bytes are used if ``DownloadOptions/checksum`` or an advertised digest verifies the
    /// whole file in the end.
    case controlled
    /// A file as long as the remote file; it remains unchanged if its content is verified.
    ///
    /// The file has to match ``DownloadOptions/checksum``, or else the record of an earlier run.
    /// Without either, a sample of the file has to match bytes from the server.
    case complete
    /// A shorter file; its bytes are used under the condition of ``controlled``.
    case begun

    /// Compares by inclusion: a case is less than the cases that include it.
    public static func < (one: Self, other: Self) -> Bool { one.rank < other.rank }

    private var rank: Int {
        switch self {
        case .nothing: 0
        case .controlled: 1
        case .complete: 2
        case .begun: 3
        }
    }
}

/// The destination of a finished file.
#if hasAttribute(nonexhaustive)
    @nonexhaustive
#endif
public enum Destination: Sendable, Hashable {
    /// The file at this path.
    case file(String)
    /// A file in this folder, under the name that the server or the URL suggests.
    case folder(String)
    /// This open descriptor, in order from the first byte; nothing is kept for a later run.
    ///
    /// Nothing is written to any other file. The download uses a duplicate, so the caller may close
    /// its own descriptor once the download has started.
    case descriptor(Int32)
    /// `/dev/null`, for measuring: everything is downloaded and checked as usual, and nothing is
    /// kept.
    ///
    /// The CRC-32 is the only digest that is computed.
    case null
}
