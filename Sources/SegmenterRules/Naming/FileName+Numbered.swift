extension FileName {
    /// Returns the original names and numbers from which a numbered name may have been made.
    ///
    /// Each component that is a number gives one result. If a name was shortened when it was
    /// numbered, its original is not found.
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
