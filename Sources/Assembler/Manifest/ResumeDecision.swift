/// The decision whether a run continues the part of an earlier run.
///
/// Pure.
package enum ResumeDecision: Sendable {
    /// There is no earlier part to continue; start without a report.
    case begin
    /// Continue. Every extent must still be checked against the data.
    case resume(Manifest)
    /// The earlier part cannot be continued. Start over, and report the reason.
    case startOver(StartOverReason)
    /// The file at this path is not known to be segget's, and must not be overwritten.
    case refuse(path: String)

    /// The facts on which the decision is based.
    package struct Situation {
        /// The manifest; `nil` if there is none.
        package var manifest: Result<Manifest, Manifest.ReadError>?
        /// The length of the part in bytes; `nil` if there is none.
        package var partSize: Int64?
        /// The version that the server offers now.
        package var offered: RemoteIdentity
        /// The full URL, including the query.
        package var fullURL: String
        /// The URL without credentials and query.
        package var url: String
        /// Whether the server serves ranges.
        package var servesRanges: Bool
        /// The `--checksum` that will verify the whole file.
        package var checksum: Digest?
        /// Whether the caller wants to resume.
        package var wantsResume: Bool
        /// Whether the caller allows existing files to be overwritten.
        package var mayOverwrite: Bool
        /// Other full URLs that the caller gave for the same file.
        package var otherURLs: [String]
        /// The generation of a part of which a sample matched the server's bytes.
        ///
        /// Set only if the caller wants to continue that part although no validator identifies the
        /// version.
        package var sampled: String?
        /// Whether the URL is a new link to the same file, regardless of the URL with which the
        /// part was begun.
        package var isNewLink: Bool
        /// The digests that the server advertises and that will verify the whole file.
        package var advertised: [Digest]
        /// The redirect's target on another server; `nil` if the URL's own server offers the file.
        package var landing: LandingPlace?

        package init(
            manifest: Result<Manifest, Manifest.ReadError>?, partSize: Int64?,
            offered: RemoteIdentity, fullURL: String, url: String, servesRanges: Bool,
            checksum: Digest?, wantsResume: Bool, mayOverwrite: Bool,
            otherURLs: [String] = [], sampled: String? = nil, isNewLink: Bool = false,
            advertised: [Digest] = [], landing: LandingPlace? = nil
        ) {
            self.manifest = manifest
            self.partSize = partSize
            self.offered = offered
            self.fullURL = fullURL
            self.url = url
            self.servesRanges = servesRanges
            self.checksum = checksum
            self.wantsResume = wantsResume
            self.mayOverwrite = mayOverwrite
            self.otherURLs = otherURLs
            self.sampled = sampled
            self.isNewLink = isNewLink
            self.advertised = advertised
            self.landing = landing
        }

        var hasChecksum: Bool { checksum != nil }

        /// A copy for a caller without a checksum.
        fileprivate var withoutChecksum: Situation {
            var copy = self
            copy.checksum = nil
            return copy
        }
    }

    /// Makes the decision; each condition that prevents resuming has its own reason.
    package init(_ now: Situation, partPath: String, manifestPath: String) {
        let isPartEmpty = (now.partSize ?? 0) == 0
        switch now.manifest {
        case nil:
            guard !isPartEmpty else {
                self = .begin
                return
            }
            self = now.mayOverwrite ? .startOver(.manifestUnreadable) : .refuse(path: partPath)
        case .failure(.version(let version)):
            self = .startOver(.manifestVersion(version))
        case .failure(.unreadable(let isOurs)):
            let isOurs = isOurs || now.mayOverwrite
            self = isOurs ? .startOver(.manifestUnreadable) : .refuse(path: manifestPath)
        case .success(let manifest):
            if manifest.finished != nil, now.partSize == nil {
                // The manifest describes the finished file, not an interrupted download.
                self = .begin
            } else if let reason = Self.obstacle(manifest, now) {
                // If nothing is lost, there is nothing to report.
                let isEmpty = manifest.extents.extents.isEmpty && manifest.rejected == nil
                self = isEmpty ? .begin : .startOver(reason)
            } else if Self.obstacle(manifest, now.withoutChecksum) != nil {
                // Until the checksum is verified, the bytes may be of several files.
                self = .resume(manifest.heldByChecksum)
            } else {
                self = .resume(manifest)
            }
        }
    }

    private static func obstacle(_ manifest: Manifest, _ now: Situation) -> StartOverReason? {
        guard now.wantsResume else { return .notWanted }
        // The rejected digest may be the expected one after all. The digest is computed again at
        // the end.
        guard manifest.rejected == nil || manifest.rejected == now.checksum?.description else {
            return .rejected
        }
        guard now.partSize != nil else { return .partMissing }
        if now.isNewLink, !manifest.header.isFor(fullURL: now.fullURL) {
            return obstacleOfNewLink(manifest.header, now)
        }
        let obstacle = obstacleOfVersion(manifest.header, now)
        if !manifest.header.isFor(fullURL: now.fullURL),
            now.otherURLs.contains(where: manifest.header.isFor)
        {
            return obstacleOfMirror(manifest.header.identity, now, obstacle)
        }
        return Self.obstacle(manifest.header, now)
    }

    /// Returns why the offered version cannot be continued.
    ///
    /// If only a sample showed that the part is of one version, equal validators are not
    /// sufficient: the sample must match again.
    private static func obstacleOfVersion(
        _ header: Manifest.Header, _ now: Situation
    ) -> StartOverReason? {
        let obstacle = header.identity.obstacle(toContinuingWith: now.offered)
        guard header.isSampled == true, !isSampled(header, now) else { return obstacle }
        return obstacle ?? .noValidator
    }

    /// Returns why the file of `header` cannot be continued with the current offer.
    static func obstacle(_ header: Manifest.Header, _ now: Situation) -> StartOverReason? {
        if header.isFor(fullURL: now.fullURL), header.isSameServer(now.landing) != .yes {
            return obstacleOfOtherServer(header, now)
        }
        let obstacle = obstacleOfVersion(header, now)
        let mayBeProven =
            obstacle == .noValidator || header.identity.isDoubted(by: now.offered)
        if let obstacle, !(mayBeProven && (now.hasChecksum || isSampled(header, now))) {
            guard obstacle == .noValidator, isStated(header, now) else { return obstacle }
            if let change = changeOfDigest(header, now) { return change }
        }
        guard now.servesRanges else { return .noRanges }
        guard !header.isFor(fullURL: now.fullURL) else { return nil }
        // Another query may be a new signature for the same file; a strong entity tag or the
        // checksum must confirm that. Another path is another resource, whose tag may be equal by
        // chance, since many servers compute tags from size and time.
        let isSameResource =
            header.url == now.url && header.identity.hasSameStrongETag(as: now.offered)
        return isSameResource || now.hasChecksum ? nil : .urlChanged
    }

    /// Returns why a part that was begun with another link cannot be continued with this one.
    ///
    /// Validators of two servers may differ if a digest or a sample decides. Tags of the same
    /// resource are comparable: if they differ, a matching sample does not outweigh that.
    private static func obstacleOfNewLink(
        _ header: Manifest.Header, _ now: Situation
    ) -> StartOverReason? {
        let (begun, offered) = (header.identity, now.offered)
        let obstacle = obstacleOfVersion(header, now)
        guard begun.size != nil, begun.size == offered.size, begun.coding == offered.coding else {
            return obstacle ?? .noRanges
        }
        guard now.servesRanges else { return .noRanges }
        // Two different digests of one algorithm can never both match, so do not continue.
        let digests = (now.advertised + (now.checksum.map { [$0] } ?? header.required)).distinct
        guard Set(digests.map(\.algorithm)).count == digests.count else { return .urlChanged }
        if now.hasChecksum { return nil }
        if begun.hasSameStrongETag(as: offered) { return obstacle }
        if header.url == now.url, let obstacle, obstacle != .noValidator,
            header.isSameServer(now.landing) == .yes,
            !begun.isDoubted(by: offered)
        {
            return obstacle
        }
        let isShown = !now.advertised.isEmpty || isSampled(header, now)
        return isShown ? nil : obstacle ?? .noValidator
    }

    /// Returns whether a matching sample replaces a validator.
    ///
    /// A sample only covers the bytes that one server sent. If only a checksum can verify a part
    /// with bytes of several servers, a sample is not sufficient.
    private static func isSampled(_ header: Manifest.Header, _ now: Situation) -> Bool {
        now.sampled == header.generation && header.needsChecksum != true
    }

    /// Returns why a part cannot be continued if the redirect now leads to another server.
    ///
    /// Tags of different servers are not comparable, since different programs compute them. A
    /// digest that is verified at the end decides. Without one, a sample must match and the dates
    /// must not differ.
    private static func obstacleOfOtherServer(
        _ header: Manifest.Header, _ now: Situation
    ) -> StartOverReason? {
        let (begun, offered) = (header.identity, now.offered)
        guard let size = begun.size, size == offered.size else {
            return begun.size == nil && offered.size == nil
                ? .noRanges : .sizeChanged(was: begun.size, now: offered.size)
        }
        guard begun.coding == offered.coding else {
            return .codingChanged(was: begun.coding, now: offered.coding)
        }
        guard now.servesRanges else { return .noRanges }
        if now.hasChecksum { return nil }
        if isStated(header, now) { return changeOfDigest(header, now) }
        if header.isSameServer(now.landing) == .unknown {
            // It may still be the same server.
            let obstacle = obstacleOfVersion(header, now)
            return obstacle == .noValidator && isSampled(header, now) ? nil : obstacle
        }
        if let mine = begun.lastModified, let theirs = offered.lastModified, mine != theirs {
            return .lastModifiedChanged(was: mine, now: theirs)
        }
        return isSampled(header, now) ? nil : .otherServer
    }

    /// Returns whether a known digest will verify the whole file at the end: one that the server
    /// advertises, or one that the manifest requires.
    ///
    /// The digest is not sufficient if only the caller's checksum can verify the part, nor if a new
    /// sample must show that its bytes are of one version.
    private static func isStated(_ header: Manifest.Header, _ now: Situation) -> Bool {
        header.needsChecksum != true && header.isSampled != true
            && !(now.advertised.isEmpty && header.required.isEmpty)
    }

    /// Returns how an advertised digest differs from the one that was required when the part was
    /// begun.
    private static func changeOfDigest(
        _ header: Manifest.Header, _ now: Situation
    ) -> StartOverReason? {
        for was in header.required {
            let now = now.advertised.first { $0.algorithm == was.algorithm && $0 != was }
            if let now { return .digestChanged(was: was, now: now) }
        }
        return nil
    }

    /// Returns why a part that was begun with one mirror cannot be continued with another.
    ///
    /// Validators of two servers may differ if a checksum decides. Without a checksum, both must
    /// have the same strong entity tag.
    private static func obstacleOfMirror(
        _ begun: RemoteIdentity, _ now: Situation, _ obstacle: StartOverReason?
    ) -> StartOverReason? {
        guard now.servesRanges else { return .noRanges }
        if now.hasChecksum, begun.size != nil, begun.size == now.offered.size { return nil }
        if let obstacle { return obstacle }
        return begun.hasSameStrongETag(as: now.offered) ? nil : .urlChanged
    }
}
