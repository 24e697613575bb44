public import SeggetFormats
import Segmenter

// Messages about errors in a list of files.
extension Diagnostic {
    /// Returns the error with its line number, without any value of the list.
    public static func describe(_ problem: InputFile.LineError) -> String {
        "line \(problem.line): \(describe(problem.kind))"
    }

    /// Returns the error in a line or in a file's option, without the value.
    public static func describe(_ problem: InputFile.LineError.Kind) -> String {
        switch problem {
        case .damagedCompression: "the compressed list is damaged, or too long"
        case .notUTF8: "the line is not UTF-8"
        case .controlCharacter: "the line has a control character"
        case .optionWithoutURL: "there is an option before the first URL"
        case .notAnOption: "an indented line must be an option: `name=value`"
        case .unknownOption(let name): "the option \(quote(name)) is unknown"
        case .badValue(let name, let expected): "\(quote(name)) takes \(expected)"
        case .reservedHeader(let name): describe(HeaderSyntaxError.reserved(name: name))
        }
    }
}
