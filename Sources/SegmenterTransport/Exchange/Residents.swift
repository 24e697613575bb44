// The objects that live on the loop thread and serve all requests and downloads: the server book
// and the requests for small files.

extension TransferLoop {
    /// Starts a loop for requests and downloads.
    package convenience init() { self.init(residents: [ServerBook.self, SmallRequests.self]) }

    /// Returns the number of requests that servers serve at a time, by origin, as learned so far.
    package func learnedLimits() async -> [String: Int] {
        await ask(otherwise: [:]) { $0.servers.learnedLimits }
    }

    /// Returns all known addresses of a host.
    package func addresses(of origin: String) async -> [String] {
        await ask(otherwise: []) { $0.servers.addresses.found[origin] ?? [] }
    }

    /// Starts a lookup of all addresses of a request's host, so that connections can use all of
    /// them.
    ///
    /// The lookup runs on a separate detached thread. Neither a task nor the exit of the process
    /// waits for it.
    package func findAddresses(for request: TransferRequest) {
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
    /// The known facts about servers.
    package var servers: ServerBook { resident() }

    /// The requests for small files.
    package var smallRequests: SmallRequests { resident() }

    /// Returns whether a host is sending bytes of a file.
    package func isServed(by origin: String) -> Bool {
        transfers.values.contains { $0.request.url.origin == origin && $0.hasServed }
    }

    /// Returns whether a host has sent bytes of a file in this session.
    package func hasServed(_ origin: String) -> Bool {
        servers.contacts.served.contains(origin) || isServed(by: origin)
    }
}

extension ServerBook: LoopResident {
    package convenience init(_ worker: Worker) { self.init() }

    /// Records the quotas that a response states.
    package func replied(_ reply: Reply, from origin: String, on worker: Worker) {
        let quotas = StatedQuota.all(
            in: reply,
            date: reply["date"].flatMap(secondsSince1970(httpDate:)) ?? Int64(secondsSince1970()))
        stated(
            quotas, by: origin, isServed: !mayBeOverload(reply.status),
            unanswered: worker.unanswered(by: origin), now: monotonicSeconds())
    }

    /// Records the facts that an ended transfer shows about its host.
    ///
    /// A fetch may be about to end its transfers, so its load is not asked for.
    package func left(_ transfer: Transfer, on worker: Worker) {
        let origin = transfer.request.url.origin
        if let seconds = transfer.connectSeconds { connected(to: origin, in: seconds) }
        if transfer.reply != nil, let address = transfer.address {
            addresses.reached(address, of: origin)
        }
        if let reply = transfer.reply, isOverload(reply.status), let seconds = reply.retryAfter,
            // One of several addresses may be out of service; the others are tried at once.
            reply.status != 503 || !addresses.mayBeSeveral(origin)
        {
            refused(
                by: origin, for: seconds, asked: transfer.began, served: worker.served(by: origin),
                now: monotonicSeconds())
        }
        if transfer.hasServed { contacts.served(origin) }
    }
}
