public import Assembler

/// How one file is fetched.
public struct DownloadOptions: Sendable, Hashable {
    /// Concurrent connections.
    public var connections = ConnectionCount.automatic
    /// Fewest bytes that a connection is worth: a file of `n` bytes gets at most `n` divided by this of them;
    /// `nil` for no such bound.
    public var minSplitSize: Int64?
    /// The digest that the finished file must have.
    public var checksum: Digest?
    /// Replace what stands at the destination, at the moment of publishing.
    public var overwrite = false
    /// Continue an earlier run's part.
    public var resume = true
    /// Continue an earlier run's part also where nothing but a sample of it proves that the file is
    /// still the same: the server sends no strong validator, and there is no ``checksum``.
    ///
    /// Up to 256 KiB at several places are fetched again; where they differ, the download starts over.
    public var resumeUnverified = false
    /// Send one `GET` without a range, no `HEAD` and no request at the end: for links that may be fetched only
    /// once or a few times.
    ///
    /// Only after a break, in this run or an earlier one, is the rest requested, as ``resume`` allows, with the
    /// checks of every other download. There is one connection, whatever ``connections`` says, and
    /// ``mirrors`` are not used. ``DownloadSession/preview(_:to:options:)`` sends a request that counts, too.
    public var singleRequest = false
    /// Continue the part at the destination although another URL has begun it: an expired link has a
    /// successor.
    ///
    /// A strong validator, a digest or, with ``resumeUnverified``, a sample has to show that it is the same
    /// file. Where nothing does, the download fails, and the part stays as it is.
    public var continuesOtherURL = false
    /// Path of the file in which another program has brought a part of this one; `nil` for none.
    ///
    /// Its bytes count where ``checksum``, an advertised digest or, with ``resumeUnverified``, a sample shows
    /// that they are the file's; until then the file is only read, and if they are not, the download fails.
    /// A later run continues what was taken over, as ``resume`` says, which is implied. For downloads to files
    /// only.
    public var adopt: String?
    /// Wait for the network without end when it is lost after the download has begun.
    public var waitsForNetwork = false
    /// With ``waitsForNetwork``: wait before the download has begun, too, while this machine is in no network that
    /// leads to the server or its proxy.
    ///
    /// The kernel's routes decide; where a name cannot be resolved, it is a route to the internet that counts. With a
    /// route, a server that does not answer is a failure as ever.
    public var waitsForNetworkFirst = false
    /// End, with ``TransferFailure/resting(for:)``, rather than wait while a server that counts requests is sent
    /// none.
    ///
    /// A later download of the same session continues, when that time is over.
    public var endsToRest = false
    /// Which file that stands at the destination, and that segget has not brought, counts for the download.
    public var takesOver = TakeOver.nothing
    /// Continue a shorter file at the destination that another program has begun.
    ///
    /// ``checksum`` or an advertised digest has to decide on the whole file in the end. Without one the file
    /// stays, and the download fails.
    public var continuesExisting = false
    /// How the file gets its name.
    public var naming = NamingOptions()
    /// Further request headers, as `Name: value`; sent to the origin of the URL only, but for those that
    /// say how a file is wanted, unless ``AccessOptions/crossesOrigins`` says otherwise.
    public var headers: [String] = []
    /// PEM file with the certificates to trust, in place of the system's.
    public var caCertificate: String?
    /// Longest time to connect, TLS handshake included.
    public var connectTimeout = Duration.seconds(10)
    /// Longest time without a byte on a connection.
    public var stallTimeout = Duration.seconds(15)
    /// Further attempts without progress before the download fails.
    ///
    /// As long as it is not set, a host that has served nothing yet in the session gets no more than
    /// three tries within about 5 s before the first byte of a file, unless it asks for more time or an
    /// earlier run's part is continued.
    public var retries = 10 {
        didSet { areRetriesGiven = true }
    }
    /// Whether ``retries`` was set: then it holds from the beginning on.
    private(set) var areRetriesGiven = false
    /// The number of ``retries``, if it was set; `nil` is the default.
    package var givenRetries: Int? {
        get { areRetriesGiven ? retries : nil }
        set {
            retries = newValue ?? DownloadOptions().retries
            areRetriesGiven = newValue != nil
        }
    }
    /// Shortest time from one attempt that failed to the next.
    public var retryWait = Duration.zero
    /// How the file goes to a descriptor; without meaning for other destinations.
    public var stream = StreamOptions()

