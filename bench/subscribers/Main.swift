import Glibc
import SeggetQueue

/// What subscribers of a queue cost: `queue-subscribers QUEUE COUNT SECONDS` works a queue that exists,
/// first with nobody who looks and then with so many subscribers, and prints the shares of a core that the
/// process takes, and how many snapshots each got in a second.
@main
enum QueueSubscribers {
    static func main() async throws {
        let arguments = CommandLine.arguments
        guard arguments.count == 4, let count = Int(arguments[2]), let seconds = Int(arguments[3])
        else {
            print("usage: queue-subscribers QUEUE COUNT SECONDS")
            exit(64)
        }
        try await withDownloadQueue(at: arguments[1]) { queue in
            while try await queue.snapshot().running.count(where: { $0.bytesDone > 0 }) < 3 {
                try await Task.sleep(for: .milliseconds(100))
            }
            // Connections are as many as they will be.
            try await Task.sleep(for: .seconds(5))
            let alone = try await share(seconds)
            let subscribers = (0..<count).map { _ in
                Task {
                    var looks = 0
                    for await _ in await queue.snapshots() { looks += 1 }
                    return looks
                }
            }
            let shared = try await share(seconds)
            var looks = 0
            for subscriber in subscribers {
                subscriber.cancel()
                looks += await subscriber.value
            }
            let each = Double(looks) / Double(count) / Double(seconds)
            print("\(alone) \(shared) \(each)")
        }
    }

    /// The share of a core that this process takes for so many seconds.
    private static func share(_ seconds: Int) async throws -> Double {
        let (clock, before) = (ContinuousClock(), processorSeconds())
        let began = clock.now
        try await Task.sleep(for: .seconds(seconds))
        return (processorSeconds() - before) / ((clock.now - began) / .seconds(1))
    }

    private static func processorSeconds() -> Double {
        var usage = rusage()
        getrusage(RUSAGE_SELF.rawValue, &usage)
        return [usage.ru_utime, usage.ru_stime].reduce(0) {
            $0 + Double($1.tv_sec) + Double($1.tv_usec) / 1e6
        }
    }
}
