/// The writers of an output that are in use, and their unrecorded extents.
///
/// Used on the output's current thread only.
struct OpenWriters {
    private var writers: [ExtentWriter] = []
    /// The unrecorded extents of retired writers.
    private var loose: [Extent] = []

    /// The number of bytes that have arrived but are not recorded.
    var unrecorded: Int64 {
        writers.reduce(loose.reduce(0) { $0 + $1.range.count }) { $0 + $1.unrecorded }
    }

    /// Adds a new writer.
    mutating func add(_ writer: ExtentWriter) -> ExtentWriter {
        writers.append(writer)
        return writer
    }

    /// Removes a writer and keeps its unrecorded extents.
    mutating func retire(_ writer: ExtentWriter) {
        writers.removeAll { $0 === writer }
        while let extent = writer.takeUnrecorded() { loose.append(extent) }
    }

    /// Removes all writers.
    mutating func retireAll() { for writer in writers { retire(writer) } }

    /// Returns the extents that have arrived since the last call.
    mutating func takeUnrecorded() -> [Extent] {
        var extents = loose
        for writer in writers {
            while let extent = writer.takeUnrecorded() { extents.append(extent) }
        }
        loose = []
        return extents
    }

    /// Returns extents to the list because they could not be recorded.
    mutating func giveBack(_ extents: [Extent]) { loose += extents }
}
