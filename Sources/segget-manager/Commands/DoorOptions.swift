import ArgumentParser
import Glibc
import SeggetCommand
import SeggetFormats
import SeggetQueue
import SeggetReports
import SeggetService
import Segmenter

/// How programs reach a service over TCP.
struct DoorOptions: ParsableArguments {
    /// Where to listen.
    struct Place: Sendable, Hashable {
        var address: String
        var port: Int

        /// Whether only this machine reaches it.
        var isLoopback: Bool { address.hasPrefix("127.") || address == "::1" }
    }

    @Option(
        help: ArgumentHelp(
            "Answer aria2's JSON-RPC and the API over TCP.",
            discussion: """
                The address is 127.0.0.1 where none is given; an address of IPv6 stands in brackets. Clients have to \
                know the secret, which `--show-secret` prints.
                """,
            valueName: "[address:]port[,port]"),
        transform: DoorOptions.places)
    var rpc: [Place]?
    @Flag(help: "Print the secret of clients over TCP, and end.") var showSecret = false
    @Flag(
        help: ArgumentHelp(
            "Take calls of JSON-RPC without the secret, from this machine.",
            discussion: "Only `POST` and WebSockets, and only where no other machine can reach it.")
    )
    var rpcNoSecret = false
    @Option(
        help: ArgumentHelp(
            "Let pages of this origin call; repeatable.",
            discussion: "Such as `https://ariang.example.org` or `chrome-extension://ID`.",
            valueName: "origin"))
    var rpcAllowOrigin: [String] = []
    @Option(
        help: ArgumentHelp(
            "Let clients ask for the service by this name, too; repeatable.", valueName: "name"))
    var allowHost: [String] = []
    @Option(
        name: [.long, .customShort("d", allowingJoined: true)],
        help: ArgumentHelp(
            "Save what clients add here. (default: ~/Downloads)", valueName: "dir"),
        completion: .directory)
    var directory: String?
    @Option(
        help: ArgumentHelp(
            "Let clients save below this folder, too; repeatable.", valueName: "dir"),
        completion: .directory)
    var allowDir: [String] = []
    @Option(
        help: ArgumentHelp(
            "Whether what clients add may not come from private addresses: yes or no.",
            discussion: """
                Private are this machine and its networks. The default is yes where `--rpc` has an address that other \
                machines reach, else no; tasks of the command line may come from anywhere.
                """,
            valueName: "yes|no"))
    var denyPrivate: Answer?

    /// Yes or no.
    enum Answer: String, ExpressibleByArgument { case yes, no }

    func validate() throws {
        guard let rpc else {
            guard !rpcNoSecret else { throw ValidationError("`--rpc-no-secret` needs `--rpc`") }
            guard denyPrivate == nil else {
                throw ValidationError("`--deny-private` needs `--rpc`")
            }
            return
        }
        guard !rpcNoSecret || rpc.allSatisfy(\.isLoopback) else {
            throw ValidationError(
                "`--rpc-no-secret` is for this machine only: `--rpc` has another address")
        }
    }

    /// Reads `--rpc`.
    static func places(_ text: String) throws -> [Place] {
        var (address, ports) = ("127.0.0.1", text[...])
        if let colon = text.lastIndex(of: ":") {
            address = String(text[..<colon])
            ports = text[text.index(after: colon)...]
            if address.hasPrefix("["), address.hasSuffix("]") {
                address = String(address.dropFirst().dropLast())
            }
        }
        if address == "localhost" { address = "127.0.0.1" }
        guard isNumber(address) else {
            throw ValidationError("`--rpc` takes the number of an address, not `\(address)`")
        }
        return try ports.split(separator: ",", omittingEmptySubsequences: false).map { port in
            guard let port = UInt16(port) else {
                throw ValidationError("`--rpc` takes ports from 0 to 65535, not `\(port)`")
            }
            return Place(address: address, port: Int(port))
        }
    }

    private static func isNumber(_ address: String) -> Bool {
        var bytes = in6_addr()
        return inet_pton(AF_INET, address, &bytes) == 1 || inet_pton(AF_INET6, address, &bytes) == 1
    }

    /// The download folder.
    private var folder: String {
        get throws {
            if let directory { return Paths.absolute(directory) }
            guard let home = getenv("HOME").map({ String(cString: $0) }), home.hasPrefix("/") else {
                throw ValidationError(
                    "`HOME` is not set: name the download folder with `--directory`")
            }
            return Paths.absolute(home + "/Downloads")
        }
    }

    /// What is served over TCP, for a queue's service.
    ///
    /// - Parameter path: The queue's file.
    /// - Returns: Where, and what; `nil` where nothing is.
    /// - Throws: `ValidationError` or `QueueError`.
    func doors(_ path: String) throws -> Doors? {
        guard let rpc else { return nil }
        let folder = try folder
        let home = getenv("HOME").map { Paths.absolute(String(cString: $0)) } ?? ""
        let allowed: AllowedFolders
        do throws(RPCPolicy.Forbidden) {
            allowed = try AllowedFolders([folder] + allowDir.map(Paths.absolute), home: home)
        } catch {
            throw ValidationError(error.message)
        }
        let secret = try SecretFile(of: path).read()
        var policy = RPCPolicy(secret: secret, folder: folder)
        policy.isOpen = rpcNoSecret
        policy.deniesPrivate = denyPrivate.map { $0 == .yes } ?? !rpc.allSatisfy(\.isLoopback)
        policy.judge = { folder, name throws(RPCPolicy.Forbidden) in
            try allowed.judge(folder, name)
        }
        var gate = Gate()
        gate.hosts = Set(allowHost.map { $0.lowercased() })
        gate.origins = Set(rpcAllowOrigin.map { $0.lowercased() })
        return Doors(places: rpc, policy: policy, gate: gate, secret: secret)
    }
}

/// What a service has on TCP.
struct Doors: Sendable {
    var places: [DoorOptions.Place]
    var policy: RPCPolicy
    /// Who may ask; `nil` where everybody may.
    var gate: Gate?
    /// What clients of the API have to know; `nil` has no API.
    var secret: String?

    /// Begins to serve.
    ///
    /// - Returns: Where, in words, a line for each place.
    /// - Throws: `QueueError`.
    func open(_ server: QueueServer, _ queue: DownloadQueue) async throws(QueueError) -> [String] {
        let site = WebSite(rpc: RPCService(queue, policy), gate: gate, secret: secret)
        let ports = try await server.serve(
            site, at: places.map { ($0.address, $0.port) }, of: queue)
        return zip(places, ports).map { place, port in
            let host = place.address.contains(":") ? "[\(place.address)]" : place.address
            return "http://\(host):\(port)/jsonrpc"
        }
    }
}
