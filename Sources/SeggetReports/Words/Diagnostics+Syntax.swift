package import Assembler
package import Segmenter

// What is wrong with a header or a checksum that was given, in words.
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
            "a checksum is given as `ALGO:HEX`; there is neither `:` nor `=`"
        case .unknownAlgorithm(let name):
            "the algorithm `\(PrintableText.escape(name))` is unknown; "
                + "known are \(DigestAlgorithm.allCases.map(\.rawValue).joined(separator: ", "))"
        case .wrongLength(let algorithm, let expected, let got):
            "a \(algorithm.rawValue) value has \(expected) hexadecimal digits, not \(got)"
        case .notHexadecimal: "the value holds something other than hexadecimal digits"
        }
    }
}
