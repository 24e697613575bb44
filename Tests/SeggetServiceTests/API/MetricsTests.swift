import Foundation
import TestSupport
import Testing

@testable import SeggetQueue
@testable import SeggetService

struct MetricsTests {
    private static let snapshot = QueueView(
        running: [Sample.tasks[0]], counts: ["running": 1, "completed": 2, "paused": 3],
        bytesPerSecond: 1.5, bytesDone: 5, size: 9, bytesReceived: 1 << 40)

    /// Returns the values by name and labels, and checks each line by the rules of the format.
    private static func samples(_ text: String) -> [String: Double] {
        var (samples, types): ([String: Double], [String: String]) = ([:], [:])
        #expect(text.hasSuffix("\n"))
        for line in text.split(separator: "\n", omittingEmptySubsequences: false).dropLast() {
            let words = line.split(separator: " ", omittingEmptySubsequences: false)
            if line.hasPrefix("# HELP ") {
                #expect(words.count > 3)
            } else if line.hasPrefix("# TYPE ") {
                #expect(words.count == 4 && ["gauge", "counter"].contains(words[3]))
                #expect(types.updateValue(String(words[3]), forKey: String(words[2])) == nil)
            } else {
                let sample = line.wholeMatch(
                    of: /([a-z_]+)(\{[a-z]+="(?:[^"\\\n]|\\["\\n])*"\})? (-?[0-9.e+]+)/)
                guard let sample, let value = Double(sample.3) else {
                    Issue.record("\(line)")
                    continue
                }
                let type = types[String(sample.1)]
                #expect(type != nil, "\(line) before its type")
                #expect((type == "counter") == sample.1.hasSuffix("_total"))
                #expect(
                    samples.updateValue(value, forKey: String(sample.1) + (sample.2 ?? "")) == nil)
            }
        }
        return samples
    }

    @Test func reportsNumbersOfQueue() {
        let metrics = Metrics(Self.snapshot, version: "1.2", uptime: 3.25)
        let samples = Self.samples(String(decoding: metrics.text, as: UTF8.self))
        #expect(samples[#"segget_info{version="1.2"}"#] == 1)
        #expect(samples["segget_uptime_seconds"] == 3.25)
        #expect(samples[#"segget_tasks{state="running"}"#] == 1)
        #expect(samples[#"segget_tasks{state="completed"}"#] == 2)
        #expect(samples[#"segget_tasks{state="failed"}"#] == 0)
        #expect(samples[#"segget_tasks{state="paused"}"#] == 3)
        #expect(samples["segget_connections"] == 4)
        #expect(samples["segget_bytes_per_second"] == 1.5)
        #expect(samples["segget_received_bytes_total"] == Double(Int64(1) << 40))
        #expect(samples["segget_paused"] == 0)
    }

    @Test func labelsAreEscaped() {
        #expect(Metrics.escaped("a\"b\\c\nd") == #"a\"b\\c\nd"#)
        let metrics = Metrics(Self.snapshot, version: "\"\\\n", uptime: 0)
        let text = String(decoding: metrics.text, as: UTF8.self)
        #expect(Self.samples(text)[#"segget_info{version="\"\\\n"}"#] == 1)
    }

    @Test func metricsNeedSecret() async throws {
        try await ServedSite.use { site in
            let reply = try #require(try await site.ask("GET /metrics", ServedSite.authorization))
            #expect(reply.status == 200)
            #expect(reply.field("content-type") == "text/plain; version=0.0.4; charset=utf-8")
            #expect(Self.samples(reply.body)["segget_received_bytes_total"] == 12_345)
            #expect(try await site.ask("GET /metrics")?.status == 401)
            let wrong = try await site.ask("POST /metrics", ServedSite.authorization)
            #expect(wrong?.status == 405 && wrong?.field("allow") == "GET, HEAD")
        }
    }
}
