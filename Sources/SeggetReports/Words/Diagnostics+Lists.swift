public import SeggetFormats
import Segmenter

// What is wrong with a list of files, in words.
extension Diagnostic {
    /// What is wrong with a list, and on which line; no value of it is repeated.
    public static func describe(_ problem: InputFile.Problem) -> String {
        "line \(problem.line): \(describe(problem.kind))"
    }

    /// What is wrong with a line, or with an option of a file; no value is repeated.
    public static func describe(_ problem: InputFile.Problem.Kind) -> String {
        switch problem {
        case .damagedCompression: "this list is compressed, and damaged or too long"
        case .notUTF8: "this is not UTF-8"
        case .controlCharacter: "there is a control character in it"
        case .optionWithoutURL: "an option stands before the first URL"
        case .notAnOption: "an indented line is an option, as `name=value`"
        case .unknownOption(let name): "the option \(quote(name)) is unknown"
        case .badValue(let name, let expected): "\(quote(name)) takes \(expected)"
        case .reservedHeader(let name): describe(HeaderSyntaxError.reserved(name: name))
        }
    }
}
