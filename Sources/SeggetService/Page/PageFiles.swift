// Page: what a browser is given, and what lets it in. It knows files and tokens; it never knows a request.

import CLinux
import CPage
import Crypto
import Foundation
import Glibc
import SeggetReports

/// What a browser is given to show.
struct PageFile: Sendable {
    var bytes: Data
    /// What it is, by the end of its name.
    var type: String
    /// Its entity tag (RFC 9110 §8.8.3): another one as soon as a byte is another one.
    var tag: String

    init(_ bytes: Data, name: String) {
        self.bytes = bytes
        type = Self.type(of: name)
        tag = "\"\(SHA256.hash(data: bytes).description.suffix(16))\""
    }

    /// The media type of a file, by the end of its name.
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

/// The page: our own, which is in the executable, or somebody's, in a folder.
package enum Page: Sendable {
    /// Our own.
    case own
    /// What is in a folder, `index.html` first.
    case folder(String)

    /// What browsers may do with it: of our own page, nothing that it does not bring itself.
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

    /// Why a folder cannot be shown as a page; `nil` when it can.
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

    /// The file that a path stands for; blocks on the disk where it is a folder's.
    ///
    /// - Parameter path: Of the request, without a query, decoded.
    /// - Returns: The file; `nil` where there is none.
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

    /// The largest file of somebody's page, in bytes.
    private static let largest = 16 << 20

    /// Reads a file below a folder, through no link that leads out of it.
    private static func read(_ path: String, in folder: String) -> PageFile? {
        let name = path.hasSuffix("/") ? path + "index.html" : path
        let below = name.drop { $0 == "/" }
        // What begins with a dot is no page's.
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
            // At once at its end, it is empty.
            return PageFile(try reader.read(upToCount: largest) ?? Data(), name: name)
        } catch {
            return nil
        }
    }
}
