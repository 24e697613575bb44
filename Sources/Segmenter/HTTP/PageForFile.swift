/// Whether a server sent an HTML page where the name or the media type promises something else: a login, a gate, or
/// an error that is answered with 200.
///
/// Pure.
enum PageForFile {
    /// Bytes at the beginning of a file that are looked at.
    static let length = 1024

    /// Whether something else is promised.
    ///
    /// - Parameters:
    ///   - names: What the file is called: by the caller, by the URL, by the server.
    ///   - type: The `Content-Type` field.
    /// - Returns: Whether one of them promises it.
    static func isPromised(names: [String], type: String?) -> Bool {
        names.contains { promises($0) } || type.map(promises(type:)) ?? false
    }

    /// Whether what arrived is a page.
    ///
    /// - Parameters:
    ///   - type: The `Content-Type` field.
    ///   - start: The beginning of the file; `nil` where it is not known: then the type decides.
    /// - Returns: Whether it is one.
    static func isOne(type: String?, start: [UInt8]?) -> Bool {
        guard let start else { return isHTML(type) }
        return isPage(start) || isHTML(type) && isText(start)
    }

    /// Whether a name is that of a model, an archive, a package or a disk image.
    static func promises(_ name: String) -> Bool {
        guard let dot = name.utf8.lastIndex(of: UInt8(ascii: ".")), dot > name.startIndex,
            suffixes.contains(name[dot...].dropFirst().lowercased())
        else { return false }
        // A page that is compressed is one: what a server decodes on the way is its text.
        let stem = name[..<dot].lowercased()
        return !pages.contains { stem.hasSuffix(".\($0)") }
    }

    /// Whether a media type is that of an archive, a package or a disk image.
    private static func promises(type: String) -> Bool {
        let name = type.prefix { $0 != ";" }.lowercased().filter { $0 != " " && $0 != "\t" }
        return types.contains(name)
    }

    private static let pages: Set = ["html", "htm", "xhtml", "shtml"]
    private static let suffixes: Set = [
        // Models and their data.
        "bin", "ckpt", "gguf", "ggml", "h5", "hdf5", "npy", "npz", "onnx", "parquet", "pb", "pt",
        "pth",
        "safetensors", "tflite",
        // Archives and packages.
        "7z", "apk", "appimage", "bz2", "cab", "conda", "crate", "deb", "dmg", "egg", "exe",
        "flatpak",
        "gem", "gz", "jar", "lz", "lz4", "lzma", "msi", "nupkg", "pkg", "rar", "rpm", "snap", "tar",
        "tbz2",
        "tgz", "txz", "tzst", "whl", "xz", "zip", "zst",
        // Disk images.
        "img", "iso", "qcow2", "raw", "squashfs", "vdi", "vhd", "vhdx", "vmdk", "wim",
    ]
    private static let types: Set = [
        "application/gzip", "application/java-archive", "application/vnd.debian.binary-package",
        "application/vnd.efi.iso", "application/vnd.rar", "application/x-7z-compressed",
        "application/x-bzip2", "application/x-cd-image", "application/x-gzip",
        "application/x-iso9660-image", "application/x-rpm", "application/x-tar", "application/x-xz",
        "application/zip", "application/zstd",
    ]

    /// Whether bytes begin as browsers know a page by (MIME Sniffing, section 7.1), after blanks and a byte order
    /// mark; a comment or an XML declaration is one where `<html` follows.
    private static func isPage(_ start: [UInt8]) -> Bool {
        var bytes = start.prefix(length)
        if bytes.starts(with: [0xef, 0xbb, 0xbf]) { bytes = bytes.dropFirst(3) }
        bytes = bytes.drop(while: blanks.contains)
        guard bytes.first == UInt8(ascii: "<") else { return false }
        let text = bytes.map {
            (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) ? $0 | 0x20 : $0
        }
        if ["<!--", "<?xml"].contains(where: { text.starts(with: $0.utf8) }) {
            return text.firstRange(of: "<html".utf8) != nil
        }
        return tags.contains { tag in
            guard text.starts(with: tag.utf8), text.count > tag.utf8.count else { return false }
            let next = text[tag.utf8.count]
            return next == UInt8(ascii: ">") || blanks.contains(next)
        }
    }

    private static let blanks: [UInt8] = [0x09, 0x0a, 0x0c, 0x0d, 0x20]
    private static let tags = [
        "<!doctype html", "<html", "<head", "<title", "<meta", "<body", "<script", "<style",
        "<iframe", "<h1", "<div", "<table", "<p",
    ]

    /// Whether there is no byte among them that no text has.
    private static func isText(_ start: [UInt8]) -> Bool {
        start.prefix(length).allSatisfy { $0 >= 0x20 || (0x08...0x0d).contains($0) || $0 == 0x1b }
    }
}

/// Whether a `Content-Type` is that of an HTML page.
func isHTML(_ type: String?) -> Bool { type?.lowercased().hasPrefix("text/html") == true }
