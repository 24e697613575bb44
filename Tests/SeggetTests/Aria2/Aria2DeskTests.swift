import Glibc
import SeggetFormats
import Synchronization
import Testing

@testable import SeggetReports
@testable import Segmenter
@testable import segget

struct Aria2DeskTests {
    /// What is written and told, from any thread.
    private final class Seen: Sendable {
        let output = Mutex("")
        let ends = Mutex(0)
    }

    private func desk(_ seen: Seen, signal: Int32? = nil) -> Aria2Desk {
        let task = Aria2Task(urls: ["http://h/f"], options: Aria2Options())
        return Aria2Desk(
            Aria2Report(
                Aria2Console(), tasks: [task], folder: "/d",
                screen: Aria2Screen(
                    isTerminal: false, isColoured: false, columns: { 80 },
                    write: { text in seen.output.withLock { $0 += text } })), signal: { signal })
    }

    private static let error = DownloadError(
        reason: .cancelled, url: "http://h/f", path: nil, bytesKept: 0)

    @Test(.timeLimit(.minutes(1)), arguments: [nil, SIGINT, SIGTERM])
    func eventsAreReportedUntilThereAreNoMore(_ signal: Int32?) async {
        let seen = Seen()
        let desk = desk(seen, signal: signal)
        let (events, continuation) = AsyncStream.makeStream(of: BatchEvent.self)
        continuation.yield(BatchEvent(index: 0, kind: .begun(url: "http://h/f")))
        continuation.yield(BatchEvent(index: 0, kind: .ended(.failure(Self.error))))
        continuation.finish()
        await desk.follow(events) { _ in seen.ends.withLock { $0 += 1 } }
        await desk.log(.notice, "saved")
        #expect(await desk.finish() == 7)
        #expect(seen.ends.withLock { $0 } == 1)
        let output = seen.output.withLock { $0 }
        #expect(output.hasPrefix("\n") && output.contains(" Downloading 1 item(s)\n"))
        #expect(output.contains(" [NOTICE] saved\n"))
        // Once, though it is asked for again with each event.
        #expect(output.ranges(of: "hutdown sequence commencing").count == (signal == nil ? 0 : 1))
        #expect(output.contains(" Emergency shutdown") == (signal == SIGTERM))
    }

    @Test(.timeLimit(.minutes(1))) func theReadoutComesWhileNothingHappens() async {
        let seen = Seen()
        let desk = desk(seen)
        let (events, continuation) = AsyncStream.makeStream(of: BatchEvent.self)
        continuation.yield(BatchEvent(index: 0, kind: .begun(url: "http://h/f")))
        async let end: Void = desk.follow(events)
        while !seen.output.withLock({ $0.contains(" 0B/0B CN:1 DL:0B]\n") }) {
            try? await Task.sleep(for: .milliseconds(20))
        }
        continuation.finish()
        await end
    }
}
