import Assembler

/// The names that the files of a batch take in one folder.
///
/// Pure: what it says depends on the order of the calls, on what stood in the folder at the
/// beginning, and on nothing else. Names are given in the order of the list, so that the same list
/// gives the same names in every run.
struct FolderNames: Sendable {
    /// Whose the part under a name is.
    enum Owner: Sendable, Hashable {
        /// An earlier run began it for this very URL.
        case own
        /// An earlier run began it for another file of this batch.
        case another
        /// There is none, or nobody in this batch has begun it.
        case nobody
    }

    private var taken: Set<String> = []
    /// The same names with their case folded.
    private var folded: Set<String> = []
    /// Whether names that differ in case only are one name in the folder; `nil` until that matters.
    private var foldsCase: Bool?
    /// The number to look from, by name: those below it are taken, or left to their owners.
    private var next: [String: Int] = [:]
    /// Numbers of the names that an earlier run has begun, by the name that they number.
    private var begun: [String: ArraySlice<Int>]
    /// The names of the files that stood there, which earlier runs may have begun.
    let begunNames: Set<String>

    /// Makes it for a folder with files of these names, which earlier runs may have begun.
    init(begun names: [String] = []) {
        begunNames = Set(names)
        var begun: [String: [Int]] = [:]
        for name in names {
            begun[name, default: []].append(0)
            for (original, number) in FileName.unnumbered(name) {
                begun[original, default: []].append(number)
            }
        }
        self.begun = begun.mapValues { $0.sorted()[...] }
    }

    /// Whether what stands at a name can only be a file of this run.
    func isNew(_ name: String) -> Bool { taken.contains(name) && !begunNames.contains(name) }

    /// Takes a name, if no file of the batch has it.
    ///
    /// - Parameters:
    ///   - name: The name.
    ///   - folds: Says whether names that differ in case only are one name in the folder; asked once, and
    ///     only if two of the batch do.
    /// - Returns: Whether it was taken.
    mutating func take(_ name: String, folds: () -> Bool = { false }) -> Bool {
        guard !isTaken(name, folds) else { return false }
        insert(name)
        return true
    }

    /// Takes the name, or the lowest number of it that no file of the batch has, if a file of that name exists.
    ///
    /// - Parameters:
    ///   - name: The name that is wanted.
    ///   - exists: Whether a file has a name in the folder; asked once.
    ///   - folds: As in ``take(_:folds:)``.
    /// - Returns: The name that was taken.
    mutating func takeExisting(
        _ name: String, exists: (String) -> Bool, folds: () -> Bool = { false }
    ) -> String? {
        var number = 0
        while isTaken(FileName.numbered(name, number), folds) { number += 1 }
        let candidate = FileName.numbered(name, number)
        guard exists(candidate) else { return nil }
        insert(candidate)
        return candidate
    }

    /// Takes the name, or the lowest number of it that is free; one that an earlier run has begun
    /// for this very file comes first.
    ///
    /// - Parameters:
    ///   - name: The name that is wanted.
    ///   - folds: As in ``take(_:folds:)``.
    ///   - owner: Says whose the part under a name is; asked for candidates only.
    /// - Returns: The name that was taken.
    mutating func claim(
        _ name: String, folds: () -> Bool = { false }, owner: (String) -> Owner
    ) -> String {
        // Of many files of one name, each would look at those of all before it.
        while let number = begun[name]?.first, isTaken(FileName.numbered(name, number), folds) {
            begun[name]?.removeFirst()
        }
        for number in begun[name] ?? [] {
            let candidate = FileName.numbered(name, number)
            if !isTaken(candidate, folds), owner(candidate) == .own {
                insert(candidate)
                return candidate
            }
        }
        var number = next[name] ?? 0
        var candidate = FileName.numbered(name, number)
        while isTaken(candidate, folds) || owner(candidate) == .another {
            number += 1
            candidate = FileName.numbered(name, number)
        }
        next[name] = number + 1
        insert(candidate)
        return candidate
    }

    private mutating func insert(_ name: String) {
        taken.insert(name)
        folded.insert(Self.folded(name))
    }

    private mutating func isTaken(_ name: String, _ folds: () -> Bool) -> Bool {
        // Most names are in neither.
        guard Self.isTaken(Self.folded(name), in: folded) else { return false }
        if Self.isTaken(name, in: taken) { return true }
        guard foldsCase != false else { return false }
        let folds = foldsCase ?? folds()
        foldsCase = folds
        return folds
    }

    private static func isTaken(_ name: String, in taken: Set<String>) -> Bool {
        if taken.contains(name) { return true }
        return PartNames.suffixes.contains { suffix in
            taken.contains(name + suffix)
                || name.hasSuffix(suffix) && taken.contains(String(name.dropLast(suffix.count)))
        }
    }

    /// A name as file systems compare it that ignore case: at least all that any of them takes for one name comes
    /// to one text.
    private static func folded(_ name: String) -> String { name.uppercased().lowercased() }
}
