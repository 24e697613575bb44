import Segmenter
import Testing

@testable import SeggetAria2

struct Aria2ResultsTests {
    private func row(
        _ gid: String, _ code: Aria2ErrorCode, _ place: String,
        _ received: (bytes: Int64, time: Duration) = (0, .zero), percent: Int64? = nil
    ) throws -> Aria2Results.Row {
        Aria2Results.Row(
            gid: try #require(Download.ID(gid + "0123456789")), code: code, place: place,
            received: received, percent: percent)
    }

    private func results(_ rows: [Aria2Results.Row]) -> Aria2Results {
        var results = Aria2Results()
        for row in rows { results.add(row) }
        return results
    }

    @Test func tableHasLayoutOfAria2() throws {
        let table = results([
            try row("00aac3", .resourceNotFound, "http://h/404", (0, .seconds(1))),
            try row("5313f4", .finished, "/d/3000"),
            try row("7fbd13", .inProgress, "/d/60000", (120_832, .seconds(2))),
        ]).table(isFull: false, isColoured: false)
        #expect(
            table == """

                Download Results:
                gid   |stat|avg speed  |path/URI
                ======+====+===========+=======================================================
                00aac3|ERR |       0B/s|http://h/404
                5313f4|OK  |        n/a|/d/3000
                7fbd13|INPR|    59KiB/s|/d/60000

                Status Legend:
                (OK):download completed.(ERR):error occurred.(INPR):download in-progress.

                """)
    }

    @Test func fullTableHasPercentages() throws {
        let table = results([
            try row("5313f4", .finished, "/d/3000", percent: 100),
            try row("53a365", .httpProtocol, "http://h/403", (0, .seconds(1))),
            try row("7fbd13", .removed, "/d/a\u{1b}[2J", (299_892_736, .seconds(1)), percent: 7),
        ]).table(isFull: true, isColoured: true)
        #expect(
            table == """

                Download Results:
                gid   |stat|avg speed  |  %|path/URI
                ======+====+===========+===+===================================================
                5313f4|\u{1b}[1;32mOK\u{1b}[0m  |        n/a|100|/d/3000
                53a365|\u{1b}[1;31mERR\u{1b}[0m |       0B/s|  -|http://h/403
                7fbd13|\u{1b}[1mRM\u{1b}[0m  |   286MiB/s|  7|/d/a\\u{1b}[2J

                Status Legend:
                (OK):download completed.(ERR):error occurred.(RM):download removed.

                """)
    }

    /// As with aria2c 1.36, the exit code is that of the last error; 7 means unfinished files
    /// without an error.
    @Test(
        arguments: [
            ([], 0, .finished), ([], 1, .inProgress), ([.finished, .finished], 2, .finished),
            ([.httpProtocol, .finished, .resourceNotFound], 3, .resourceNotFound),
            ([.resourceNotFound, .finished], 2, .resourceNotFound),
            ([.resourceNotFound, .inProgress, .inProgress], 3, .resourceNotFound),
            ([.finished, .inProgress], 2, .inProgress), ([.finished], 2, .inProgress),
        ] as [([Aria2ErrorCode], Int, Aria2ErrorCode)])
    func lastErrorDecides(
        _ codes: [Aria2ErrorCode], _ count: Int, _ code: Aria2ErrorCode
    ) throws {
        #expect(results(try codes.map { try row("aaaaaa", $0, "") }).code(of: count) == code)
    }
}
