/// The facts that a fetch reads while it decides, and the actions that it triggers.
///
/// `Fetch` implements both protocols in the program, and a simulation in the tests. Connections and
/// servers are identified by their indices in `FetchMachine.slots` and `FetchMachine.sources`. Time
/// does not advance while the machine handles an event. Nothing here calls the machine: later
/// results of an action are events.
package typealias FetchWorld = FetchFacts & FetchActions

/// The facts at the time of an event.
package protocol FetchFacts: AnyObject {
    /// The time of the event, in seconds on a monotonic clock.
    var now: Double { get }
    /// The time of the event in seconds since 1970, according to the system clock.
    var date: Double { get }
    /// Returns a random number in 0..<1.
    func random() -> Double

    // MARK: Requests

    /// Returns the offset in the file up to which a connection's body is written; `nil` without a
    /// body.
    func position(of slot: Int) -> Int64?
    /// Returns the state of a connection's request; `nil` if it has none.
    func state(of slot: Int) -> FetchMachine.RequestState?
    /// Returns the peer of a connection's request; `nil` if it has none.
    func peer(of slot: Int) -> FetchMachine.Peer?
    /// Returns whether a request's own bytes are all written, although more may arrive.
    func isSatisfied(_ slot: Int) -> Bool
    /// Returns whether the rate limit has delayed a connection since the last call.
    func takeHeldBack(_ slot: Int) -> Bool
    /// Compares the bytes of a connection's body with their digest, once all of them have arrived.
    ///
    /// - Returns: Whether they match; `nil` if there is nothing to compare. Bytes that do not match
    ///   never count.
    func settleProof(_ slot: Int) -> Bool?
    /// Returns the received range of a connection's sample.
    func sample(of slot: Int) -> ByteRange
    /// Returns whether a sample matches the bytes on the disk, or the expected extent.
    func sampleAgrees(_ slot: Int, _ expected: Extent?) -> Bool
    /// Returns whether the body of a hedge has the given length and matches the given digest.
    func hedgeFits(_ slot: Int, _ count: Int64, _ digest: Digest?) -> Bool

    // MARK: Servers

    /// Returns facts about the path to a server, and about the loop.
    func network(to origin: String) -> FetchMachine.NetworkState
    /// Reports the state of a file of a set, and returns the number of connections that the host's
    /// governor grants it.
    func share(of origin: String, _ use: HostGovernor.Use) -> Int
    /// The learned limit of a server's simultaneous requests; shared by all downloads.
    subscript(limitOf origin: String) -> ServerLimit? { get set }
    /// The most requests to each server at a time, over all downloads; `nil` for no bound.
    var mostActive: Int? { get }
    /// The learned facts about a server that counts requests; shared by all downloads.
    subscript(quotaOf origin: String) -> RequestQuota? { get set }
    /// Returns the requests of all other fetches at a server.
    func othersLoad(at origin: String) -> ServerLimit.Load
    /// Returns whether a server is serving another download at present.
    func servesOthers(_ origin: String) -> Bool
    /// Returns the known meaning of status code 403 at a server.
    func meaningOf403(_ origin: String) -> Forbidding.Meaning?
    /// Returns the addresses of a host to spread connections over; empty unless there are at least
    /// two.
    func addresses(of origin: String) -> [String]
    /// Returns whether a host has sent bytes of any file in this session.
    func hasServed(_ origin: String) -> Bool
    /// Returns whether a host has recently been given up for another file.
    func isGivenUp(_ origin: String) -> Bool
    /// Returns whether requests to a server need HTTP/2.
    func needsHTTP2(_ origin: String) -> Bool
    /// Returns whether it is news that a server refuses HTTP/1.1; `nil` if a request failed for
    /// another reason.
    func isRefusedVersion(_ failure: TransferFailure, _ url: WebURL) -> Bool?

    // MARK: The output

    /// Returns the bytes that the output can take from now on; `nil` for no limit.
    func takeWindow() -> OutputWindow?
    /// The number of bytes that a later run can resume from.
    var bytesKept: Int64 { get }
    /// The number of bytes from the start of the file without a gap, for a single stream.
    var bytesInOrder: Int64 { get }
    /// The extents that are recorded and checked.
    var recorded: [Extent] { get }
    /// Whether written bytes can be read back.
    var canReadBack: Bool { get }
    /// The path of the file that is written, for messages.
    var writtenPath: String { get }
    /// The reason for the failure if the trusted certificates cannot be read.
    var certificateFailure: DownloadError.Reason { get }
}

