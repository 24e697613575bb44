public import Segmenter

/// The figures of a plan, as text.
public struct PlanSummary: Sendable {
    /// One line: the files, their bytes, the largest, and what verifies them.
    public let text: String

    /// Summarizes a listing.
    public init(_ listing: Listing) {
        let files = listing.files
        var parts = [Units.count(Int64(files.count), "file")]
        let known = files.compactMap(\.size)
        if let size = listing.size {
            parts[0] += ", \(Units.size(size))"
        } else if !known.isEmpty {
            parts[0] +=
                ", the size of \(Units.count(Int64(files.count - known.count), "file")) is unknown"
        }
        let largest = files.max { $0.size ?? -1 < $1.size ?? -1 }
        if files.count > 1, let largest, let size = largest.size {
            parts.append("largest: \(largest.path) (\(Units.size(size)))")
        }
        var proofs: [(String, Int)] = []
        for file in files {
            let proof = Self.proof(of: file)
            if let index = proofs.firstIndex(where: { $0.0 == proof }) {
                proofs[index].1 += 1
            } else {
                proofs.append((proof, 1))
            }
        }
        if !proofs.isEmpty {
            let words = proofs.map { proofs.count == 1 ? $0.0 : "\($0.0) (\($0.1))" }
            parts.append("verified by: " + words.joined(separator: ", "))
        }
        if listing.isSigned { parts.append("some links are signed and will expire") }
        text = PrintableText.escape(parts.joined(separator: "; "))
    }

    /// Returns what shows that a file is the planned one.
    private static func proof(of file: Listing.File) -> String {
        if let digest = file.strongestDigest { return digest.algorithm.rawValue }
        guard let pin = file.pin else { return "nothing" }
        if pin.etag != nil { return "ETag" }
        return pin.lastModified == nil ? "size" : "Last-Modified"
    }
}
