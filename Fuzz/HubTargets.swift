@testable import Assembler
@testable import Segmenter
@testable import SegmenterTransport

/// The readers of what the Hugging Face Hub sends, and of what other programs leave in its cache.
enum HubTargets {
    private static let commit = String(repeating: "a", count: 40)

    /// A list of files, from the API or from `trees/COMMIT.json`.
    static func hub(_ bytes: [UInt8]) {
        _ = HubReplies.read(bytes, as: HubReplies.Revision.self)
        if let entries = HubReplies.read(bytes, as: [HubReplies.Entry].self) {
            _ = HubReplies.quantizations(of: entries)
            if let tree = HubTree(entries) { check(tree) }
        }
        if let tree = HubTree(parsing: bytes) { check(tree) }
        let text = String(decoding: bytes, as: UTF8.self)
        _ = LockHolder(text)
        if let address = try? HubAddress(text) {
            expect(
                address.path.isEmpty || HubPath.isUsable(address.path),
                "a path that leads elsewhere")
            expect(!HubCache("/c", address).path.contains(".."), "a folder that leads elsewhere")
        }
    }

    private static func check(_ tree: HubTree) {
        guard let text = tree.text, let again = HubTree(parsing: text) else {
            fatalError("what was written does not read")
        }
        expect(again == tree, "written again, another tree")
        guard let address = try? HubAddress("hf://org/name"), let access = try? HubAccess() else {
            fatalError("no address")
        }
        let lister = HubLister(address: address, access: access) { (url) async throws(HubError) in
            throw .unusable(url: url.redacted, .notJSON)
        }
        guard let listing = try? lister.listing(of: tree, commit: commit) else { return }
        for file in listing.files {
            let parts = file.path.split(omittingEmptySubsequences: false) {
                $0 == "/" || $0 == "\\"
            }
            expect(!parts.contains("..") && !parts.contains(""), "a path that leads elsewhere")
            expect(file.size ?? -1 >= 0, "a negative size")
            expect([40, 64].contains(file.strongestDigest?.hex.utf8.count), "a bad digest")
            let link = HubCache.link(from: file.path, to: "b")
            expect(link.hasSuffix("../blobs/b"), "a link that leads elsewhere")
        }
    }
}
