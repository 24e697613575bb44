package import Assembler
package import SeggetFormats
package import Segmenter

// What is wrong with a header, a checksum or a rate that was given, in words.
extension Diagnostic {
    package static func describe(_ error: HeaderSyntaxError) -> String {
        switch error {
        case .noColon: "a header is given as `Name: value`; there is no colon"
        case .badName(let name): "`\(PrintableText.escape(name))` is not the name of a header"
        case .badValue(let name):
            "the value of the header `\(name)` holds a line break or control character"
        case .reserved(let name):
            "segget sets the header `\(name)` itself" + reason(reserved: name.lowercased())
        }
    }

    /// Why a header is segget's own.
    private static func reason(reserved name: String) -> String {
        switch name {
        case "accept-encoding":
            ": it asks for the file's own bytes, because the parts of an encoded reply cannot be put together"
        case "range", "if-range": ": each of its requests asks for another part of the file"
        default: ""
        }
    }

    package static func describe(_ error: DigestSyntaxError) -> String {
        switch error {
        case .noSeparator:
            "a checksum is `ALGO:HEX`, or the hexadecimal digits alone: \(digestLengths)"
        case .unknownAlgorithm(let name):
            "the algorithm `\(PrintableText.escape(name))` is unknown; "
                + "known are \(DigestAlgorithm.allCases.map(\.rawValue).joined(separator: ", "))"
        case .wrongLength(let algorithm, let expected, let got):
            "a \(algorithm.rawValue) value has \(expected) hexadecimal digits, not \(got)"
                + (algorithms(ofLength: got).first.map { "; \($0.rawValue) has \(got)" } ?? "")
        case .notHexadecimal: "the value holds something other than hexadecimal digits"
        }
    }

    /// The length of each digest: `sha-256 has 64, …`.
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
