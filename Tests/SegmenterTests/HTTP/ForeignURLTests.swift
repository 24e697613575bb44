import Testing

@testable import Segmenter
@testable import SegmenterRules
@testable import SegmenterTransport

@Suite struct ForeignURLTests {
    @Test(
        arguments: [
            ("magnet:?xt=urn:btih:0123", .magnet), ("MAGNET:?xt=x", .magnet),
            ("ftp://h/f", .scheme("ftp")), ("SFTP://u@h/f", .scheme("sftp")),
            ("scp://h/f", .scheme("scp")), ("git+ssh://h/f", .scheme("git+ssh")),
            ("data:text/plain,x", .scheme("data")), ("mailto:a@b", .scheme("mailto")),
            ("s3://bucket/key", .object("s3")), ("gs://bucket/key", .object("gs")),
            ("file:///etc/passwd", .localFile), ("file:/etc/passwd", .localFile),
            ("/etc/no/such/file", .localFile), ("./list", .localFile), ("../x", .localFile),
            ("~/x", .localFile), ("http://h/a\nhttp://h/b", .controlCharacter),
            ("http://h/a\r", .controlCharacter), ("ftp://h/\u{1}", .controlCharacter),
            ("http://h/a", nil), ("HTTPS://h/a", nil), ("example.org/f", nil),
            ("localhost:8080/f", nil), ("example.org:80/f?u=ftp://x", nil), ("", nil),
            ("not a url", nil), ("//h/f", nil), ("http://[::1/", nil), ("://x", nil),
            ("1ftp://x", nil), ("a b://x", nil), ("ü://x", nil), ("/", .localFile),
        ] as [(String, ForeignURL?)])
    func recognizesKind(text: String, kind: ForeignURL?) {
        #expect(ForeignURL(text, isFile: { _ in false }) == kind)
    }

    @Test func existingFileIsLocalFile() {
        #expect(ForeignURL("list.txt", isFile: { $0 == "list.txt" }) == .localFile)
        #expect(ForeignURL("lists.txt", isFile: { $0 == "list.txt" }) == nil)
        // A text with a scheme is not a path.
        #expect(ForeignURL("http://h/", isFile: { _ in true }) == nil)
    }
}
