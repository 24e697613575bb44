import Foundation
import Glibc
import TestSupport
import Testing

/// A service under random commands and server faults leaks neither resources nor files.
///
/// `SEGGET_SOAK_SECONDS` sets for how many seconds rounds are started; without it, the suite is
/// skipped. `SEGGET_SOAK_SEED` repeats a random sequence.
@Suite(
    .serialized, .timeLimit(.minutes(100)),
    .enabled(if: soakSeconds != nil, "`make soak-service` runs it"))
struct ServiceSoakTests {
    @Test func serviceLeaksNoResources() throws {
        let seconds = try #require(soakSeconds)
        let seed: UInt64 = setting("SEED") ?? .random(in: 0...UInt64(UInt32.max))
        print("service soak: SEGGET_SOAK_SEED=\(seed), rounds are begun for \(seconds) s")
        let soak = try ServiceSoak(seed: seed)
        let deadline = TestSupport.monotonicSeconds() + seconds
        var rests: [ServiceLoad] = []
        while TestSupport.monotonicSeconds() < deadline || rests.count < 4 {
            try soak.commands()
            rests.append(try soak.rest())
            // Print progress only after 1, 2, 4, 8, … rounds.
            if rests.count.nonzeroBitCount == 1 {
                print("service soak: at rest \(rests.count): \(rests[rests.count - 1])")
            }
            guard soak.failures.isEmpty else { break }
        }
        print("service soak: \(rests.count) rounds, \(soak.report)")
        // The first rounds fill caches.
        let some = max(1, (rests.count - 1) / 3)
        let (early, late) = (rests[1...some], rests.suffix(some))
        let (before, after) = (ServiceLoad(most: early), ServiceLoad(most: late))
        print(
            "service soak: early \(before), in the middle \(rests[rests.count / 2]), late \(after)")
        #expect(after.memory <= before.memory + before.memory / 3 + (16 << 20))
        #expect(after.descriptors <= before.descriptors + 16)
        #expect(after.threads <= before.threads + 8)
        try soak.end()
        for failure in soak.failures { Issue.record("SEGGET_SOAK_SEED=\(seed): \(failure)") }
    }
}

/// The resources that a process uses.
struct ServiceLoad: CustomStringConvertible {
    var memory: Int64
    var descriptors: Int
    var threads: Int

    /// Measures the current resources of a process.
    init(_ pid: Int32) {
        memory = residentMemory(pid) ?? 0
        descriptors = openDescriptors(pid)
        threads = ProcessThread.all(of: pid).count
    }

    /// Takes the maximum of each resource.
    init(most loads: some Collection<ServiceLoad>) {
        memory = loads.map(\.memory).max() ?? 0
        descriptors = loads.map(\.descriptors).max() ?? 0
        threads = loads.map(\.threads).max() ?? 0
    }

    var description: String {
        "\(memory >> 10) KiB, \(descriptors) descriptors, \(threads) threads"
    }
}

private func setting<Value: LosslessStringConvertible>(_ name: String) -> Value? {
    ProcessInfo.processInfo.environment["SEGGET_SOAK_\(name)"].flatMap(Value.init)
}

private let soakSeconds: Double? = setting("SECONDS")
