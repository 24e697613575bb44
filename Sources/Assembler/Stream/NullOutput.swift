import Glibc

/// An output that writes to `/dev/null`, to measure the speed of a download without a disk.
///
/// Responses are checked as usual, and the CRC-32 of all bytes is computed. No byte is kept, and no
/// other digest is computed. `Output` defines which threads may use it.
package final class NullOutput: Output, @unchecked Sendable {
    // Unchecked: ownership moves between threads as `Output` documents.

    package let destination = "/dev/null"
    package private(set) var recorded = ExtentMap()
    private let descriptor: Int32
    private var writers = OpenWriters()

    /// Opens `/dev/null`.
    ///
    /// - Throws: `io`.
    package init() throws(AssemblyError) {
        descriptor = open("/dev/null", O_WRONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .io(operation: "open", path: destination, errno: errno) }
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    package var writtenPath: String { destination }
    package var bytesKept: Int64 { 0 }
    package var startedOver: StartOverReason? { nil }
    package var unverified: [Int64: Extent] { [:] }
    package var recordThreshold: Int64 { Self.usualRecordThreshold }

    package var unrecorded: Int64 { writers.unrecorded }

    package func takeWindow() -> OutputWindow? { nil }

    package func makeWriter(at offset: Int64) -> ExtentWriter {
        // One write(2) per buffer, as in other programs that write to `/dev/null`.
        writers.add(ExtentWriter(descriptor: descriptor, at: offset))
    }

    package func retire(_ writer: ExtentWriter) { writers.retire(writer) }
    package func record() { for extent in writers.takeUnrecorded() { recorded.add(extent) } }

    package func startVerifying(
        report: @escaping @Sendable (ByteRange, _ isIntact: Bool) -> Void
    ) {}

    package func confirm(_ range: ByteRange, isIntact: Bool) {}
    package func onMove(_ body: @escaping @Sendable () -> Void) {}
    package func interrupt() {}
    package func stop() { record() }

    package func publish(
        size: Int64, keeping: RangeSet? = nil, onVerified: () -> Void, isCurrent: () -> Bool
    ) throws(AssemblyError) -> PublishedFile? {
        record()
        guard let crc = recorded.combinedCRC(size: size) else {
            preconditionFailure("published before all \(size) bytes had arrived")
        }
        onVerified()
        return PublishedFile(path: destination, size: size, crc32: crc, verified: [])
    }
}
