import Assembler
import Segmenter

// Messages about responses that do not match their request.
extension Diagnostic {
    static func describe(_ breach: ContractBreach) -> String {
        switch breach {
        case .wholeFileForRange: "the server sent the whole file instead of a range"
        case .unexpectedStatus(0): "the response's header section cannot be read"
        case .unexpectedStatus(let code):
            "the server answered a range request with \(describe(status: code))"
        case .rangeNotSatisfiable: "the range lies outside the file (416)"
        case .rangeRefused: "the server refused a range that the file has (416)"
        case .contentRangeUnusable(nil): "`Content-Range` is missing"
        case .contentRangeUnusable(let value?): "`Content-Range: \(value)` is malformed"
        case .contentLengthUnusable(let value): "`Content-Length: \(value)` cannot be right"
        case .severalRanges:
            "the server sent several ranges in one response (`multipart/byteranges`), though one was requested"
        case .headTooLong: "the response's header section is too long"
        case .otherRange(let asked, let got): "bytes \(asked) were requested, \(got) were sent"
        case .otherSize(let expected, let got):
            "the size was \(exact(expected)) and is now \(exact(got))"
        case .otherLength(let expected, let got):
            "the length of the response is \(exact(got)) instead of \(exact(expected))"
        case .otherETag(let expected, let got):
            "the ETag was \(show(expected)) and is now \(show(got))"
        case .otherLastModified(let expected, let got):
            "`Last-Modified` was \(show(expected)) and is now \(show(got))"
        case .contentCoding(let coding):
            "the response is encoded as `\(coding)`, though no encoding was requested"
        case .otherContentDigest(let range):
            "bytes \(range) do not match their digest (`Content-Digest`)"
        case .bodyTooLong: "the server sent more data than it announced"
        }
    }
}
