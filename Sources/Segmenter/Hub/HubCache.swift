import Assembler
import Glibc
import SegmenterValues

/// The folder of a repository in the Hub's cache, which `huggingface_hub` and other programs share.
///
/// `blobs` has the contents by their digests, `snapshots/COMMIT` has links to them by their paths,
/// and `refs` the commits of branches. `.segget` has what segget knows of the blobs, and the folders
/// in which its runs download. Layout: `local-cache.md` of the Hub's documentation.
struct HubCache: Sendable {
    /// The name of the folder with segget's own files.
    static let own = ".segget"
    /// The names of the folders for blobs, snapshots and references.
    static let (blobs, snapshots, refs) = ("blobs", "snapshots", "refs")
    private static let tag = """
        Signature: 8a477f597d28d172789f06886806bc55
        # This folder is a cache of the Hugging Face Hub (https://bford.info/cachedir/).

        """

    /// The path of the cache.
    let root: String
    /// The path of the repository's folder.
    let path: String

    init(_ root: String, _ address: HubAddress) {
        self.root = root
        path =
            "\(root)/\(address.type)--"
            + address.name.split(separator: "/").joined(separator: "--")
    }

    /// Creates the folders.
    ///
    /// - Throws: `AssemblyError`.
    func make() throws(AssemblyError) {
        let made = MadeFolders()
        for name in [Self.blobs, Self.snapshots, Self.refs, Self.own] {
            try made.make("\(path)/\(name)", .made)
        }
        let folder = try Folder(root)
        if folder.isFree("CACHEDIR.TAG") {
            try? folder.create("CACHEDIR.TAG", Array(Self.tag.utf8))
        }
    }

    /// Returns the text of the link to a blob from a path in a snapshot.
    static func link(from path: String, to blob: String) -> String {
        let depth = path.utf8.count { $0 == UInt8(ascii: "/") }
        return String(repeating: "../", count: depth + 2) + "\(blobs)/\(blob)"
    }

    /// Opens a blob for reading.
    ///
    /// A link is followed if it stays in the cache: `huggingface_hub` shares blobs between
    /// repositories.
    ///
    /// - Parameter blob: The name of the blob.
    /// - Returns: The file; `nil` if there is none.
    /// - Throws: `AssemblyError`.
    func open(_ blob: String) throws(AssemblyError) -> StandingFile? {
        let folder = "\(path)/\(Self.blobs)"
        guard let blobs = try? Folder(folder) else { return nil }
        guard let there = try blobs.status(of: blob), !there.isRegular else {
            return try StandingFile.open(folder: folder, name: blob)
        }
        guard let real = Self.realPath("\(folder)/\(blob)"), let root = Self.realPath(root),
            real.hasPrefix(root + "/")
        else { return nil }
        let target = FileTarget(path: real)
        return try StandingFile.open(folder: target.folder, name: target.name)
    }

    private static func realPath(_ path: String) -> String? {
        guard let found = realpath(path, nil) else { return nil }
        defer { free(found) }
        return String(cString: found)
    }

    /// Links a path in a snapshot to its blob, unless that is done.
    ///
    /// - Parameters:
    ///   - file: The path in the repository.
    ///   - blob: The name of the blob, which exists.
    ///   - snapshot: The name of the snapshot, a commit.
    ///   - made: The folders that were created.
    /// - Returns: `false` if the path has something else, which stays.
    /// - Throws: `AssemblyError`.
    func link(
        _ file: String, to blob: String, in snapshot: String, _ made: MadeFolders
    ) throws(AssemblyError) -> Bool {
        let place = FileTarget(path: "\(path)/\(Self.snapshots)/\(snapshot)/\(file)")
        let text = Self.link(from: file, to: blob)
        if let folder = try? Folder(place.folder), folder.linkText(of: place.name) == text {
            return true
        }
        try made.make(place.folder, .madeBelow([path]))
        let folder = try Folder(place.folder)
        switch folder.makeLink(place.name, to: text) {
        case 0: return true
        case EEXIST:
            let there = Folder.identity(at: place.path)
            return there != nil && there == Folder.identity(at: "\(path)/\(Self.blobs)/\(blob)")
        case let code:
            // The file system has no symbolic links: both names are of one file.
            guard Glibc.link("\(path)/\(Self.blobs)/\(blob)", place.path) != 0 else { return true }
            throw .cannotCreate(path: place.path, errno: code)
        }
    }

    /// Returns the commit that a branch or tag has in the cache; `nil` if the cache has none.
    func commit(of revision: String) -> String? {
        guard HubPath.isUsable(revision) else { return nil }
        let place = FileTarget(path: "\(path)/\(Self.refs)/\(revision)")
        guard let folder = try? Folder(place.folder), let bytes = folder.read(place.name, most: 64)
        else {
            return Self.isCommit(revision) ? revision : nil
        }
        let text = String(decoding: bytes, as: UTF8.self)
        return Self.isCommit(text) ? text : nil
    }

    /// Records the commit of a branch or tag.
    ///
    /// - Throws: `AssemblyError`.
    func note(_ commit: String, as revision: String) throws(AssemblyError) {
        guard revision != commit, HubPath.isUsable(revision), self.commit(of: revision) != commit
        else { return }
        let place = FileTarget(path: "\(path)/\(Self.refs)/\(revision)")
        try MadeFolders().make(place.folder, .madeBelow([path]))
        try Folder(place.folder).replace(place.name, Array(commit.utf8))
    }

    private var trees: String { "\(path)/trees" }

    /// Returns the list of all files of a commit; `nil` if the cache has none that can be used.
    func tree(of commit: String) -> HubTree? {
        guard let folder = try? Folder(trees) else { return nil }
        return folder.read("\(commit).json", most: HubLister.longest).flatMap {
            HubTree(parsing: $0)
        }
    }

    /// Keeps the list of all files of a commit, unless the cache has it.
    ///
    /// Other programs do without it, so that it fails without a message.
    func note(_ tree: HubTree, of commit: String) {
        guard let text = tree.text else { return }
        try? MadeFolders().make(trees, .madeBelow([path]))
        guard let folder = try? Folder(trees), folder.isFree("\(commit).json") else { return }
        try? folder.replace("\(commit).json", text)
    }

    private static func isCommit(_ text: String) -> Bool {
        text.utf8.count == 40 && text.allSatisfy { $0.isHexDigit && !$0.isUppercase }
    }
}
