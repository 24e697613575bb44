import Assembler
import SegmenterRules
import SegmenterTransport

/// The history of the part during a download's attempts.
struct OutputRecord: Sendable {
    /// Whether a part was opened; its content is this run's own from then on.
    private(set) var hasBegun = false
    /// The server's offer when the part was opened.
    private(set) var offered: RemoteFile?
    /// The generation of the part that was opened last.
    private(set) var generation: String?
    /// Bytes of it that a later run can resume from.
    var kept: Int64 = 0
    /// Bytes of the complete file that earlier runs have received.
    var resumed: Int64 = 0
    /// Whether the file has its name, whatever failed then.
    var isPublished = false

    /// Notes that an output was opened.
    mutating func opened(_ output: any Output, for file: RemoteFile) {
        hasBegun = true
        offered = file
        generation = (output as? Assembly)?.generation
    }

    /// Removes the part that was opened last, if it is empty.
    func removeIfEmpty(_ target: FileTarget?) async {
        guard let target, let generation else { return }
        // The failure that led here says more than a failure to tidy up.
        _ = await Disk.result { () throws(AssemblyError) in
            try Assembly.removeIfEmpty(target.name, folder: target.folder, generation: generation)
        }
    }
}
