// Page: the files of the web page, and the tokens of its sessions. This folder knows no requests.

import CLinux
import CPage
import Crypto
import Foundation
import Glibc
import SeggetReports

/// A file of the web page.
struct PageFile: Sendable {
    var bytes: Data
    /// The media type, by the extension of the file's name.
    var type: String
    /// The entity tag (RFC 9110 §8.8.3), which depends on each byte.
    var tag: String

    init(_ bytes: Data, name: String) {
        self.bytes = bytes
        type = Self.type(of: name)
        tag = "\"\(SHA256.hash(data: bytes).description.suffix(16))\""
    }

    /// Returns the media type of a file, by the extension of its name.
    private static func type(of name: String) -> String {
        let end = name.lastIndex(of: ".").map { name[name.index(after: $0)...].lowercased() } ?? ""
        return types[end] ?? "application/octet-stream"
    }

    private static let types = [
        "html": "text/html; charset=utf-8", "css": "text/css; charset=utf-8",
        "js": "text/javascript; charset=utf-8", "mjs": "text/javascript; charset=utf-8",
        "json": "application/json", "map": "application/json", "svg": "image/svg+xml",
        "png": "image/png", "jpg": "image/jpeg", "jpeg": "image/jpeg", "gif": "image/gif",
        "webp": "image/webp", "ico": "image/x-icon", "woff": "font/woff", "woff2": "font/woff2",
        "ttf": "font/ttf", "txt": "text/plain; charset=utf-8",
        "webmanifest": "application/manifest+json",
    ]
}

/// The web page: the one in the executable, or the files of a folder.
package enum Page: Sendable {
    /// The page in the executable.
    case own
    /// The files of a folder; `/` is its `index.html`.
    case folder(String)

    /// The value of `Content-Security-Policy`.
    ///
    /// The page in the executable may load only resources of its own origin.
    var policy: String {
        switch self {
        case .own:
            """
            default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
            manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'
            """
        case .folder: "frame-ancestors 'none'"
        }
    }

    /// Returns the reason why a folder cannot serve as the page; `nil` if it can.
    ///
    /// Blocks on the disk.
    package static func problem(ofFolder folder: String) -> String? {
        let root = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard root >= 0 else {
            return "the folder \(Diagnostic.quote(folder)) with the web page cannot be opened: "
                + Diagnostic.describe(errno: errno)
        }
        close(root)
        guard read("/", in: folder) != nil else {
            return "the folder \(Diagnostic.quote(folder)) has no web page: `index.html` is missing"
        }
        return nil
    }

    /// Returns the file at a path; blocks on the disk for a page in a folder.
    ///
    /// - Parameter path: The path of the request, without a query, decoded.
    /// - Returns: The file; `nil` if there is none.
    func file(at path: String) -> PageFile? {
        switch self {
        case .own:
            let name =
                path == "/"
                ? "index.html" : path.hasPrefix("/app/") ? String(path.dropFirst(5)) : ""
            return Self.embedded[name]
        case .folder(let folder): return Self.read(path, in: folder)
        }
    }

    private static let embedded: [String: PageFile] = {
        var files: [String: PageFile] = [:]
        var number = 0
        while let file = page_file(number)?.pointee {
            let name = String(cString: file.name)
            files[name] = PageFile(Data(bytes: file.bytes, count: file.count), name: name)
            number += 1
        }
        return files
    }()

    /// The size of the largest file of a page in a folder, in bytes.
    private static let largest = 16 << 20

    /// Reads a file in a folder, without following links that lead out of it.
    private static func read(_ path: String, in folder: String) -> PageFile? {
        let name = path.hasSuffix("/") ? path + "index.html" : path
        let below = name.drop { $0 == "/" }
        // Hidden files are not served.
        guard !below.split(separator: "/").contains(where: { $0.hasPrefix(".") }) else {
            return nil
        }
        let root = open(folder, segget_path_only | O_DIRECTORY | O_CLOEXEC)
        guard root >= 0 else { return nil }
        defer { close(root) }
        let file = segget_open_beneath(root, String(below), O_RDONLY | O_NONBLOCK)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var status = stat()
        guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
            status.st_size <= largest
        else { return nil }
        let reader = FileHandle(fileDescriptor: file, closeOnDealloc: false)
        do {
            // `read` returns `nil` for an empty file.
            return PageFile(try reader.read(upToCount: largest) ?? Data(), name: name)
        } catch {
            return nil
        }
    }
}
