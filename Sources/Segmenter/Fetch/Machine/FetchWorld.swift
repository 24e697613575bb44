import Assembler

/// What a fetch asks of the world while it decides, and what it has the world do.
///
/// `Fetch` is the world of the program, a simulation that of tests. Connections and servers are
/// known by their places in `FetchMachine.slots` and `FetchMachine.sources`. No time passes while
/// one event is decided on, and nothing here calls the machine: what comes of an action later is an
/// event.
typealias FetchWorld = FetchFacts & FetchActions

/// What is so at the moment of an event.
protocol FetchFacts: AnyObject {
    /// When the event came, in seconds on a clock that never goes back.
    var now: Double { get }
    /// The same in seconds since 1970, as far as this machine's clock can say.
    var date: Double { get }
    /// A number in 0..<1, another one each time.
    func random() -> Double

    // MARK: A connection's request

    /// How far the body of a connection's reply is written, as an offset in the file; `nil` without one.
    func position(of slot: Int) -> Int64?
    /// What is known of the request that a connection has under way; `nil` when it has none.
    func state(of slot: Int) -> FetchMachine.RequestState?
    /// Who answers the request that a connection has under way; `nil` when it has none.
    func peer(of slot: Int) -> FetchMachine.Peer?
    /// Whether all that is the request's own is written, though more may come.
    func isSatisfied(_ slot: Int) -> Bool
    /// Whether the session's limit of rate has held a connection back since this was last asked.
    func takeHeldBack(_ slot: Int) -> Bool
    /// Compares the bytes of a connection's reply with the digest that it came with, when all are there.
    ///
    /// - Returns: Whether they are right: those that are wrong never count; `nil` when there is nothing
    ///   to compare.
    func settleProof(_ slot: Int) -> Bool?
    /// The bytes that came for a sample.
    func sample(of slot: Int) -> ByteRange
    /// Whether those are the same as what is there, or as what is known of it.
    func sampleAgrees(_ slot: Int, _ expected: Extent?) -> Bool
    /// Whether what the second request for a connection's rest brought is so many bytes, and has a
    /// digest.
    func hedgeFits(_ slot: Int, _ count: Int64, _ digest: Digest?) -> Bool

    // MARK: A server

    /// What is known of the way to a server, and of the loop.
    func network(to origin: String) -> FetchMachine.NetworkState
    /// How many requests at a time a server serves, of those that turned one away; all downloads know it.
    subscript(limitOf origin: String) -> ServerLimit? { get set }
    /// What is known of a server that counts requests; all downloads know it.
    subscript(quotaOf origin: String) -> RequestQuota? { get set }
    /// What all others than this fetch have under way at a server.
    func othersLoad(at origin: String) -> ServerLimit.Load
    /// Whether a server serves some other download at this moment.
    func servesOthers(_ origin: String) -> Bool
    /// What a server is known to mean by 403.
    func meaningOf403(_ origin: String) -> Forbidding.Meaning?
    /// The addresses that connections to a host are spread over; none as long as there are no two.
    func addresses(of origin: String) -> [String]
    /// Whether a host has sent a file, or a part of one, in this session.
    func hasServed(_ origin: String) -> Bool
    /// Whether a host has just been given up for another file.
    func isGivenUp(_ origin: String) -> Bool
    /// Whether a server is asked over HTTP/2 only.
    func needsHTTP2(_ origin: String) -> Bool
    /// Whether a request failed because it went out over HTTP/1.1, and whether that is news; `nil` where
    /// it failed for another reason.
    func isRefusedVersion(_ failure: TransferFailure, _ url: WebURL) -> Bool?

    // MARK: The output

    /// What the output can take from now on; `nil` is everything.
    func takeWindow() -> OutputWindow?
    /// Bytes that a later run can build on.
    var bytesKept: Int64 { get }
    /// Bytes from the first one on that are there without a gap, where one stream brings them.
    var bytesInOrder: Int64 { get }
    /// What is there, recorded and checked.
    var recorded: [Extent] { get }
    /// Whether what was written can be read again.
    var canReadBack: Bool { get }
    /// Path of what is written to, for messages.
    var writtenPath: String { get }
    /// Why it fails where the certificates to trust cannot be read.
    var certificateFailure: DownloadError.Reason { get }
}

/// What the world does for a fetch, at once.
protocol FetchActions: AnyObject {
    // MARK: Requests

    /// Makes a request; what comes of it are `FetchMachine.judge` and `FetchMachine.ended`.
    func request(_ slot: Int, _ ask: FetchMachine.Ask)
    /// Takes the reply that was offered at the start: what has come of it is written.
    ///
    /// - Parameters:
    ///   - slot: The connection that has it from now on.
    ///   - body: Where it goes.
    ///   - limit: Where the output's present room ends; `nil` where there is no end.
    ///   - goesOn: Whether the rest is to come; its end is `FetchMachine.ended`.
    /// - Returns: 0, or the `errno` of a write that failed: then nothing more comes.
    func adopt(
        _ slot: Int, _ body: FetchMachine.Body, upTo limit: Int64?, goesOn: Bool
    ) -> Int32
    /// Drops the reply that was offered.
    func declineOffer()
    /// Ends a connection's request without a further event; the connection is closed.
    func drop(_ slot: Int)
    /// Lets the body of a connection's reply be written up to an offset.
    func allow(_ slot: Int, upTo offset: Int64)
    /// Moves the end of what a connection writes forward: the bytes behind it are another's now.
    ///
    /// - Returns: Where its writer is at this moment: what lies before that has been written.
    func shorten(_ slot: Int, to end: Int64) -> Int64?
    /// Takes the writer of a connection away.
    ///
    /// - Parameters:
    ///   - slot: The connection; its request is over.
    ///   - dropping: Whether what was not compared with its digest is never to count.
    /// - Returns: Where the writer has ended.
    func retire(_ slot: Int, dropping: Bool) -> Int64?

    // MARK: Second requests, canaries, and other errands

    /// Asks once more for a connection's rest, and keeps what comes in memory: `FetchMachine.judgeHedge`,
    /// then `FetchMachine.hedgeEnded`.
    func sendHedge(_ slot: Int, _ ask: FetchMachine.Ask)
    /// Writes what the second request brought, from the byte with a number on, to this place.
    ///
    /// - Returns: 0, or the `errno` of a write that failed.
    func writeHedge(_ slot: Int, from offset: Int, to range: ByteRange) -> Int32
    func dropHedge(_ slot: Int)
    /// Sends a small request on a new connection, which gives up after `patience` seconds:
    /// `FetchMachine.judgeCanary`, then `FetchMachine.canaryEnded`.
    func sendCanary(_ ask: FetchMachine.Ask, patience: Double)
    func dropCanary()
    /// Has the URL of one of the file's mirrors resolved again: `FetchMachine.resolved`.
    func resolve(_ source: Int, mirror number: Int)
    func cancelResolving(_ source: Int)
    /// Has the addresses of the host found, for connections to be spread over them.
    func findAddresses()
    /// Starts checking what an earlier run left: `FetchMachine.verified`.
    func startVerifying()

    // MARK: What is remembered and reported

    /// Records what has arrived.
    func record() throws(AssemblyError)
    /// A reply has come from an address.
    func reached(_ address: String, of origin: String)
    /// A host was given up for this file.
    func gaveUp(_ origin: String)
    func report(_ notice: DownloadNotice)
    func report(_ progress: FetchMachine.Progress)
    /// Records what has arrived, and reports how the fetch has ended.
    func finish(_ outcome: FetchMachine.Outcome, _ ledger: MirrorLedger)
}
