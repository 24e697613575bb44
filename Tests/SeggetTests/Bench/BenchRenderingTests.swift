import Glibc
import Testing

@testable import SeggetReports
@testable import SeggetCommand

struct BenchRenderingTests {
    private static let summary = BenchSummaryTests.summary

    @Test(arguments: [true, false], [20, 60, 80, 500])
    func tableAndPlotsFitTheWidth(unicode: Bool, width: Int) {
        let text = BenchText(Self.summary, unicode: unicode, width: width)
        let lines = text.lines
        let plots = lines.filter { line in
            ["█", "▏", "#", "▁", "_"].contains { line.contains($0) }
        }
        #expect(plots.count == 6, "\(lines)")
        #expect(plots.allSatisfy { $0.count <= max(40, min(120, width)) }, "\(plots)")
        #expect(unicode || lines.allSatisfy { $0.utf8.allSatisfy { $0 < 0x7f } })
        #expect(lines[1].hasPrefix("segget -x 1") && lines[1].contains("12.0 MiB/s"))
        #expect(lines.contains { $0.hasPrefix("segget -x 16 : curl = 5.00 times the rate") })
    }

    @Test func emptyMeasurementIsOnlyATable() {
        let failed = BenchSummaryTests.measurement(
            [], end: .failed(kind: "k", message: "m", status: .unavailable))
        let summary = BenchSummary([failed], subjects: [BenchSummaryTests.one])
        let lines = BenchText(summary, unicode: true, width: 80).lines
        #expect(lines.count == 2 && lines[1].contains("failed"))
    }

    @Test(
        arguments: [
            (0, nil, true, "        "), (8, nil, true, "████████"), (4, nil, true, "████    "),
            (4.5, nil, true, "████▌   "), (4.5, nil, false, "#####   "),
            (4, (2, 6), true, "████╌╌╌ "), (4, (2, 6), false, "####--- "),
            (9, nil, true, "████████"),
        ] as [(Double, (Double, Double)?, Bool, String)])
    func drawsBars(value: Double, spread: (Double, Double)?, unicode: Bool, bar: String) {
        #expect(
            BenchText.bar(
                value, low: spread?.0, high: spread?.1, of: 8, columns: 8, unicode: unicode) == bar)
    }

    @Test func drawsSparklines() {
        let values: [Double?] = [0, 1, 4, 7.9, 8, 100, nil]
        #expect(BenchText.spark(values, of: 8, unicode: true) == "▁▂▅███ ")
        #expect(BenchText.spark(values, of: 8, unicode: false) == "_.=### ")
        #expect(BenchText.spark([0, nil], of: 0, unicode: true) == "▁ ")
    }

    @Test func writesCSV() throws {
        let measurements = [
            BenchSummaryTests.steady(BenchSummaryTests.one, rate: 10),
            BenchSummaryTests.measurement(
                [], of: BenchSubject(client: .segget, connections: .auto), round: 2,
                end: .failed(kind: "k", message: "a,\"b", status: .unavailable)),
        ]
        let lines = BenchCSV.text(measurements).split(
            separator: "\r\n", omittingEmptySubsequences: false)
        #expect(lines.count == 4 && lines.last == "")
        let fields = lines.dropLast().map {
            $0.split(separator: ",", omittingEmptySubsequences: false)
        }
        #expect(fields.allSatisfy { $0.count == fields.first?.count })
        #expect(lines[1].hasPrefix("1,segget,1,complete,62918656,7.000,10485760,1.000,1.000,17."))
        #expect(lines[2].hasPrefix("2,segget,auto,failed,0,0.000,,,1.000,,"))
    }

    @Test func pageNeedsNoOtherFile() {
        let page = BenchHTML(
            facts: [("URL", "http://h/<script>alert('x')</script>&\"\u{1b}[2J")],
            summary: Self.summary,
            measurements: [BenchSummaryTests.steady(BenchSummaryTests.one, rate: 10)]
        ).text
        #expect(page.contains("&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;&amp;&quot;\\u{1b}"))
        #expect(!page.contains("<script") && !page.contains("\u{1b}"))
        for reference in ["src=", "href=", "url(", "@import", "onload"] {
            #expect(!page.contains(reference), "\(reference)")
        }
        #expect(page.components(of: "<svg") == 2 && page.components(of: "</svg>") == 2)
        #expect(page.components(of: "<polyline") == 3)
        for tag in ["table", "tr", "td", "th", "text", "dl", "body", "html"] {
            #expect(
                page.components(of: "<\(tag)>") + page.components(of: "<\(tag) ")
                    == page.components(of: "</\(tag)>"), "\(tag)")
        }
    }

    @Test(arguments: [BenchClient.aria2c, .axel, .curl, .wget2])
    func peersGetTheURLHidden(client: BenchClient) {
        let url = "https://me:hush@h/f?token=hush\\\"x"
        let request = BenchPeer.Request(url: url, caCertificate: nil, isInsecure: false)
        guard BenchPeer.obstacle(client, request) == nil else {
            #expect(client == .axel)
            return
        }
        let subject = BenchPlan.peer(client, beside: [.fixed(4)])
        for folder in [nil, "/tmp/x"] {
            let peer = BenchPeer(subject, request, folder: folder)
            #expect(!peer.arguments.contains { $0.contains("hush") || $0.contains("//h") })
            #expect(peer.input.contains("me:hush@h/f?token=hush"))
            let place = peer.arguments + [peer.input]
            #expect(place.contains { $0.contains(folder ?? "/dev/null") } || client == .aria2c)
        }
        if client == .curl {
            let input = BenchPeer(subject, request, folder: nil).input
            #expect(input == "url = \"https://me:hush@h/f?token=hush\\\\\\\"x\"\n")
        }
    }

    @Test func axelTakesOnlyPlainURLs() {
        func obstacle(_ url: String, _ trust: String? = nil) -> String? {
            BenchPeer.obstacle(
                .axel, .init(url: url, caCertificate: trust, isInsecure: false))
        }
        #expect(obstacle("http://h/f") == nil)
        for url in ["http://h/f?a", "http://u@h/f", "http://h/f#a"] {
            #expect(obstacle(url)?.contains("command line") == true)
        }
        #expect(obstacle("http://h/f", "ca.pem") != nil)
    }

    @Test func programsAreFoundInPATH() {
        #expect(BenchPeer.find(.curl, in: "relative:/nonexistent") == nil)
        #expect(BenchPeer.find(.curl, in: "/nonexistent:/usr/bin") == "/usr/bin/curl")
    }
}

extension String {
    /// Returns the number of occurrences of a text in this one.
    fileprivate func components(of text: String) -> Int { ranges(of: text).count }
}
