import Assembler
import Glibc
import SegmenterValues

// Files of a plan in the Hub's cache, and what segget has recorded about them.
extension HubSnapshot {
    /// Returns the path of a repository's folder in the cache.
    ///
    /// - Parameters:
    ///   - address: The address on the Hub.
    ///   - root: The path of the cache.
    /// - Returns: The path.
    package static func folder(of address: HubAddress, in root: String) -> String {
        HubCache(root, address).path
    }

    /// Opens the cache for the files of a plan.
    ///
    /// - Parameters:
    ///   - plan: The plan, whose source is the Hub.
    ///   - root: The path of the cache.
    ///   - writes: Whether the cache is created if it is missing, and written.
    /// - Throws: `SetError`.
    package convenience init(
        _ plan: PlanFile, in root: String, writes: Bool = true
    ) throws(SetError) {
        let listing: Listing
        do throws(PlanError) {
            var files: [Listing.File] = []
            for index in 0..<plan.count { files.append(try plan.file(at: index)) }
            listing = Listing(plan.source, files: files)
        } catch {
            throw .plan(error, path: plan.path)
        }
        let address = plan.source.address.flatMap { try? HubAddress($0) }
        guard let address, plan.source.kind == .hub else {
            throw .plan(PlanError(.badAddress), path: plan.path)
        }
        try self.init(listing, nil, of: address, in: root, writes: writes)
    }

    /// Records why blobs are missing or wrong.
    ///
    /// - Parameter failures: The reasons, by the names of the blobs.
    /// - Throws: `SetError`.
    package func record(_ failures: [String: SetFailure]) throws(SetError) {
        guard isWritable else { return }
        let now = Int64(time(nil))
        let records = failures.map { name, failure in
            var record = LedgerRecord(path: name, event: .failed, at: now)
            (record.kind, record.code) = (failure.kind, failure.code)
            (record.message, record.hint) = (failure.message, failure.hint)
            return record
        }
        guard !records.isEmpty else { return }
        do throws(AssemblyError) { try ledger?.append(records) } catch { throw .assembly(error) }
    }

    /// Returns what is recorded about the blobs; reads none of them.
    ///
    /// - Returns: The names of blobs that are verified, and on the disk as recorded; and the last
    ///   failures of others.
    /// - Throws: `SetError`.
    package func recorded() throws(SetError) -> (
        complete: Set<String>, failures: [String: SetFailure]
    ) {
        var (complete, failures) = (Set<String>(), [String: SetFailure]())
        var last: [String: (mark: LedgerMark, place: LedgerFile.Place)] = [:]
        do throws(AssemblyError) {
            try ledger?.forEachMark { last[$0.path] = ($0, $1) }
            for name in order {
                guard let (mark, place) = last[name] else { continue }
                if mark.event == .failed {
                    failures[name] = SetFailure(ledger?.record(at: place))
                } else if let there = try cache.open(name), mark.isIntact(there.status) {
                    complete.insert(name)
                }
            }
        } catch {
            throw .assembly(error)
        }
        return (complete, failures)
    }

    /// Removes the parts of missing blobs, unless a run is downloading them.
    ///
    /// - Throws: `SetError`.
    package func removeParts() throws(SetError) {
        guard isWritable else { return }
        do throws(AssemblyError) {
            let runs = HubRuns(folder: try Folder("\(cache.path)/\(HubCache.own)"))
            if let own = try runs.claim(missing(of: order)) { runs.discard(own) }
        } catch {
            throw .assembly(error)
        }
    }
}
