import ArgumentParser
import Glibc
import SeggetCommand
import SeggetFormats
import SeggetQueue
import SeggetReports
import SeggetService
import Segmenter

/// The options of a service for clients over TCP.
struct DoorOptions: ParsableArguments {
    /// An address to listen on.
    struct Place: Sendable, Hashable {
        var address: String
        var port: Int

        /// Whether only this machine can reach the address.
        var isLoopback: Bool { address.hasPrefix("127.") || address == "::1" }
    }

    @Option(
        help: ArgumentHelp(
            "Serve aria2's JSON-RPC and the API over TCP.",
            discussion: """
                The default address is 127.0.0.1; put an IPv6 address in brackets. Clients need the secret that \
                `--show-secret` prints.
                """,
            valueName: "[address:]port[,port]"),
        transform: { try DoorOptions.places($0, of: "--rpc") })
    var rpc: [Place]?
    @Option(
        help: ArgumentHelp(
            "Serve the web page and the API to browsers.",
            discussion:
                "May share the address of `--rpc`. `segget open` prints the address and logs a browser in.",
            valueName: "[address:]port"),
        transform: { try DoorOptions.places($0, of: "--web") })
    var web: [Place]?
    @Option(
        help: ArgumentHelp(
            "Serve the page in this folder, such as AriaNg, instead of segget's.",
            valueName: "dir"),
        completion: .directory, transform: PathArgument.folder)
    var ui: String?
    @Flag(help: "Print the secret for clients over TCP, and exit.") var showSecret = false
    @Flag(help: "Check the service and exit: 0 if it responds.")
    var ping = false
    @Flag(
        help: ArgumentHelp(
            "Accept JSON-RPC calls from this machine without the secret.",
            discussion: "Applies to `POST` and WebSockets. `--rpc` must have a loopback address.")
    )
    var rpcNoSecret = false
    @Option(
        help: ArgumentHelp(
            "Accept requests from web pages of this origin; repeatable.",
            discussion: "Such as `https://ariang.example.org` or `chrome-extension://ID`.",
            valueName: "origin"))
    var rpcAllowOrigin: [String] = []
    @Option(
        help: ArgumentHelp(
            "Also accept this host name in requests (`Host`); repeatable.",
            discussion: "`localhost` and IP addresses are always accepted.", valueName: "name"))
    var allowHost: [String] = []
    @Option(
        name: [.long, .customShort("d", allowingJoined: true)],
        help: ArgumentHelp(
            "Save downloads that clients add in this folder. (default: ~/Downloads)",
            valueName: "dir"),
        completion: .directory, transform: PathArgument.folder)
    var directory: String?
    @Option(
        help: ArgumentHelp(
            "Also allow clients to save below this folder; repeatable.", valueName: "dir"),
        completion: .directory, transform: PathArgument.folder)
    var allowDir: [String] = []
    @Option(
        help: ArgumentHelp(
            "Refuse downloads from private addresses that clients add: yes or no.",
            discussion: """
                Private addresses are those of this machine and of its networks. The default is yes if other machines \
                can reach the address of `--rpc` or `--web`, otherwise no. Tasks added on the command line may use any \
                address.
                """,
            valueName: "yes|no"))
    var denyPrivate: Answer?

    /// The values `yes` and `no`.
    enum Answer: String, ExpressibleByArgument { case yes, no }

    func validate() throws {
        // These two ignore options for the service, which may come from the environment.
        guard !showSecret, !ping else { return }
        guard !rpcNoSecret || rpc != nil else {
            throw ValidationError("`--rpc-no-secret` needs `--rpc`")
        }
        guard denyPrivate == nil || rpc != nil || web != nil else {
            throw ValidationError("`--deny-private` needs `--rpc` or `--web`")
        }
        guard ui == nil || web != nil else { throw ValidationError("`--ui` needs `--web`") }
        guard !rpcNoSecret || rpc?.allSatisfy(\.isLoopback) != false else {
            throw ValidationError(
                "`--rpc-no-secret` needs a loopback address: other machines can reach that of `--rpc`"
            )
        }
    }

