import Assembler

// What lives on the loop thread for all requests and downloads: the book of servers, and the requests
// for small files.

extension TransferLoop {
    /// Starts a loop for requests and downloads.
    convenience init() { self.init(residents: [ServerBook.self, SmallRequests.self]) }

    /// How many requests at a time servers serve, by origin: those that this session has learned.
    func learnedLimits() async -> [String: Int] {
        await ask(otherwise: [:]) { $0.servers.learnedLimits }
    }

    /// All addresses of a host, as far as they were found.
    func addresses(of origin: String) async -> [String] {
        await ask(otherwise: []) { $0.servers.addresses.found[origin] ?? [] }
    }

    /// Has all addresses of a request's host found, for connections to be spread over them.
    ///
    /// Nobody waits for that, nor does the end of the process: it is done by a thread of its own.
    func findAddresses(for request: TransferRequest) {
        let origin = request.url.origin
        guard !request.mayUseProxy, let host = NamedHost(origin: origin) else { return }
        let access = request.connecting.access
        perform { worker in
            guard worker.servers.addresses.ask(origin, now: monotonicSeconds()) else { return }
            OwnedThread(name: "addresses") { [weak self] in
                let addresses = host.lookUp(access)
                self?.perform { $0.servers.addresses.found(addresses, of: origin) }
            }.detach()
        }
    }
}

extension Worker {
    /// What is known of servers.
    var servers: ServerBook { resident() }

    /// The requests for small files.
    var smallRequests: SmallRequests { resident() }

    /// Whether a host is sending a file, or a part of one.
    func isServed(by origin: String) -> Bool {
        transfers.values.contains { $0.request.url.origin == origin && $0.hasServed }
    }

    /// Whether a host has sent a file, or a part of one, in this session.
    func hasServed(_ origin: String) -> Bool {
        servers.contacts.served.contains(origin) || isServed(by: origin)
    }
}

extension ServerBook: LoopResident {
    convenience init(_ worker: Worker) { self.init() }

    /// Notes what a transfer that is over says of its host.
    func left(_ transfer: Transfer) {
        let origin = transfer.request.url.origin
        if let seconds = transfer.connectSeconds { connected(to: origin, in: seconds) }
        if transfer.reply != nil, let address = transfer.address {
            addresses.reached(address, of: origin)
        }
        if transfer.hasServed { contacts.served(origin) }
    }
}
