import SeggetReports
import Testing

@testable import SeggetAria2

/// `aria2_code` in the JSON of `/v1/` and of `--json=1`.
struct JSONAria2Tests {
    @Test(
        arguments: [
            (["kind": "status", "code": 69, "status": 404], 3),
            (["kind": "refused", "code": 77, "status": 401], 24),
            (["kind": "network", "code": 69, "curl_code": 6], 19),
            (["kind": "cannot_create", "code": 74, "errno": 28], 9),
            (["kind": "checksum_mismatch", "code": 65], 32),
            (["kind": "an unknown kind", "code": 73], 13),
            (["kind": "invalid_url", "code": 64], 26),
        ] as [([String: JSONValue], Int)])
    func errorsOfTasksHaveACode(error: [String: JSONValue], code: Int) throws {
        let task: JSONValue = ["url": "magnet:?xt=urn:btih:0", "error": .object(error)]
        let found: JSONValue = ["tasks": [task]]
        let tasks = try #require(found.withAria2Codes.object?["tasks"]?.array)
        let result = try #require(tasks.first?.object?["error"]?.object)
        #expect(result["aria2_code"]?.integer == Int64(code))
        #expect(result.filter { $0.key != "aria2_code" } == error)
    }

    @Test func otherValuesAreUnchanged() {
        let value: JSONValue = ["error": ["code": "no_task"], "tasks": [["url": "http://h/"]]]
        #expect(value.withAria2Codes == value)
    }
}
