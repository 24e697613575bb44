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
    mutating func take(_ name: String) -> Bool {
        guard !isTaken(name) else { return false }
        taken.insert(name)
        return true
    }

    /// Takes the name, or the lowest number of it that is free; one that an earlier run has begun
    /// for this very file comes first.
    ///
    /// - Parameters:
    ///   - name: The name that is wanted.
    ///   - owner: Says whose the part under a name is; asked for candidates only.
    /// - Returns: The name that was taken.
    mutating func claim(_ name: String, owner: (String) -> Owner) -> String {
        // Of many files of one name, each would look at those of all before it.
        while let number = begun[name]?.first, isTaken(FileName.numbered(name, number)) {
            begun[name]?.removeFirst()
        }
        for number in begun[name] ?? [] {
            let candidate = FileName.numbered(name, number)
            if !isTaken(candidate), owner(candidate) == .own {
                taken.insert(candidate)
                return candidate
            }
        }
        var number = next[name] ?? 0
        var candidate = FileName.numbered(name, number)
        while isTaken(candidate) || owner(candidate) == .another {
            number += 1
            candidate = FileName.numbered(name, number)
        }
        next[name] = number + 1
        taken.insert(candidate)
        return candidate
    }

    private func isTaken(_ name: String) -> Bool {
        if taken.contains(name) { return true }
        return PartNames.suffixes.contains { suffix in
            taken.contains(name + suffix)
                || name.hasSuffix(suffix) && taken.contains(String(name.dropLast(suffix.count)))
        }
    }
}
