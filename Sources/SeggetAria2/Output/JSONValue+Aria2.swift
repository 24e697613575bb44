import FoundationEssentials
package import SeggetReports

extension JSONValue {
    /// The value with `aria2_code` in the error of each task, which `/v1/` of the API and
    /// `--json=1` have; until 0.4.
    package var withAria2Codes: JSONValue {
        switch self {
        case .array(let values): return .array(values.map(\.withAria2Codes))
        case .object(let members):
            var members = members.mapValues(\.withAria2Codes)
            if case .object(var error) = members["error"], let kind = error["kind"]?.string,
                let exitCode = error["code"]?.integer
            {
                let facts = FailureFacts(
                    status: error["status"]?.integer.map(Int.init),
                    curlCode: error["curl_code"]?.integer.map(Int.init),
                    errno: error["errno"]?.integer.map(Int32.init(clamping:)))
                let code = Aria2ErrorCode(
                    kind: kind, exitCode: Int32(clamping: exitCode), facts,
                    url: members["url"]?.string)
                error["aria2_code"] = .number(Decimal(code.rawValue))
                members["error"] = .object(error)
            }
            return .object(members)
        default: return self
        }
    }
}
