import Assembler

@testable import Segmenter
@testable import SegmenterRules

/// What becomes of URLs, and the names of files.
enum NameTargets {
    /// `Content-Disposition`.
    static func disposition(_ bytes: [UInt8]) {
        guard let url = WebURL("https://example.org/a/b.iso") else { fatalError("no URL") }
        check(name: FileName.suggested(disposition: text(bytes), url: url))
    }

    /// A URL, and on the next line a reference that is resolved against it.
    static func url(_ bytes: [UInt8]) {
        // libcurl reads to the first NUL; so does whoever gives one on a command line.
        let lines = lines(bytes.filter { $0 != 0 })
        guard let base = WebURL(lines[0]) else { return }
        check(url: base)
        guard lines.count > 1, let next = WebURL(lines[1], relativeTo: base) else { return }
        check(url: next)
        expect(
            next.credentials == nil || next.credentials != base.credentials
                || next.origin == base.origin || lines[1].contains("@"),
            "credentials go to another origin")
    }

    private static func check(url: WebURL) {
        let plain = url.text.utf8.allSatisfy { $0 > 0x20 && $0 != 0x7f }
        expect(plain, "a space or control character in a URL: \(url.text)")
        expect(url.isSecure == url.text.hasPrefix("https://"), "another scheme: \(url.text)")
        expect(url.isSecure || url.text.hasPrefix("http://"), "another scheme: \(url.text)")
        expect(!url.redacted.contains("?") && !url.redacted.contains("#"), "a query is shown")
        let authority = url.redacted.split(separator: "/", omittingEmptySubsequences: false)[2]
        expect(!authority.contains("@"), "credentials are shown")
        guard let again = WebURL(url.text) else {
            fatalError("it does not read again: \(url.text)")
        }
        expect(
            again.text == url.text && again.origin == url.origin
                && again.redacted == url.redacted && again.credentials == nil,
            "read again, it is another URL: \(url.text), then \(again.text)")
        check(name: FileName.suggested(disposition: nil, url: url))
        // Nothing but a user is added for netrc.
        let named = WebURL(url.text(with: "us:er@x"))
        expect(named?.text == url.text && named?.origin == url.origin, "a user leads elsewhere")
    }

    /// Names, one on a line, that the files of a batch in one folder take; the first line is names
    /// that earlier runs have begun, separated by tabs.
    static func folderNames(_ bytes: [UInt8]) {
        let lines = lines(bytes)
        let begun = lines[0].split(separator: "\t").map { FileName.sanitized(String($0)) }
        var names = FolderNames(begun: begun.filter { !$0.isEmpty })
        var given: [String] = []
        for line in lines.dropFirst().prefix(64) {
            let wanted = FileName.sanitized(line)
            guard !wanted.isEmpty else { continue }
            given.append(names.claim(wanted) { begun.contains($0) ? .own : .nobody })
        }
        for (index, name) in given.enumerated() {
            check(name: name)
            for other in given[(index + 1)...] {
                expect(other != name, "a name twice: \(name)")
                for suffix in [".part", ".segget", ".segget~"] {
                    expect(
                        other != name + suffix && name != other + suffix,
                        "a name is another one's part: \(name), \(other)")
                }
            }
        }
    }

    /// The name is one path component with room for what segget appends, and shows no trick.
    private static func check(name: String) {
        let bytes = name.utf8
        expect(!bytes.isEmpty && bytes.count <= 255 - ".segget~".utf8.count, "a length: \(name)")
        expect(!bytes.contains(UInt8(ascii: "/")) && !bytes.contains(0), "a separator: \(name)")
        expect(name != "." && name != ".." && !name.hasPrefix("."), "a dot in front: \(name)")
        expect(!name.hasPrefix("-") && !name.hasPrefix("~"), "a dash in front: \(name)")
        let lower = name.lowercased()
        expect(
            !lower.hasSuffix(".segget") && !lower.hasSuffix(".segget~"),
            "the name of a manifest: \(name)")
        for scalar in name.unicodeScalars {
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator:
                fatalError("U+\(String(scalar.value, radix: 16)) in a name")
            default: break
            }
        }
        // What is once safe stays what it is: a later run finds it again.
        expect(FileName.sanitized(name) == name, "made safe again, it is another name: \(name)")
    }
}
