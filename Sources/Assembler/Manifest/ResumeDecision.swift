/// What to do with what an earlier run left at the part's and the manifest's names.
///
/// Pure.
package enum ResumeDecision: Sendable {
    /// Nothing was left: begin.
    case begin
    /// Continue; every extent is still to be checked against the data.
    case resume(Manifest)
    /// What was left cannot be continued: begin again, and say why.
    case startOver(StartOverReason)
    /// What stands at this path is not known to be segget's.
    case refuse(path: String)

    /// What is known when deciding.
    package struct Situation {
        /// The manifest, `nil` when there is none.
        package var manifest: Result<Manifest, Manifest.Problem>?
        /// Length of the part in bytes, `nil` when there is none.
        package var partSize: Int64?
        /// What the server offers now.
        package var offered: RemoteIdentity
        /// The full URL, with query.
        package var fullURL: String
        /// The URL without credentials and query.
        package var url: String
        /// Whether the server serves ranges.
        package var servesRanges: Bool
        /// The `--checksum` that will prove the whole file.
        package var checksum: Digest?
        /// Whether the caller wants to continue.
        package var wantsResume: Bool
        /// Whether the caller allows what stands there to be replaced.
        package var mayOverwrite: Bool
        /// Further full URLs that the caller gave for the same file.
        package var otherURLs: [String]
        /// The generation of a part of which a sample was found to be what the server sends, and
        /// which the caller wants to continue although nothing proves that it is the same file.
        package var sampled: String?
        /// Whether the URL is a new link to the same file, whatever URL has begun the part.
        package var isNewLink: Bool
        /// The digests that the server advertises, which the whole file will be compared with.
        package var advertised: [Digest]
        /// Where a redirect has led; `nil` where the URL's own server offers the file.
        package var landing: LandingPlace?

        package init(
            manifest: Result<Manifest, Manifest.Problem>?, partSize: Int64?,
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

        /// The same for a caller who expects no digest.
        var withoutChecksum: Situation {
            var copy = self
            copy.checksum = nil
            return copy
        }
    }

    /// Decides; each condition for resuming that does not hold has its own reason.
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
                // Kept for the finished file, not left by an earlier run.
                self = .begin
            } else if let reason = Self.obstacle(manifest, now) {
                // Where nothing is lost there is nothing to report.
                let isEmpty = manifest.extents.extents.isEmpty && manifest.rejected == nil
                self = isEmpty ? .begin : .startOver(reason)
            } else if Self.obstacle(manifest, now.withoutChecksum) != nil {
                // Its bytes may be of several files until the checksum has been compared.
                self = .resume(manifest.heldByChecksum)
            } else {
                self = .resume(manifest)
            }
        }
    }

    private static func obstacle(_ manifest: Manifest, _ now: Situation) -> StartOverReason? {
        guard now.wantsResume else { return .notWanted }
        // The digest that it had may be the right one after all: it is computed anew in the end.
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

    /// What of the version speaks against continuing it; equal validators do not prove what only a sample
    /// held together, whoever sends them.
    private static func obstacleOfVersion(
        _ header: Manifest.Header, _ now: Situation
    ) -> StartOverReason? {
        let obstacle = header.identity.obstacle(toContinuingWith: now.offered)
        guard header.isSampled == true, !isSampled(header, now) else { return obstacle }
        return obstacle ?? .noValidator
    }

    /// Why bytes of the file that `header` is about cannot be continued with what is offered now.
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
        // Another query may be a fresh signature for the same file; a strong entity tag or the
        // checksum must say so. Another path is another resource, whose tags may be equal by chance:
        // many servers make them of size and time.
        let isSameResource =
            header.url == now.url && header.identity.hasSameStrongETag(as: now.offered)
        return isSameResource || now.hasChecksum ? nil : .urlChanged
    }

    /// Why what was begun with another link cannot be continued with this one.
    ///
    /// Validators of two servers need not be equal where a digest or a sample decides. Tags of one resource
    /// are comparable: where they differ, a sample does not outweigh them.
    private static func obstacleOfNewLink(
        _ header: Manifest.Header, _ now: Situation
    ) -> StartOverReason? {
        let (begun, offered) = (header.identity, now.offered)
        let obstacle = obstacleOfVersion(header, now)
        guard begun.size != nil, begun.size == offered.size, begun.coding == offered.coding else {
            return obstacle ?? .noRanges
        }
        guard now.servesRanges else { return .noRanges }
        // What cannot become the whole file that is expected is not begun.
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

    /// Whether a sample may stand in for a validator: not where bytes of several servers are held
    /// together by a checksum, as it would only speak for those that it was taken from.
    private static func isSampled(_ header: Manifest.Header, _ now: Situation) -> Bool {
        now.sampled == header.generation && header.needsChecksum != true
    }

    /// Why what was begun with the server that a redirect led to cannot be continued with the one that it
    /// leads to now.
    ///
    /// Their tags do not compare: other programs make them. A digest decides in the end; where none does, the
    /// same strong date, and a sample besides.
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
            // It may well be the same one.
            let obstacle = obstacleOfVersion(header, now)
            return obstacle == .noValidator && isSampled(header, now) ? nil : obstacle
        }
        if let mine = begun.lastModified, let theirs = offered.lastModified, mine != theirs {
            return .lastModifiedChanged(was: mine, now: theirs)
        }
        return isSampled(header, now) ? nil : .otherServer
    }

    /// Whether a digest is stated that the whole file is compared with in the end: by the server, or written
    /// down when the part was begun.
    ///
    /// Not where only a checksum of the caller's holds the bytes together, nor where a sample was to show
    /// anew that they are of one version.
    private static func isStated(_ header: Manifest.Header, _ now: Situation) -> Bool {
        header.needsChecksum != true && header.isSampled != true
            && !(now.advertised.isEmpty && header.required.isEmpty)
    }

    /// How the digest that the server states differs from the one that it stated when the part was begun.
    private static func changeOfDigest(
        _ header: Manifest.Header, _ now: Situation
    ) -> StartOverReason? {
        for was in header.required {
            let now = now.advertised.first { $0.algorithm == was.algorithm && $0 != was }
            if let now { return .digestChanged(was: was, now: now) }
        }
        return nil
    }

    /// Why what was begun with one mirror cannot be continued with another one.
    ///
    /// Validators of two servers need not be equal where a checksum decides; where none does, a strong
    /// entity tag has to be.
    private static func obstacleOfMirror(
        _ begun: RemoteIdentity, _ now: Situation, _ obstacle: StartOverReason?
    ) -> StartOverReason? {
        guard now.servesRanges else { return .noRanges }
        if now.hasChecksum, begun.size != nil, begun.size == now.offered.size { return nil }
        if let obstacle { return obstacle }
        return begun.hasSameStrongETag(as: now.offered) ? nil : .urlChanged
    }
}