/// The actions that a fetch triggers; each is carried out immediately.
package protocol FetchActions: AnyObject {
    // MARK: Requests

    /// Sends a request.
    ///
    /// The events are `FetchMachine.judge` and `FetchMachine.ended`.
    func request(_ slot: Int, _ ask: FetchMachine.Ask)
    /// Adopts the probe's response, and writes the bytes that have already arrived.
    ///
    /// - Parameters:
    ///   - slot: The connection that receives the rest of the response.
    ///   - body: The range of the file to write.
    ///   - limit: The offset in the file up to which the output can take bytes at present; `nil`
    ///     for no limit.
    ///   - goesOn: Whether more bytes will arrive. The transfer's end is then reported by
    ///     `FetchMachine.ended`.
    /// - Returns: 0, or the `errno` of a failed write, after which no more bytes arrive.
    func adopt(
        _ slot: Int, _ body: FetchMachine.Body, upTo limit: Int64?, goesOn: Bool
    ) -> Int32
    /// Cancels the probe's response.
    func declineOffer()
    /// Cancels a connection's request without a further event, and closes the connection.
    func drop(_ slot: Int)
    /// Lets a connection's body be written up to an offset in the file.
    func allow(_ slot: Int, upTo offset: Int64)
    /// Lowers the offset at which a connection stops writing; the bytes after it belong to another
    /// connection.
    ///
    /// - Returns: The writer's present offset, up to which the bytes are written.
    func shorten(_ slot: Int, to end: Int64) -> Int64?
    /// Removes the writer of a connection.
    ///
    /// - Parameters:
    ///   - slot: The connection, whose request has ended.
    ///   - dropping: Whether to discard bytes that were not compared with their digest.
    /// - Returns: The writer's last offset; `nil` without a writer.
    func retire(_ slot: Int, dropping: Bool) -> Int64?

    // MARK: Hedges, canaries and other tasks

    /// Requests the remaining bytes of a connection a second time, and keeps the body in memory.
    ///
    /// The events are `FetchMachine.judgeHedge` and `FetchMachine.hedgeEnded`.
    func sendHedge(_ slot: Int, _ ask: FetchMachine.Ask)
    /// Writes the bytes of a hedge, from an offset in its body, to a range of the file.
    ///
    /// - Returns: 0, or the `errno` of a failed write.
    func writeHedge(_ slot: Int, from offset: Int, to range: ByteRange) -> Int32
    func dropHedge(_ slot: Int)
    /// Sends a small request on a new connection, which gives up after `patience` seconds.
    ///
    /// The events are `FetchMachine.judgeCanary` and `FetchMachine.canaryEnded`.
    func sendCanary(_ ask: FetchMachine.Ask, patience: Double)
    func dropCanary()
    /// Resolves the original URL of a mirror again.
    ///
    /// The event is `FetchMachine.resolved`.
    func resolve(_ source: Int, mirror number: Int)
    func cancelResolving(_ source: Int)
    /// Looks up the addresses of the host, to spread connections over them.
    func findAddresses()
    /// Starts to verify the extents of an earlier run.
    ///
    /// The event is `FetchMachine.verified`.
    func startVerifying()

    // MARK: Records and reports

    /// Records all received bytes in the manifest.
    func record() throws(AssemblyError)
    /// Records that a response arrived from an address.
    func reached(_ address: String, of origin: String)
    /// Records that a host was given up for this file.
    func gaveUp(_ origin: String)
    func report(_ notice: DownloadNotice)
    func report(_ progress: FetchMachine.Progress)
    /// Records all received bytes in the manifest, and reports the outcome.
    func finish(_ outcome: FetchMachine.Outcome, _ ledger: MirrorLedger)
}
