import Assembler
import CCurl
import Glibc
import Testing

@testable import Segmenter
@testable import SegmenterRules
@testable import SegmenterTransport

/// Tests who has answered a canary, and which failures count as a loss of the network.
@Suite struct CanaryVerdictTests {
    private static let file = Probe.Known(
        identity: RemoteIdentity(size: 100, etag: "\"a\""), hasRanges: true)
    /// A file of a server that states only its size, and serves no ranges.
    private static let plain = Probe.Known(identity: RemoteIdentity(size: 100))
    /// A page of a server that states neither size nor validators.
    private static let page = Probe.Known(isPage: true)
    private static let ours = [
        "content-range": "bytes 0-0/100", "content-length": "1", "etag": "\"a\"",
    ]
    private static let login = ["content-type": "text/html; charset=utf-8"]

    private func verdict(
        _ status: Int, _ fields: [String: String], _ known: Probe.Known?
    ) -> Probe.CanaryEnd {
        var reply = Reply(status: status)
        reply.fields = fields
        return Probe.verdict(reply, nil, known)
    }

    @Test(
        arguments: [
            // Responses of the file's server.
            (206, ours, file, .back), (206, ours.merging(login) { $1 }, file, .back),
            (206, ours.merging(["etag": "\"b\""]) { $1 }, file, .back),
            (200, ["content-length": "100", "etag": "\"a\""], file, .back),
            (403, [:], file, .back), (404, login, file, .back), (503, [:], file, .back),
            (416, [:], file, .back), (401, [:], file, .back),
            // Pages of a captive portal, with and without a length and validators.
            (200, login, file, .occupied), (200, [:], file, .occupied),
            (200, ["content-length": "12"], file, .occupied),
            (200, ["content-length": "12", "etag": "\"p\""], file, .occupied),
            (
                206,
                ["content-range": "bytes 0-0/12", "etag": "\"p\""].merging(login) { $1 }, file,
                .occupied
            ),
            (511, login, file, .occupied), (204, [:], file, .occupied), (304, [:], file, .occupied),
            (302, [:], file, .occupied),
            // Servers that state little.
            (200, ["content-length": "100"], plain, .back),
            (200, ["content-length": "100"].merging(login) { $1 }, plain, .occupied),
            (200, ["content-length": "12"], plain, .occupied),
            (200, ["content-length": "12", "etag": "\"p\""], plain, .back),
            (200, login, page, .back), (200, [:], page, .back),
        ] as [(Int, [String: String], Probe.Known, Probe.CanaryEnd)])
    func recognizesWhoAnswered(
        status: Int, fields: [String: String], known: Probe.Known, expected: Probe.CanaryEnd
    ) {
        #expect(verdict(status, fields, known) == expected)
    }

    @Test func withoutFileOnlyPagesAreDoubted() {
        #expect(verdict(206, Self.ours, nil) == .back)
        #expect(verdict(200, Self.login, nil) == .occupied)
        #expect(verdict(404, [:], nil) == .back)
    }

    @Test(
        arguments: [
            (.untrusted("self-signed"), .occupied), (.failed(.breach(.headTooLong)), .occupied),
            (.failed(.network(code: 7, message: "")), .nothing),
            (.failed(.network(code: 35, message: "")), .refused),
            (.failed(.stalled(for: .seconds(1))), .nothing), (.cancelled, .nothing),
        ] as [(TransferEnd, Probe.CanaryEnd)])
    func failedCanaryHasNoServer(end: TransferEnd, expected: Probe.CanaryEnd) {
        #expect(Probe.verdict(nil, end, Self.file) == expected)
    }

    // MARK: Losses

    private static func failure(_ code: CURLcode, _ text: String = "") -> TransferFailure {
        .network(code: Int(code.rawValue), message: text)
    }

    @Test(
        arguments: [
            failure(CURLE_COULDNT_RESOLVE_HOST), failure(CURLE_OPERATION_TIMEDOUT),
            failure(CURLE_COULDNT_CONNECT), failure(CURLE_INTERFACE_FAILED),
            failure(CURLE_COULDNT_CONNECT, "Failed" + errnoSuffix(ENETUNREACH)),
            failure(CURLE_COULDNT_CONNECT, "Failed" + errnoSuffix(EHOSTUNREACH)),
            failure(CURLE_RECV_ERROR, "Recv failure: No route to host"),
            .proxy(code: Int(CURLE_COULDNT_RESOLVE_PROXY.rawValue), message: ""),
            .stalled(for: .seconds(15)), .status(511),
        ])
    func recognizesNetworkLoss(failure: TransferFailure) {
        #expect(failure.isNetworkLoss)
        #expect(DownloadError.Reason.transfer(failure, attempts: 3).isNetworkLoss)
    }

    @Test(
        arguments: [
            failure(CURLE_COULDNT_CONNECT, "Failed" + errnoSuffix(ECONNREFUSED)),
            failure(CURLE_RECV_ERROR, "Recv failure: Connection reset by peer"),
            failure(CURLE_GOT_NOTHING), failure(CURLE_SSL_CONNECT_ERROR), .status(503),
            .truncated(missing: 1), .breach(.wholeFileForRange),
            .proxy(
                code: Int(CURLE_COULDNT_CONNECT.rawValue),
                message: "Failed" + errnoSuffix(ECONNREFUSED)),
        ])
    func otherFailuresAreNoNetworkLoss(failure: TransferFailure) { #expect(!failure.isNetworkLoss) }
}
