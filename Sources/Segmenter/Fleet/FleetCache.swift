import Assembler
import SegmenterValues

/// The Hub's cache as the place of the files of a fleet.
final class FleetCache: FleetDestination {
    private let snapshot: HubSnapshot
    private let plan: PlanFile
    private let run: HubRun?
    /// The blobs that are in their place, and right.
    private let given = Monitor<Set<String>>([])
    private let contents: Monitor<HubSnapshot.Contents>

    var path: String { snapshot.path }

    /// Opens the cache, and claims what is missing.
    ///
    /// - Parameters:
    ///   - fleet: The fleet, whose plan lists files of the Hub.
    ///   - path: The path of the cache.
    /// - Throws: `FleetError`.
    init(_ fleet: Fleet, _ path: String) throws(FleetError) {
        plan = fleet.plan
        do throws(SetError) {
            guard let address = plan.source.address.flatMap({ try? HubAddress($0) }) else {
                throw .noSet(folder: path)
            }
            var files: [Listing.File] = []
            for index in 0..<plan.count {
                do throws(PlanError) { files.append(try plan.file(at: index)) } catch {
                    throw .plan(error, path: plan.path)
                }
            }
            snapshot = try HubSnapshot(
                Listing(plan.source, files: files), nil, of: address, in: path)
            let found = try snapshot.examine()
            contents = Monitor(found)
            run =
                found.missing.isEmpty
                ? nil : try snapshot.claim(found.missing, copiesLeftovers: false)
            guard run != nil || found.missing.isEmpty else {
                let holder = snapshot.others(downloading: found.missing).holder
                throw .inUse(folder: snapshot.path, host: holder?.host, pid: holder?.pid)
            }
        } catch {
            throw FleetError(error)
        }
    }

    var bytesComplete: Int64 { contents.withLock { $0.bytesComplete } }

    private func blob(_ file: Listing.File) -> String { file.strongestDigest?.hex ?? "" }

    func examine(
        _ isCancelled: @Sendable () -> Bool
    ) throws(FleetError) -> (missing: Set<Int>, foreign: [String]) {
        let found = contents.withLock { $0 }
        let (absent, wrong) = (Set(found.missing), Set(found.wrong))
        var (missing, foreign) = (Set<Int>(), [String]())
        for index in 0..<plan.count {
            let file: Listing.File
            do throws(PlanError) { file = try plan.file(at: index) } catch {
                throw FleetError(error, at: plan.path)
            }
            if absent.contains(blob(file)) { missing.insert(index) }
            if wrong.contains(blob(file)) { foreign.append(file.path) }
        }
        return (missing, foreign)
    }

    func workFolder() throws(AssemblyError) -> Folder {
        guard let run else { throw .folderUnavailable(path: snapshot.path, errno: 2) }
        return try Folder(run.path)
    }

    func give(
        _ folder: Folder, _ name: String, isOwn: Bool, to file: Listing.File, _ index: Int,
        crc32: UInt32
    ) throws(AssemblyError) -> FleetFinisher.Published {
        let blob = blob(file)
        guard let run else { return .done }
        let work = try Folder(run.path)
        // Several paths may have one blob.
        if given.withLock({ $0.contains(blob) }) { return .done }
        // A file that an earlier run has left there was not verified.
        try work.remove(blob)
        let isGiven =
            isOwn
            ? try folder.moveWithoutReplacing(name, to: blob, in: work)
            : try folder.linkWithoutReplacing(name, to: blob, in: work)
        if !isGiven { return .needsCopy }
        run.deliver(blob)
        // Another process may have delivered a wrong one meanwhile.
        do throws(SetError) {
            let isRight = try snapshot.examine([blob]).isComplete
            if isRight { given.withLock { _ = $0.insert(blob) } }
            return isRight ? .done : .isForeign
        } catch {
            if case .assembly(let error) = error { throw error }
            return .isForeign
        }
    }

    func close(isComplete: Bool) throws(FleetError) {
        do throws(SetError) {
            try run?.end(isComplete: isComplete)
            var contents = contents.withLock { $0 }
            contents.add(try snapshot.examine(contents.missing))
            _ = try snapshot.link(contents)
        } catch {
            throw FleetError(error)
        }
    }
}
