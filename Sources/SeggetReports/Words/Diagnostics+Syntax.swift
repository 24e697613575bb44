package import Assembler
package import SeggetFormats
package import Segmenter

// Messages about malformed headers, checksums and rates.
extension Diagnostic {
    package static func describe(_ error: HeaderSyntaxError) -> String {
        switch error {
        case .noColon: "a header needs a colon: `Name: value`"
        case .badName(let name): "`\(PrintableText.escape(name))` is not the name of a header"
        case .badValue(let name):
            "the value of the header `\(name)` contains a line break or control character"
        case .reserved(let name):
            "segget sets the header `\(name)` itself" + reason(reserved: name.lowercased())
        }
    }

    /// Returns the reason why segget sets a header itself, as the end of a sentence.
    private static func reason(reserved name: String) -> String {
        switch name {
        case "accept-encoding":
            ": it requests the file's own bytes, because ranges of an encoded response cannot be assembled"
        case "range", "if-range": ": each request is for another part of the file"
        default: ""
        }
    }

    package static func describe(_ error: DigestSyntaxError) -> String {
        switch error {
        case .noSeparator:
            "a checksum is `ALGO:HEX`, or the hexadecimal digits alone: \(digestLengths)"
        case .unknownAlgorithm(let name):
            "the algorithm `\(PrintableText.escape(name))` is unknown; "
                + "segget supports \(DigestAlgorithm.allCases.map(\.rawValue).joined(separator: ", "))"
        case .wrongLength(let algorithm, let expected, let got):
            "a \(algorithm.rawValue) value has \(expected) hexadecimal digits, not \(got)"
                + (algorithms(ofLength: got).first.map { "; \($0.rawValue) has \(got)" } ?? "")
        case .notHexadecimal: "the value has characters that are not hexadecimal digits"
        }
    }

    /// The number of hexadecimal digits of each digest, as text: `sha-256 has 64, …`.
    private static var digestLengths: String {
        DigestAlgorithm.allCases.map { "\($0.rawValue) has \(2 * $0.byteCount)" }
            .joined(separator: ", ")
    }

    private static func algorithms(ofLength count: Int) -> [DigestAlgorithm] {
        DigestAlgorithm.allCases.filter { 2 * $0.byteCount == count }
    }

    package static func describe(_ error: RateSyntaxError) -> String {
        switch error {
        case .malformed:
            "a rate is in bytes per second, such as `500K` or `1.5M`, or in bits, such as `8Mbit`"
        case .ambiguous(let bytes, let bits):
            "a small `b` can mean bytes or bits: write `\(bytes)` for bytes, or `\(bits)` for bits"
        }
    }
}
