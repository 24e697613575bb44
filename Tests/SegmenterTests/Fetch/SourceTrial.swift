import Assembler
import Testing

@testable import Segmenter
@testable import SegmenterRules
@testable import SegmenterTransport

/// Creates servers with a file of 1 MiB, and the setup of a fetch of it.
enum SourceTrial {
    static func mirror(
        _ number: Int = 0, tag: String? = "\"a\"", date: String? = "then", query: String = ""
    ) throws -> FetchMachine.Mirror {
        FetchMachine.Mirror(
            number: number, shownURL: "http://host\(number)/file",
            url: try #require(WebURL("http://host\(number)/file\(query)")),
            identity: RemoteIdentity(size: 1 << 20, etag: tag, lastModified: date))
    }

    static func setup(
        isOneStream: Bool = false, isProven: Bool = true, hasContradicted: Bool = false
    ) throws -> FetchMachine.Setup {
        FetchMachine.Setup(
            primary: try mirror(), isOneStream: isOneStream, isProven: isProven, connections: 4,
            limits: LimitOptions(), policy: RetryPolicy(retries: 10),
            hasContradicted: hasContradicted)
    }
}