    /// Parses the value of `--rpc` or `--web`.
    static func places(_ text: String, of option: String) throws -> [Place] {
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
            throw ValidationError("`\(option)` takes an IP address, not `\(address)`")
        }
        return try ports.split(separator: ",", omittingEmptySubsequences: false).map { port in
            guard let port = UInt16(port) else {
                throw ValidationError("`\(option)` takes ports from 0 to 65535, not `\(port)`")
            }
            return Place(address: address, port: Int(port))
        }
    }

    private static func isNumber(_ address: String) -> Bool {
        var bytes = in6_addr()
        return inet_pton(AF_INET, address, &bytes) == 1 || inet_pton(AF_INET6, address, &bytes) == 1
    }

    /// The download folder of clients.
    private var folder: String {
        get throws {
            try PathArgument.checkTilde(directory, "directory")
            if let directory { return Paths.absolute(directory) }
            guard let home = EnvironmentText.value("HOME"), home.hasPrefix("/") else {
                throw ValidationError(
                    "`HOME` is not set: name the download folder with `--directory`")
            }
            return Paths.absolute(home + "/Downloads")
        }
    }

    /// Returns the endpoints over TCP for the service of a queue.
    ///
    /// - Parameter path: The queue's file.
    /// - Returns: The endpoints; `nil` if there are none.
    /// - Throws: `ValidationError` or `QueueError`.
    func doors(_ path: String) throws -> Doors? {
        let places = (rpc ?? []) + (web ?? [])
        guard !places.isEmpty else { return nil }
        let folder = try folder
        let home = EnvironmentText.value("HOME").map(Paths.absolute) ?? ""
        let allowed: AllowedFolders
        do throws(RPCPolicy.Forbidden) {
            allowed = try AllowedFolders([folder] + allowDir.map(Paths.absolute), home: home)
        } catch {
            throw ValidationError(error.message)
        }
        if let ui, let problem = Page.problem(ofFolder: Paths.absolute(ui)) {
            throw QueueError(
                .invalid, problem,
                hint: "give `--ui` the folder that contains the page's `index.html`")
        }
        let secret = try SecretFile(of: path).read()
        var policy = RPCPolicy(secret: secret, folder: folder)
        policy.isOpen = rpcNoSecret
        policy.folders = allowed.roots
        policy.deniesPrivate = denyPrivate.map { $0 == .yes } ?? !places.allSatisfy(\.isLoopback)
        policy.judge = { folder, name throws(RPCPolicy.Forbidden) in
            try allowed.judge(folder, name)
        }
        var gate = Gate()
        gate.hosts = Set(allowHost.map { $0.lowercased() })
        gate.origins = Set(rpcAllowOrigin.map { $0.lowercased() })
        let page = ui.map { Page.folder(Paths.absolute($0)) } ?? .own
        return Doors(
            rpc: rpc ?? [], web: web ?? [], page: page, policy: policy, gate: gate, secret: secret)
    }
}

/// The endpoints of a service over TCP.
struct Doors: Sendable {
    /// The addresses for aria2's JSON-RPC.
    var rpc: [DoorOptions.Place]
    /// The addresses for the web page, which may also be in ``rpc``.
    var web: [DoorOptions.Place]
    var page: Page
    var policy: RPCPolicy
    /// Decides which requests are allowed; `nil` allows all.
    var gate: Gate?
    /// The secret that clients of the API have to send; `nil` serves no API.
    var secret: String?

    /// All addresses, without duplicates.
    var places: [DoorOptions.Place] { rpc + web.filter { !rpc.contains($0) } }

    /// Listens on all addresses.
    ///
    /// - Returns: A line for the log for each URL.
    /// - Throws: `QueueError`.
    func open(_ server: QueueServer, _ queue: DownloadQueue) async throws(QueueError) -> [String] {
        let service = RPCService(queue, policy)
        var lines: [String] = []
        for place in places {
            let (hasRPC, hasPage) = (rpc.contains(place), web.contains(place))
            let site = WebSite(
                rpc: service, hasRPC: hasRPC, page: hasPage ? page : nil,
                openings: server.openings, gate: gate, secret: secret)
            let ports = try await server.serve(
                site, at: [(place.address, place.port)], of: queue)
            let root = "http://\(place.host):\(ports[0])/"
            if hasRPC { lines.append("JSON-RPC at \(root)jsonrpc") }
            guard hasPage else { continue }
            lines.append("page at \(root)")
            server.openings.address = "http://\(place.ownHost):\(ports[0])/"
        }
        return lines
    }
}

extension DoorOptions.Place {
    /// The address in the syntax of URLs (RFC 3986 §3.2.2).
    fileprivate var host: String { address.contains(":") ? "[\(address)]" : address }

    /// The address for this machine: the loopback address if the service listens on all addresses.
    fileprivate var ownHost: String {
        switch address {
        case "0.0.0.0": "127.0.0.1"
        case "::": "[::1]"
        default: host
        }
    }
}
