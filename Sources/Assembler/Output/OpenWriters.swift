/// The writers of an output that are in use, and what has arrived and is not recorded yet.
///
/// Used on the thread that has the output.
struct OpenWriters {
    private var writers: [ExtentWriter] = []
    /// What writers that were taken back had left to record.
    private var loose: [Extent] = []

    /// Bytes that have arrived and are not recorded yet.
    var unrecorded: Int64 {
        writers.reduce(loose.reduce(0) { $0 + $1.range.count }) { $0 + $1.unrecorded }
    }

    /// Adds a writer that begins to write.
    mutating func add(_ writer: ExtentWriter) -> ExtentWriter {
        writers.append(writer)
        return writer
    }

    /// Takes a writer back, and keeps what it has left to record.
    mutating func retire(_ writer: ExtentWriter) {
        writers.removeAll { $0 === writer }
        while let extent = writer.takeUnrecorded() { loose.append(extent) }
    }

    /// Takes all writers back.
    mutating func retireAll() { for writer in writers { retire(writer) } }

    /// What has arrived since the last call.
    mutating func takeUnrecorded() -> [Extent] {
        var extents = loose
        for writer in writers {
            while let extent = writer.takeUnrecorded() { extents.append(extent) }
        }
        loose = []
        return extents
    }

    /// Takes extents back that could not be recorded: they are still to be.
    mutating func giveBack(_ extents: [Extent]) { loose += extents }
}
