import CVersion
import Segmenter
import SegmenterTransport

/// The output of `--version`, in the style of `curl -V`.
///
/// The first line has the versions of segget and libcurl.
enum VersionText {
    static var full: String {
        let commit = String(cString: segget_commit())
        return [
            "segget \(seggetVersion) (\(machine)) \(CURLVersion.text)",
            commit.isEmpty ? nil : "Commit: \(commit)",
            "Protocols: \(CURLVersion.protocols.joined(separator: " "))",
            "Features: \(CURLVersion.features.joined(separator: " "))",
        ].compactMap { $0 }.map { $0 + "\n" }.joined()
    }

    private static var machine: String {
        #if arch(x86_64)
            "x86_64-linux-gnu"
        #elseif arch(arm64)
            "aarch64-linux-gnu"
        #else
            "linux-gnu"
        #endif
    }
}
