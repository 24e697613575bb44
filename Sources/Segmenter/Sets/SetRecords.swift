import Assembler
import SegmenterValues

/// The records of a set's ledger about the files of a plan.
///
/// Memory holds 17 bytes for each file.
struct SetRecords {
    /// The state of a file, by its last records.
    enum State: UInt8 {
        /// No record says that the file is complete.
        case none
        /// The file is complete, and on the disk as recorded.
        case complete
        /// The file was complete, and now is another one, is missing, or another version is planned.
        case doubtful
    }

    private(set) var states: [State]
    /// The records of files that are or were complete; `nil` for none.
    private(set) var places: [LedgerFile.Place?]
    /// The sizes of complete files in bytes.
    private var sizes: [Int64]
    /// The records of the last failures, by the index of the file.
    private(set) var failures: [UInt32: LedgerFile.Place] = [:]
    /// The records of complete files that the plan does not list.
    private(set) var extras: [String: LedgerFile.Place] = [:]
    /// The time since when the state of an unpinned file is known, in seconds since 1970.
    private(set) var asOf: Int64?
    /// The number of records.
    private var count = 0

    /// Reads the ledger, and compares each complete file with the one on the disk.
    ///
    /// - Throws: `io`.
    init(_ ledger: LedgerFile?, _ plan: PlanFile, in folder: Folder) throws(AssemblyError) {
        states = Array(repeating: .none, count: plan.count)
        places = Array(repeating: nil, count: plan.count)
        sizes = Array(repeating: 0, count: plan.count)
        guard let ledger else { return }
        try ledger.forEachMark { mark, place in
            count += 1
            guard let index = plan.index(of: mark.path) else {
                switch mark.event {
                case .complete: extras[mark.path] = place
                case .removed: extras[mark.path] = nil
                case .failed: break
                }
                return
            }
            let status = try? folder.status(of: mark.path)
            take(mark, place, index, plan, isIntact: mark.isIntact(status))
        }
    }

    /// Reads the ledger in the folder of a set, while another run may write it.
    ///
    /// - Parameters:
    ///   - plan: The plan of the set.
    ///   - root: The folder.
    /// - Returns: The ledger, `nil` if there is none, and its records.
    /// - Throws: `SetError`.
    static func read(
        _ plan: PlanFile, in root: Folder
    ) throws(SetError) -> (ledger: LedgerFile?, records: SetRecords) {
        var ledger: LedgerFile?
        do throws(LedgerFile.Failure) {
            if let folder = root.folder(PlanFormat.recordFolder) {
                ledger = try LedgerFile(reading: plan.set, in: folder)
            }
        } catch {
            throw SetError(error, folder: root.path)
        }
        do throws(AssemblyError) {
            return (ledger, try SetRecords(ledger, plan, in: root))
        } catch {
            throw .assembly(error)
        }
    }

    private mutating func take(
        _ mark: LedgerMark, _ place: LedgerFile.Place, _ index: Int, _ plan: PlanFile,
        isIntact: Bool
    ) {
        switch mark.event {
        case .failed: failures[UInt32(index)] = place
        case .removed: (states[index], places[index]) = (.none, nil)
        case .complete:
            let version = plan.version(at: index)
            let isPlanned = mark.version == PlanFormat.hex(version)
            places[index] = place
            states[index] = isIntact && isPlanned ? .complete : .doubtful
            sizes[index] = mark.size ?? 0
            failures[UInt32(index)] = nil
            if version == Listing.File.openVersion { asOf = min(asOf ?? .max, mark.at) }
        }
    }

    /// Returns the recorded size of a complete file, in bytes.
    func size(of index: Int) -> Int64 { sizes[index] }

    /// Records that a file is complete; `size` in bytes.
    mutating func complete(_ index: Int, size: Int64) {
        states[index] = .complete
        sizes[index] = size
        failures[UInt32(index)] = nil
    }

    /// Records that the download of a file failed.
    mutating func fail(_ index: UInt32) { failures[index] = failures[index] ?? .unknown }

    /// Whether the ledger has many records that later ones have superseded.
    var isWorthARewrite: Bool {
        let kept = places.count { $0 != nil } + failures.count + extras.count
        return count > 2 * kept + 1000
    }

    /// Returns the records that are needed.
    var kept: Set<LedgerFile.Place> {
        Set(places.compactMap(\.self)).union(failures.values).union(extras.values)
    }

    /// The figures of the set.
    func figures(of plan: PlanFile) -> SetFigures {
        var figures = SetFigures(files: plan.count, bytes: plan.size, failed: failures.count)
        for index in states.indices where states[index] == .complete {
            figures.complete += 1
            figures.bytesComplete += sizes[index]
        }
        return figures
    }
}
