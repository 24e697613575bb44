/// Recognizes an HTML page that a server sends instead of the expected file.
///
/// Such a page may be a login page, or an error with status 200. The name or the media type shows
/// which kind of file is expected. Pure.
package enum PageForFile {
    /// The number of bytes at the start of a file that are examined.
    package static let length = 1024

    /// Returns whether a name or the media type promises a file that is not a page.
    ///
    /// - Parameters:
    ///   - names: The names of the file from the caller, the URL and the server.
    ///   - type: The `Content-Type` field.
    /// - Returns: Whether one of them is that of a model, an archive, a package or a disk image.
    package static func isPromised(names: [String], type: String?) -> Bool {
        names.contains { promises($0) } || type.map(promises(type:)) ?? false
    }

    /// Returns whether the received file is a page.
    ///
    /// - Parameters:
    ///   - type: The `Content-Type` field.
    ///   - start: The first bytes of the file. If it is `nil`, the type alone decides.
    /// - Returns: Whether the file is an HTML page.
    package static func isOne(type: String?, start: [UInt8]?) -> Bool {
        guard let start else { return isHTML(type) }
        return isPage(start) || isHTML(type) && isText(start)
    }

    /// Returns whether a name is that of a model, an archive, a package or a disk image.
    static func promises(_ name: String) -> Bool {
        guard let dot = name.utf8.lastIndex(of: UInt8(ascii: ".")), dot > name.startIndex,
            suffixes.contains(name[dot...].dropFirst().lowercased())
        else { return false }
        // A compressed page, such as `index.html.gz`, counts as a page, because a server may decode
        // it.
        let stem = name[..<dot].lowercased()
        return !pages.contains { stem.hasSuffix(".\($0)") }
    }

    /// Returns whether a media type is that of an archive, a package or a disk image.
    private static func promises(type: String) -> Bool {
        let name = type.prefix { $0 != ";" }.lowercased().filter { $0 != " " && $0 != "\t" }
        return types.contains(name)
    }

    private static let pages: Set = ["html", "htm", "xhtml", "shtml"]
    private static let suffixes: Set = [
        // Models and their data
        "bin", "ckpt", "gguf", "ggml", "h5", "hdf5", "npy", "npz", "onnx", "parquet", "pb", "pt",
        "pth",
        "safetensors", "tflite",
        // Archives and packages
        "7z", "apk", "appimage", "bz2", "cab", "conda", "crate", "deb", "dmg", "egg", "exe",
        "flatpak",
        "gem", "gz", "jar", "lz", "lz4", "lzma", "msi", "nupkg", "pkg", "rar", "rpm", "snap", "tar",
        "tbz2",
        "tgz", "txz", "tzst", "whl", "xz", "zip", "zst",
        // Disk images
        "img", "iso", "qcow2", "raw", "squashfs", "vdi", "vhd", "vhdx", "vmdk", "wim",
    ]
    private static let types: Set = [
        "application/gzip", "application/java-archive", "application/vnd.debian.binary-package",
        "application/vnd.efi.iso", "application/vnd.rar", "application/x-7z-compressed",
        "application/x-bzip2", "application/x-cd-image", "application/x-gzip",
        "application/x-iso9660-image", "application/x-rpm", "application/x-tar", "application/x-xz",
        "application/zip", "application/zstd",
    ]

    /// Returns whether bytes start like an HTML page (MIME Sniffing §7.1).
    ///
    /// Whitespace and a byte order mark are skipped. A comment or an XML declaration counts only if
    /// `<html` follows.
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

    /// Returns whether no byte is a binary data byte (MIME Sniffing §3).
    private static func isText(_ start: [UInt8]) -> Bool {
        start.prefix(length).allSatisfy { $0 >= 0x20 || blanks.contains($0) || $0 == 0x1b }
    }
}

/// Returns whether a `Content-Type` is that of an HTML page.
package func isHTML(_ type: String?) -> Bool { type?.lowercased().hasPrefix("text/html") == true }
