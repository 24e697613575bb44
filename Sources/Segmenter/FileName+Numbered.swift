extension FileName {
    /// The name with a number before its extension: `big.iso` becomes `big.1.iso`, `x.tar.gz`
    /// becomes `x.1.tar.gz`; 0 leaves it as it is.
    ///
    /// Cut where it would be longer than `longest` bytes.
    static func numbered(_ name: String, _ number: Int) -> String {
        guard number > 0 else { return name }
        let end = name.endIndex
        // A dot in front makes no extension, and what is long is none.
        var dot = name.dropFirst().lastIndex(of: ".") ?? end
        if name[dot...].utf8.count > 32 { dot = end }
        if name[..<dot].lowercased().hasSuffix(".tar"), dot != end {
            let tar = name.index(dot, offsetBy: -4)
            if tar != name.startIndex { dot = tar }
        }
        let suffix = ".\(number)" + name[dot...]
        return prefix(of: name[..<dot], bytes: longest - suffix.utf8.count) + suffix
    }

    /// What a numbered name may have been made of: each reading of one of its components as a
    /// number.
    ///
    /// A name that was cut to be numbered is not found again.
    static func unnumbered(_ name: String) -> [(name: String, number: Int)] {
        let parts = name.split(separator: ".", omittingEmptySubsequences: false)
        return parts.indices.dropFirst().compactMap { index in
            guard let number = Int(parts[index]), number > 0 else { return nil }
            var rest = parts
            rest.remove(at: index)
            let original = rest.joined(separator: ".")
            return numbered(original, number) == name ? (original, number) : nil
        }
    }
}
