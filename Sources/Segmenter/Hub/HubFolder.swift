import Assembler
import FoundationEssentials
import SegmenterValues

/// The records of `huggingface_hub` in a folder (`--local-dir`), so that it requests no byte again.
///
/// Beside each file, `.cache/huggingface/download/PATH.metadata` states the commit, the digest and
/// the time. `huggingface_hub` ignores a record that is older than its file, or damaged.
/// `.cache/huggingface/trees/COMMIT.json` lists all files of the commit. May be used from any thread;
/// blocks on the disk.
final class HubFolder: Sendable {
    private static let records = ".cache/huggingface"

    private let folder: String
    private let commit: String
    private let made = MadeFolders()
    private let hasMarks = Monitor(false)

    /// Returns `nil` for other sources than the Hub.
    init?(_ folder: String, _ source: Listing.Source) {
        guard source.kind == .hub, let commit = source.pin else { return nil }
        self.folder = "\(folder)/\(Self.records)"
        self.commit = commit
    }

    /// Records that a file is complete; does nothing if that fails.
    func note(_ file: Listing.File) {
        guard let digest = file.strongestDigest else { return }
        writeMarks()
        let (seconds, micros) = Int64(Date().timeIntervalSince1970 * 1e6)
            .quotientAndRemainder(dividingBy: 1_000_000)
        let fraction = String(String(1_000_000 + micros).dropFirst())
        write(
            "download/\(file.path).metadata",
            Array("\(commit)\n\(digest.hex)\n\(seconds).\(fraction)\n".utf8))
    }

    /// Keeps the list of all files of the commit, unless the folder has it; does nothing if that fails.
    func note(_ tree: HubTree) {
        guard Folder.size(at: "\(folder)/\(HubTree.path(of: commit))") == nil, let text = tree.text
        else { return }
        writeMarks()
        write(HubTree.path(of: commit), text)
    }

    /// Marks the folder of records as one that need not be saved.
    private func writeMarks() {
        guard
            hasMarks.withLock({ marks in
                defer { marks = true }
                return !marks
            })
        else { return }
        write(".gitignore", Array("*".utf8))
        let tag = """
            Signature: 8a477f597d28d172789f06886806bc55
            # This folder has records of huggingface_hub (https://bford.info/cachedir/).

            """
        write("CACHEDIR.TAG", Array(tag.utf8))
    }

    private func write(_ path: String, _ text: [UInt8]) {
        let target = FileTarget(path: "\(folder)/\(path)")
        do throws(AssemblyError) {
            try made.make(target.folder, .made)
            try Folder(target.folder).write(
                target.name, mode: 0o666 & ~processUmask(), isDurable: false
            ) { writeFully($0, text) }
        } catch {
            // Without the record, `huggingface_hub` reads the file, or downloads it again.
        }
    }
}
