extension Origin {
    /// Changes a reply before it is sent.
    public typealias Bend = @Sendable (OriginRequest, inout OriginReply) -> Void

    /// The files that an origin serves, and how; a test can change it between requests.
    public struct Offer: Sendable {
        /// The file at every path, unless each has its own.
        public var content: Content
        /// The raw `ETag` field, unless each path has its own file; `nil` sends none.
        public var etag: String? = "\"v1\""
        /// The raw `Last-Modified` field; `nil` sends none.
        public var lastModified: String?
        /// Whether range requests are supported.
        public var servesRanges = true
        /// The rate of each `GET`, in bytes per second; `nil` is unlimited.
        public var pace: Double?
        /// Changes the correct replies.
        public var bend: Bend = { _, _ in }
        private var name: (@Sendable (OriginRequest) -> String)?

        /// Offers one file at every path.
        public init(_ content: Content) { self.content = content }

        /// Offers a file of `size` bytes for each name, and 404 at paths that begin with `/none`.
        ///
        /// - Parameters:
        ///   - size: the size of each file.
        ///   - name: returns the requested name; ``Content/named(_:size:)`` is its content.
        public init(size: Int64, name: @escaping @Sendable (OriginRequest) -> String) {
            content = Content(size: size, seed: 0)
            self.name = name
        }

        func reply(to request: OriginRequest) -> OriginReply {
            var (content, etag) = (content, etag)
            if let name {
                guard !request.target.hasPrefix("/none") else { return .text(404) }
                content = .named(name(request), size: content.size)
                etag = "\"\(content.seed)\""
            }
            var reply = OriginReply.file(
                content, for: request, etag: etag, lastModified: lastModified,
                ranges: servesRanges)
            if request.method == "GET" { reply.pace = pace }
            bend(request, &reply)
            return reply.silentToCanaries(request)
        }
    }

    /// Starts an origin on a free port that serves an offer.
    ///
    /// - Parameters:
    ///   - offer: the files and how they are served.
    ///   - address: the address to listen on; the default on loopback is 127.0.0.1.
    ///   - network: a pair of namespaces; it listens in the server's.
    ///   - sendBuffer: size of the sockets' send buffers in bytes.
    /// - Throws: ``SystemCallError``.
    public convenience init(
        _ offer: Offer, address: String? = nil, network: NetworkPair? = nil,
        sendBuffer: Int32? = 64 << 10
    ) throws {
        let offer = Guarded(offer)
        try self.init(address: address, network: network, sendBuffer: sendBuffer, offer: offer) {
            request in offer.withLock { $0 }.reply(to: request)
        }
    }

    /// The file that it currently offers at every path.
    public var content: Content { changeable.withLock { $0.content } }

    /// Changes the offer, from the next request on.
    public func change(_ body: (inout Offer) -> Void) { changeable.withLock { body(&$0) } }

    /// Changes the replies from now on.
    public func bend(_ body: @escaping Bend) { change { $0.bend = body } }

    /// Changes the replies to `GET` only, from now on.
    public func bendGET(_ body: @escaping Bend) {
        bend { request, reply in if request.method == "GET" { body(request, &reply) } }
    }

    /// Changes the replies to `GET` only, from now on.
    public func bendGET(_ body: @escaping @Sendable (inout OriginReply) -> Void) {
        bendGET { _, reply in body(&reply) }
    }

    /// Sends the whole file in chunks from now on, without its size.
    public func hideSize() {
        change { offer in
            offer.servesRanges = false
            offer.bend = { _, reply in reply.framing = .chunked }
        }
    }

    /// Restores the correct replies.
    public func behave() { bend { _, _ in } }

    private var changeable: Guarded<Offer> {
        guard let offer else { preconditionFailure("a closure makes the replies") }
        return offer
    }
}

extension Content {
    /// Returns the content of the file that a server offers under a name.
    public static func named(_ name: String, size: Int64) -> Content {
        let seed = name.utf8.reduce(UInt64(14_695_981_039_346_656_037)) { hash, byte in
            (hash ^ UInt64(byte)) &* 1_099_511_628_211
        }
        return Content(size: size, seed: seed)
    }
}

extension OriginReply {
    /// Makes a server that stalls in its bodies ignore canaries as well.
    ///
    /// A download that stalls for a test remains stalled.
    public func silentToCanaries(_ request: OriginRequest) -> OriginReply {
        guard stallAfter != nil, request.range?.last == 0 else { return self }
        return with { $0.delayBeforeHeaders = .infinity }
    }
}
