/// Assigns the names of a batch's files in one folder.
///
/// Pure. The results depend only on the order of the calls and on the initial content of the
/// folder. Names are assigned in the order of the list, so every run of a list assigns the same
/// names.
package struct FolderNames: Sendable {
    /// The file to which the part with a name belongs.
    package enum Owner: Sendable, Hashable {
        /// An earlier run began the part for the same URL.
        case own
        /// An earlier run began the part for another file of this batch.
        case another
        /// There is no part, or it belongs to no file of this batch.
        case nobody
    }

    private var taken: Set<String> = []
    /// The same names in case-folded form.
    private var folded: Set<String> = []
    /// Whether a taken name is that of a part or manifest of another name.
    private var hasParts = false
    /// Whether the folder ignores case in names; `nil` until that matters.
    private var foldsCase: Bool?
    /// The lowest number to try, by name; lower numbers are taken or belong to other files.
    private var next: [String: Int] = [:]
    /// The numbers of names that exist in the folder, by the name without the number.
    private var begun: [String: ArraySlice<Int>]
    /// The initial names in the folder, which earlier runs may have begun.
    package let begunNames: Set<String>

    /// Creates a value for a folder with files of these names, which earlier runs may have begun.
    package init(begun names: [String] = []) {
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

    /// Returns whether a file with this name can only have been created by this run.
    package func isNew(_ name: String) -> Bool {
        taken.contains(name) && !begunNames.contains(name)
    }

    /// Takes a name unless another file of the batch has it.
    ///
    /// - Parameters:
    ///   - name: The name.
    ///   - folds: Returns whether the folder ignores case in names. Called at most once, and only
    ///     if two names of the batch differ only in case.
    /// - Returns: Whether the name was taken.
    package mutating func take(_ name: String, folds: () -> Bool = { false }) -> Bool {
        guard !isTaken(name, folds) else { return false }
        insert(name)
        return true
    }

    /// Takes the name, or its lowest number that no other file has, if a file of that name exists.
    ///
    /// - Parameters:
    ///   - name: The name, without a number.
    ///   - exists: Returns whether the folder has a file of a name; called once.
    ///   - folds: As in ``take(_:folds:)``.
    /// - Returns: The name that was taken; `nil` if the file does not exist.
    package mutating func takeExisting(
        _ name: String, exists: (String) -> Bool, folds: () -> Bool = { false }
    ) -> String? {
        var number = 0
        while isTaken(FileName.numbered(name, number), folds) { number += 1 }
        let candidate = FileName.numbered(name, number)
        guard exists(candidate) else { return nil }
        insert(candidate)
        return candidate
    }

    /// Takes the name or its lowest free number; prefers a name that an earlier run began for the
    /// file.
    ///
    /// - Parameters:
    ///   - name: The name, without a number.
    ///   - folds: As in ``take(_:folds:)``.
    ///   - owner: Returns the owner of the part with a name; called for candidates only.
    /// - Returns: The name that was taken.
    package mutating func claim(
        _ name: String, folds: () -> Bool = { false }, owner: (String) -> Owner
    ) -> String {
        // Taken numbers are removed here, so that many files of one name do not check them
        // repeatedly.
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
        let plain = Self.folded(name)
        taken.insert(name)
        folded.insert(plain)
        hasParts = hasParts || PartNames.suffixes.contains(where: plain.hasSuffix)
    }

    private mutating func isTaken(_ name: String, _ folds: () -> Bool) -> Bool {
        // Most names are in neither set.
        guard isTaken(Self.folded(name), in: folded) else { return false }
        if isTaken(name, in: taken) { return true }
        guard foldsCase != false else { return false }
        let folds = foldsCase ?? folds()
        foldsCase = folds
        return folds
    }

    private func isTaken(_ name: String, in taken: Set<String>) -> Bool {
        if taken.contains(name) { return true }
        return PartNames.suffixes.contains { suffix in
            hasParts && taken.contains(name + suffix)
                || name.hasSuffix(suffix) && taken.contains(String(name.dropLast(suffix.count)))
        }
    }

    /// Returns a name in case-folded form.
    ///
    /// Names that any file system with case folding treats as equal have equal results.
    private static func folded(_ name: String) -> String { name.uppercased().lowercased() }
}
