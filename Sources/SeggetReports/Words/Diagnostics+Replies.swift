import Assembler
import Segmenter

// What is wrong with a reply, in words.
extension Diagnostic {
    static func describe(_ breach: ContractBreach) -> String {
        switch breach {
        case .wholeFileForRange: "the whole file came in place of a range"
        case .unexpectedStatus(0): "the head of the reply cannot be read"
        case .unexpectedStatus(let code): "a range was answered with \(describe(status: code))"
        case .rangeNotSatisfiable: "the range lies outside the file (416)"
        case .rangeRefused: "the server refused a range that the file has (416)"
        case .contentRangeUnusable(nil): "`Content-Range` is missing"
        case .contentRangeUnusable(let value?): "`Content-Range: \(value)` is malformed"
        case .contentLengthUnusable(let value): "`Content-Length: \(value)` cannot be right"
        case .severalRanges: "several ranges came in one reply (`multipart/byteranges`), unasked"
        case .headTooLong: "the header of the reply is too long"
        case .otherRange(let asked, let got): "bytes \(asked) were asked for, \(got) came"
        case .otherSize(let expected, let got):
            "the size was \(exact(expected)) and is now \(exact(got))"
        case .otherLength(let expected, let got):
            "the length of the reply is \(exact(got)) in place of \(exact(expected))"
        case .otherETag(let expected, let got):
            "the ETag was \(show(expected)) and is now \(show(got))"
        case .otherLastModified(let expected, let got):
            "`Last-Modified` was \(show(expected)) and is now \(show(got))"
        case .contentCoding(let coding): "the reply is encoded as `\(coding)`, unasked"
        case .otherContentDigest(let range):
            "bytes \(range) do not have the digest that came with them (`Content-Digest`)"
        case .bodyTooLong: "more data came than had been announced"
        }
    }
}
