import Testing

@testable import Segmenter
@testable import SegmenterRules
@testable import SegmenterTransport

@Suite struct RetryAfterTests {
    private static let noon = "Sun, 06 Nov 1994 12:00:00 GMT"

    /// The local clock is at 1,000,000,000 seconds since 1970, years after the server's.
    @Test(
        arguments: [
            ("120", nil, 120), ("0", nil, nil), ("-5", nil, nil), ("soon", nil, nil),
            ("Sun, 06 Nov 1994 12:00:30 GMT", noon, 30),
            ("Sun, 06 Nov 1994 11:59:00 GMT", noon, nil),
            ("Sun, 06 Nov 1994 12:00:30 GMT", nil, nil),
            ("Sun, 09 Sep 2001 01:46:50 GMT", nil, 10),
            ("Sun, 09 Sep 2001 01:46:50 GMT", "no date", 10),
        ] as [(String, String?, Double?)])
    func retryAfterDateIsRelativeToResponseDate(field: String, date: String?, wait: Double?) {
        var reply = Reply(status: 503)
        reply.fields["retry-after"] = field
        reply.fields["date"] = date
        #expect(reply.wait(now: 1_000_000_000, time: secondsSince1970(httpDate:)) == wait)
    }

    @Test(
        arguments: [
            ("Negotiate", ["Negotiate"]), ("negotiate, NTLM", ["Negotiate", "NTLM"]),
            ("NTLM", ["NTLM"]), ("Negotiate, Basic realm=\"x\"", nil),
            ("NTLM, Digest realm=\"x\", nonce=\"n\"", nil), ("Bearer", nil), ("Other", nil),
            ("", nil),
        ] as [(String, [String]?)])
    func listsSchemesWithoutPassword(field: String, schemes: [String]?) {
        var reply = Reply(status: 401)
        reply.fields["www-authenticate"] = field
        #expect(reply.unusableSchemes == schemes)
    }
}