    /// Credentials, cookies, proxies, TLS and addresses.
    public var access = AccessOptions()
    /// Limits of size, time and speed.
    public var limits = LimitOptions()
    /// Further URLs of the same file, in order of preference.
    ///
    /// They work together where ``checksum``, equal strong entity tags or equal advertised digests prove
    /// that all have the same file; otherwise one at a time, the others as standby mirrors.
    public var mirrors: [String] = []

    /// What becomes of the file on the disk.
    public var files = FileOptions()

    /// What a newer version stored beside these.
    var unknown: [String: CodedValue] = [:]

    /// Makes the default options.
    public init() {}
}

/// How many connections fetch one file.
#if hasAttribute(nonexhaustive)
    @nonexhaustive
#endif
public enum ConnectionCount: Sendable, Hashable, ExpressibleByIntegerLiteral,
    CustomStringConvertible
{
    /// As many as bring something, 1 to 64: found by goodput, while the file is fetched.
    case automatic
    /// This many, 1 to 64; what is less or more counts as that.
    case fixed(Int)
    /// As many as bring something, 1 to this many; what is less or more counts as 1 or 64.
    case upTo(Int)

    /// Makes a fixed number.
    public init(integerLiteral value: Int) { self = .fixed(value) }

    /// Reads `auto`, a number from 1 to 64, or `auto` with such a bound: `auto:8`.
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

    /// As ``init(_:)`` reads it.
    public var description: String {
        switch self {
        case .automatic: "auto"
        case .fixed(let number): "\(number)"
        case .upTo(let number): "auto:\(number)"
        }
    }

    /// Most connections at a time.
    public var most: Int {
        switch self {
        case .automatic: 64
        case .fixed(let number), .upTo(let number): min(max(1, number), 64)
        }
    }

    /// Whether the number is found while the file is fetched.
    var isFound: Bool { if case .fixed = self { false } else { true } }
}

/// Which file that stands at the destination counts for a download, although segget has not brought it.
///
/// Each case includes those before it. What does not count is refused, replaced or left beside a numbered name,
/// as ``DownloadOptions/overwrite`` and ``NamingOptions/numbersTaken`` say. What counts, and turns out not to be
/// the server's, is replaced by the whole file when that is complete, and reported
/// (``DownloadNotice/notFinished(_:)``).
#if hasAttribute(nonexhaustive)
    @nonexhaustive
#endif
public enum TakeOver: String, Sendable, Hashable, Comparable, Codable {
    /// None.
    case nothing
    /// One that aria2 has begun: its control file `NAME.aria2` stands beside it. Its bytes are kept where
    /// ``DownloadOptions/checksum`` or an advertised digest decides on the whole file in the end.
    case controlled
    /// One as long as the remote file, which is left as it is when it has the ``DownloadOptions/checksum``,
    /// is what an earlier run wrote down about it, or without either, a sample of it is what the server sends.
    case complete
    /// A shorter one, whose bytes are kept as those of ``controlled`` are.
    case begun

    /// By what is included.
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

/// Where the finished file goes.
#if hasAttribute(nonexhaustive)
    @nonexhaustive
#endif
public enum Destination: Sendable, Hashable {
    /// This path.
    case file(String)
    /// This folder, under the name that the server or the URL suggests.
    case folder(String)
    /// This open descriptor, in order from the first byte on: nothing is written anywhere else, and
    /// nothing is kept for a later run.
    ///
    /// A duplicate is used: the caller may close its own when the download has started.
    case descriptor(Int32)
    /// `/dev/null`: all is fetched and checked as ever, and nothing is kept; no digest but the CRC-32 is
    /// computed. For measuring.
    case null
}
