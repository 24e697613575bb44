import SegmenterValues

/// The paths of a plan, as hashes, to find those that cannot exist together.
///
/// Memory holds 16 bytes for each file, and a hash for each folder. Pure.
struct PlanPaths {
    private let foldsCase: Bool
    private var files: [(hash: Int, index: UInt32)] = []
    private var folders: Set<Int> = []
    private var lastFolder = ""

    init(foldsCase: Bool) { self.foldsCase = foldsCase }

    mutating func add(_ path: String) {
        let path = folded(path)
        files.append((path.hashValue, UInt32(truncatingIfNeeded: files.count)))
        guard let slash = path.lastIndex(of: "/") else { return }
        var folder = path[..<slash]
        guard folder != lastFolder else { return }
        lastFolder = String(folder)
        while folders.insert(String(folder).hashValue).inserted,
            let slash = folder.lastIndex(of: "/")
        {
            folder = folder[..<slash]
        }
    }

    private func folded(_ path: String) -> String { foldsCase ? path.lowercased() : path }

    /// Checks that all files can exist together.
    ///
    /// - Parameter file: Reads the file at an index.
    /// - Returns: The indices of files that repeat an earlier one.
    /// - Throws: `duplicate`, `folderIsFile`; the errors of `file`.
    mutating func check(
        _ file: (Int) throws(PlanError) -> Listing.File
    ) throws(PlanError) -> Set<Int> {
        files.sort { ($0.hash, $0.index) < ($1.hash, $1.index) }
        var repeated: Set<Int> = []
        var suspects: [Int] = []
        var start = files.startIndex
        while start < files.endIndex {
            let end = files[start...].firstIndex { $0.hash != files[start].hash } ?? files.endIndex
            let group = files[start..<end].map { Int($0.index) }
            if group.count > 1 {
                try compare(group, &repeated, file)
            }
            if folders.contains(files[start].hash) { suspects += group }
            start = end
        }
        try compareFolders(suspects, file)
        return repeated
    }

    /// Compares files whose paths have the same hash.
    private func compare(
        _ group: [Int], _ repeated: inout Set<Int>,
        _ file: (Int) throws(PlanError) -> Listing.File
    ) throws(PlanError) {
        var kept: [(index: Int, path: String, digests: [Digest])] = []
        for index in group {
            let entry = try file(index)
            let path = folded(entry.path)
            guard let earlier = kept.first(where: { $0.path == path }) else {
                kept.append((index, path, entry.digests))
                continue
            }
            guard earlier.digests.contains(where: entry.digests.contains) else {
                throw PlanError(
                    .duplicate(entry.path, line: earlier.index + 2), line: index + 2)
            }
            repeated.insert(index)
        }
    }

    /// Finds a file whose path is that of a folder, among files whose hashes suggest that.
    private func compareFolders(
        _ suspects: [Int], _ file: (Int) throws(PlanError) -> Listing.File
    ) throws(PlanError) {
        guard !suspects.isEmpty else { return }
        var paths: [String: Int] = [:]
        for index in suspects { paths[folded(try file(index).path)] = index }
        for number in files.indices {
            var folder = folded(try file(number).path)[...]
            while let slash = folder.lastIndex(of: "/") {
                folder = folder[..<slash]
                if let index = paths[String(folder)] {
                    throw PlanError(.folderIsFile(try file(index).path), line: index + 2)
                }
            }
        }
    }
}
