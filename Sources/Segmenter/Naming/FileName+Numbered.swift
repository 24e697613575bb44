extension FileName {
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
