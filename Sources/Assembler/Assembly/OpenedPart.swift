import Glibc

/// An open and locked part with its manifest and the extents of an earlier run.
struct OpenedPart {
    let file: PartialFile
    let journal: Journal
    /// An earlier run's extents, not verified against the data yet.
    let extents: [Extent]
    /// The reason why an earlier part was not continued, if there was one.
    let startedOver: StartOverReason?
    /// The `errno` of fallocate(2) if the file system cannot reserve space.
    let allocationProblem: Int32?

    /// Opens or creates the part, takes its lock, decides whether an earlier run is continued,
    /// writes the manifest, and reserves the space.
    ///
    /// May block on the disk.
    ///
    /// - Throws: `AssemblyError`; existing files remain unchanged.
    init(_ request: Assembly.Request) throws(AssemblyError) {
        let folder = try Folder(request.folder)
        try Publishing.checkDestination(request.name, in: folder, overwrite: request.mayReplace)
        let names = PartNames(request.name)
        if request.hasPart, try folder.status(of: names.part) == nil {
            throw .partGone(path: folder.path(of: names.part), .nameGone)
        }
        var file = try PartialFile(folder: folder, name: names.part)
        var resumed: Manifest?
        var made: Manifest.Header?
        var written: Journal?
        do throws(AssemblyError) {
            switch try Self.decide(request, in: folder, partSize: file.initialSize) {
            case .refuse(let path): throw .foreignPart(path: path)
            case .begin: startedOver = nil
            case .startOver(let reason): startedOver = reason
            case .resume(let manifest):
                startedOver = nil
                resumed = request.mirroring.continued(manifest)
                file.makePrivate()
            }
            // Check the space before removing anything; the old part's space counts as available.
            let isRoomKnown = try request.identity.size.map { (size) throws(AssemblyError) in
                try file.checkSpace(for: size)
            }
            if resumed == nil, (file.initialSize ?? 0) > 0 {
                // Create a new file, so that no bytes of the old part can remain in it.
                try folder.remove(file.name)
                file.unlock()
                file = try PartialFile(folder: folder, name: file.name)
            }
            // Write the manifest first: a part with a length but no manifest counts as foreign.
            let header = Self.header(request, resumed)
            made = header
            let opened = try Journal(
                folder: folder, names: names, header: header,
                records: JournalRewrite.records(for: resumed?.extents.extents ?? []))
            written = opened
            journal = opened
            if request.opensPart {
                for descriptor in [file.descriptor, opened.descriptor] {
                    fchmod(descriptor, 0o666 & ~processUmask())
                }
            }
            allocationProblem = try file.preallocate(
                request.identity.size, request.allocation, isDoubtful: isRoomKnown == false)
        } catch {
            // Throw the first error; an error of the cleanup is less informative.
            if resumed == nil, let written {
                try? written.remove()
            } else if resumed == nil,
                case .success(let there)? = try? Manifest.read(names.manifest, in: folder),
                there.header.generation == made?.generation
            {
                try? folder.remove(names.manifest)
            }
            if file.initialSize == nil { try? folder.remove(file.name) }
            throw error
        }
        self.file = file
        extents = resumed?.extents.extents ?? []
    }

    /// Returns the manifest's header: that of the continued part, or one of a new generation.
    static func header(_ request: Assembly.Request, _ resumed: Manifest?) -> Manifest.Header {
        guard var header = resumed?.header else { return newHeader(request) }
        if request.isNewLink, !header.isFor(fullURL: request.fullURL) {
            let isProven = header.identity.obstacle(toContinuingWith: request.identity) == nil
            // Record that only a sample matched: it does not verify the part permanently.
            if request.sampled == header.generation, !isProven { header.isSampled = true }
            if request.takesNewLink {
                header.move(
                    to: request.url, fullURL: request.fullURL, request.landing, request.identity)
            }
        }
        if header.isFor(fullURL: request.fullURL), header.isSameServer(request.landing) != .yes {
            if request.sampled == header.generation { header.isSampled = true }
            header.lead(to: request.landing, request.identity)
        }
        header.complete(request)
        return header
    }

    private static func newHeader(_ request: Assembly.Request) -> Manifest.Header {
        var header = Manifest.Header(
            identity: request.mirroring.recorded(request.identity), url: request.url,
            fullURL: request.fullURL, generation: UInt64.random(in: 0...UInt64.max),
            needsChecksum: request.mirroring.isHeldByChecksum)
        if let given = request.givenURL { header.note(given: given) }
        header.mirror = request.landing?.stored
        header.complete(request)
        return header
    }

    /// Decides what to do with an earlier run's part, without changing anything.
    ///
    /// - Parameters:
    ///   - request: The parameters of the assembly.
    ///   - folder: The folder of the destination.
    ///   - partSize: The length of the part in bytes; `nil` if there is no part.
    /// - Returns: The decision; the caller carries it out.
    /// - Throws: `notARegularFile`, `foreignPart`, `cannotCreate`, `io`.
    static func decide(
        _ request: Assembly.Request, in folder: Folder, partSize: Int64?
    ) throws(AssemblyError) -> ResumeDecision {
        let names = PartNames(request.name)
        let manifest = try Manifest.read(names.manifest, in: folder)
        try JournalRewrite.checkPlace(of: names, in: folder, overwrite: request.overwrite)
        if let reason = request.startOver { return .startOver(reason) }
        return ResumeDecision(
            .init(
                manifest: manifest, partSize: partSize, offered: request.identity,
                fullURL: request.fullURL, url: request.url, servesRanges: request.servesRanges,
                checksum: request.checksum, wantsResume: request.resume,
                mayOverwrite: request.overwrite, otherURLs: request.mirroring.otherURLs,
                sampled: request.sampled, isNewLink: request.isNewLink,
                advertised: request.advertised, landing: request.landing),
            partPath: folder.path(of: names.part), manifestPath: folder.path(of: names.manifest))
    }
}

extension Manifest.Header {
    /// Adds the facts that every header records.
    fileprivate mutating func complete(_ request: Assembly.Request) {
        require(request.required)
        // Record whether the server serves ranges now, regardless of the earlier run.
        isOneStream = request.servesRanges ? nil : true
    }
}
