import Glibc
import TestSupport
import Testing

@testable import Assembler

/// A stream writes bytes in order, whatever the order in which they arrive.
@Suite(.timeLimit(.minutes(5))) struct StreamOutputTests {
    private static let window = StreamOutput.smallestWindow

    /// Random bytes, a stream for them, and a reader of its output.
    private final class Rig {
        let data: [UInt8]
        let output: StreamOutput
        let reader: Int32

        init(
            size: Int, expected: [Digest] = [], socket: Bool = false, flags: Int32 = 0,
            readerIsGone: Bool = false
        ) throws {
            var random = SplitMix64(seed: UInt64(size))
            data = random.bytes(size)
            var ends: [Int32] = [0, 0]
            let made =
                socket
                ? socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) : pipe(&ends)
            try #require(made == 0)
            reader = ends[0]
            if flags != 0 { _ = fcntl(ends[1], F_SETFL, flags) }
            if readerIsGone { close(reader) }
            output = try StreamOutput(
                StreamOutput.Request(
                    descriptor: ends[1], identity: RemoteIdentity(size: Int64(size)),
                    expected: expected, window: StreamOutputTests.window))
            // The stream has duplicated the descriptor.
            close(ends[1])
        }

        deinit { close(reader) }

        func write(_ range: ByteRange) -> Int32 {
            let writer = output.makeWriter(at: range.start)
            defer { output.retire(writer) }
            return writer.put(Array(data[Int(range.start)..<Int(range.end)]))
        }

        /// Writes random pieces inside the window until all bytes are written.
        func fill(_ random: inout SplitMix64) throws {
            var missing = RangeSet(ByteRange(0, Int64(data.count)))
            while !missing.isEmpty {
                let limit = output.takeWindow()?.limit ?? 0
                let free = missing.ranges.filter { $0.start < limit }
                guard let gap = free.randomElement(using: &random) else {
                    try output.record()
                    _ = poll(nil, 0, 1)
                    continue
                }
                let end = min(gap.end, limit)
                let start = Int64.random(in: gap.start..<end, using: &random)
                let range = ByteRange(
                    start, min(end, start + Int64.random(in: 1...60_000, using: &random)))
                #expect(write(range) == 0)
                missing.remove(range)
                try output.record()
            }
        }

        /// Reads to the end on a separate thread.
        func drain() -> Monitor<[UInt8]?> {
            let result = Monitor<[UInt8]?>(nil)
            let reader = reader
            OwnedThread(name: "reader") {
                var all: [UInt8] = []
                var buffer = [UInt8](repeating: 0, count: 50_000)
                while true {
                    let count = read(reader, &buffer, buffer.count)
                    guard count > 0 else { break }
                    all += buffer[..<count]
                }
                let bytes = all
                result.withLock { $0 = bytes }
            }.detach()
            return result
        }
    }

    @Test(arguments: [false, true], [0, 1, 100_000, 1_000_000])
    func sendsEverythingInOrder(socket: Bool, size: Int) throws {
        for seed: UInt64 in 1...3 {
            var random = SplitMix64(seed: seed)
            var sample = SplitMix64(seed: UInt64(size))
            let crc = Digest(crc32: CRC32.of(sample.bytes(size)))
            let rig = try Rig(
                size: size, expected: seed == 1 ? [] : [crc], socket: socket,
                flags: seed == 3 ? O_NONBLOCK : 0)
            let all = rig.drain()
            try rig.fill(&random)
            let file = try rig.output.publish(size: Int64(size)) {
            } isCurrent: {
                true
            }
            #expect(file?.size == Int64(size))
            #expect(file?.verified == (seed == 1 ? [] : [crc]))
            #expect(file?.crc32 == CRC32.of(rig.data))
            // The stream's thread closes the descriptor shortly after the stream has ended.
            #expect(all.wait(timeout: 120) { $0 } == rig.data)
        }
    }

    /// The pipe is inherited and cannot be reopened.
    @Test func writesToASharedPipeWithoutBlocking() throws {
        var ends: [Int32] = [0, 0]
        try #require(pipe(&ends) == 0)
        let descriptor = try #require(StreamDescriptor(duplicating: ends[1], opensOwn: false))
        let bytes = [UInt8](repeating: 7, count: 1 << 20)
        var written = 0
        while true {
            let count = descriptor.write(bytes, bytes.count)
            if count < 0 { break }
            written += count
        }
        #expect(errno == EAGAIN)
        #expect(written > 0 && written <= 1 << 20)
        #expect(descriptor.isWritable(within: 0) == false)
        var buffer = bytes
        #expect(read(ends[0], &buffer, 4096) == 4096)
        #expect(descriptor.isWritable(within: 0) == true)
        close(ends[0])
        close(ends[1])
    }

    @Test(arguments: [1000, 300_000]) func wrongDigestWithholdsTheLastBytes(size: Int) throws {
        var random = SplitMix64(seed: 1)
        let wrong = try #require(Digest(.sha256, [UInt8](repeating: 1, count: 32)))
        let rig = try Rig(size: size, expected: [wrong])
        let all = rig.drain()
        try rig.fill(&random)
        #expect(throws: AssemblyError.self) {
            try rig.output.publish(size: Int64(size)) {
            } isCurrent: {
                true
            }
        }
        let written = Int(rig.output.bytesWritten)
        #expect(written <= max(0, size - (60 << 10)))
        #expect(all.wait(timeout: 120) { $0 } == Array(rig.data[..<written]))
    }

    @Test(arguments: [false, true]) func reportsClosedReader(socket: Bool) throws {
        let rig = try Rig(size: 1000, socket: socket, readerIsGone: true)
        let moved = Monitor(false)
        rig.output.onMove { moved.withLock { $0 = true } }
        _ = rig.output.takeWindow()
        #expect(rig.write(ByteRange(0, 1000)) == 0)
        try rig.output.record()
        #expect(moved.wait(timeout: 120) { $0 ? true : nil } == true)
        #expect(throws: AssemblyError.readerGone(path: rig.output.destination)) {
            try rig.output.record()
        }
    }

    /// The reader does not read, and the pipe is full.
    @Test(arguments: [false, true]) func canBeStoppedWhileTheReaderIsBlocked(socket: Bool) throws {
        let rig = try Rig(size: 400_000, socket: socket)
        let limit = try #require(rig.output.takeWindow()?.limit)
        #expect(limit == Self.window)
        #expect(rig.write(ByteRange(0, limit)) == 0)
        try rig.output.record()
        #expect(eventually(timeout: 120) { rig.output.bytesWritten > 0 })
        rig.output.interrupt()
        rig.output.stop()
        #expect(rig.output.bytesWritten < limit)
    }

    @Test func refusesOverlappingBytes() throws {
        let rig = try Rig(size: 400_000)
        let limit = try #require(rig.output.takeWindow()?.limit)
        #expect(rig.write(ByteRange(limit - 10, limit)) == 0)
        #expect(rig.write(ByteRange(limit - 10, limit + 1)) == ENOBUFS)
    }

    /// A stream that starts over receives bytes that were already written.
    @Test func dropsBytesThatWereWritten() throws {
        let rig = try Rig(size: 200_000)
        let all = rig.drain()
        _ = rig.output.takeWindow()
        #expect(rig.write(ByteRange(0, 70_000)) == 0)
        #expect(rig.write(ByteRange(100_000, 120_000)) == 0)
        try rig.output.record()
        rig.output.forgetBeyondFront()
        #expect(rig.output.recorded.covered.ranges == [ByteRange(0, 70_000)])
        let writer = rig.output.makeWriter(at: 0)
        // Dropped bytes need not match.
        #expect(writer.put([UInt8](repeating: 0, count: 50_000)) == 0)
        #expect(writer.unrecorded == 0)
        #expect(writer.put([UInt8](repeating: 0, count: 20_000) + rig.data[70_000..<90_000]) == 0)
        #expect(writer.unrecorded == 20_000)
        #expect(writer.put(Array(rig.data[90_000...])) == 0)
        rig.output.retire(writer)
        let file = try rig.output.publish(size: 200_000) {
        } isCurrent: {
            true
        }
        #expect(file?.crc32 == CRC32.of(rig.data))
        #expect(all.wait(timeout: 120) { $0 } == rig.data)
    }

    @Test func closedDescriptorIsRefused() {
        #expect(throws: AssemblyError.io(operation: "dup", path: "/dev/fd/999", errno: EBADF)) {
            try StreamOutput(
                StreamOutput.Request(
                    descriptor: 999, identity: RemoteIdentity(size: nil), expected: [],
                    window: Self.window))
        }
    }
}
