import Assembler
import Testing

@testable import Segmenter
@testable import SegmenterRules
@testable import SegmenterTransport

@Suite struct AdvertisedDigestsTests {
    /// Digests of "abc".
    private static let sha256Base64 = "ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0="
    private static let sha256 =
        "sha-256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    private static let md5Base64 = "kAFQmDzST7DWlj99KOF/cg=="
    private static let md5 = "md5:900150983cd24fb0d6963f7d28e17f72"
    private static let sha1Base64 = "qZk+NkcGgWq6PiVxeFDCbJzQ2J0="
    private static let sha1 = "sha-1:a9993e364706816aba3e25717850c26c9cd0d89d"
    private static let sha512Base64 =
        "3a81oZNherrMQXNJriBBMRLm+k6JqX6iCp7u5ktV05ohkpkqJ0/BqDa6PCOj/uu9RU1EI2Q86A4qmslPpUyknw=="
    private static let sha512 =
        "sha-512:ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a"
        + "2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f"
    private static let crc32Base64 = "NSRBwg=="
    private static let crc32 = "crc32:352441c2"

    @Test(
        arguments: [
            // Repr-Digest: a dictionary of byte sequences.
            (["repr-digest": "sha-256=:\(sha256Base64):"], [sha256]),
            (
                ["repr-digest": "sha-512=:\(sha512Base64):, sha-256=:\(sha256Base64):"],
                [sha256, sha512]
            ),
            (["repr-digest": "md5=:\(md5Base64):, sha=:\(sha1Base64):"], [md5, sha1]),
            (["repr-digest": "sha-256=:\(sha256Base64):;q=1, unixsum=:AAA=:"], [sha256]),
            (["repr-digest": "sha-256=\(sha256Base64)"], []),
            (["repr-digest": "sha-256=:\(md5Base64):"], []),
            (["repr-digest": "sha-256=:not base64!:"], []), (["repr-digest": "sha-256"], []),
            (["repr-digest": "sha-256=\"\(sha256Base64)\""], []), (["repr-digest": ""], []),
            (["repr-digest": "sha-256=(:\(sha256Base64):)"], []), (["repr-digest": ":::"], []),
            (["repr-digest": "crc32c=:\(crc32Base64):, adler=:AAAAAA==:"], []),
            // Digest: a list.
            (["digest": "SHA-256=\(sha256Base64)"], [sha256]),
            (["digest": "sha-256=\(sha256Base64), MD5=\(md5Base64)"], [md5, sha256]),
            (["digest": "SHA=\(sha1Base64),unixsum=30637"], [sha1]),
            (["digest": "sha-512=\(sha512Base64)"], [sha512]),
            (["digest": "sha-256"], []), (["digest": "=\(sha256Base64)"], []),
            (["digest": ",,"], []),
            (["digest": "id-sha-256=\(sha256Base64)"], []), (["digest": "sha-256=####"], []),
            (["digest": "sha256=\(sha256Base64)"], []),
            // Google and Amazon.
            (["x-goog-hash": "crc32c=n03x6A==, md5=\(md5Base64)"], [md5]),
            (["x-goog-hash": "crc32c=n03x6A=="], []),
            (["x-amz-checksum-sha256": sha256Base64], [sha256]),
            (
                ["x-amz-checksum-sha1": sha1Base64, "x-amz-checksum-crc32": crc32Base64],
                [crc32, sha1]
            ),
            (
                ["x-amz-checksum-sha256": sha256Base64, "x-amz-checksum-type": "FULL_OBJECT"],
                [sha256]
            ),
            (["x-amz-checksum-sha256": sha256Base64, "x-amz-checksum-type": "COMPOSITE"], []),
            (["x-amz-checksum-sha256": sha256Base64, "x-amz-checksum-type": "composite"], []),
            (["x-amz-checksum-sha256": sha256Base64 + "-12"], []),
            (["x-amz-checksum-crc32": "NSRBwg==-3"], []),
            // Without a type, a checksum is ignored if the entity tag is that of a multipart
            // upload.
            (["x-amz-checksum-sha256": sha256Base64, "etag": "\"0f0f-2\""], []),
            (["x-amz-checksum-crc32": crc32Base64, "etag": "W/\"0f0f-12\""], []),
            (["x-amz-checksum-crc32": crc32Base64, "etag": "0f0f-2"], []),
            (
                [
                    "x-amz-checksum-sha256": sha256Base64, "x-amz-checksum-type": "OTHER",
                    "etag": "\"0f0f-2\"",
                ], []
            ),
            (
                [
                    "x-amz-checksum-sha256": sha256Base64, "x-amz-checksum-type": "full_object",
                    "etag": "\"0f0f-2\"",
                ], [sha256]
            ),
            (
                [
                    "x-amz-checksum-sha256": sha256Base64, "x-amz-checksum-type": "COMPOSITE",
                    "etag": "\"0f0f\"",
                ], []
            ),
            (["x-amz-checksum-sha256": sha256Base64, "etag": "\"0f0f\""], [sha256]),
            (["x-amz-checksum-sha256": sha256Base64, "etag": "\"12\""], [sha256]),
            (["x-amz-checksum-sha256": sha256Base64, "etag": "\"0f-2a\""], [sha256]),
            // Digests of other data, unsupported algorithms, and no digest.
            (["content-digest": "sha-256=:\(sha256Base64):"], []),
            (["x-amz-checksum-crc32c": crc32Base64], []), ([:], []),
            // The same digest in several fields counts once.
            (["digest": "md5=\(Self.md5Base64)", "x-goog-hash": "md5=\(md5Base64)"], [md5]),
        ] as [([String: String], [String])])
    func readsAllKindsOfFields(fields: [String: String], expected: [String]) {
        for status in [200, 206] {
            let found = AdvertisedDigests.all(in: Reply(status: status, fields: fields))
            // In a 206, Amazon's checksum is that of the range.
            let isOfPart = status == 206 && fields.keys.contains { $0.hasPrefix("x-amz") }
            #expect(found.map(\.description).sorted() == (isOfPart ? [] : expected))
        }
    }

    @Test func ignoresDigestsOfStoredCoding() {
        var fields = [
            "x-goog-hash": "md5=\(Self.md5Base64)", "x-goog-stored-content-encoding": "gzip",
        ]
        #expect(AdvertisedDigests.all(in: Reply(status: 200, fields: fields)).isEmpty)
        fields["x-goog-stored-content-encoding"] = "identity"
        #expect(AdvertisedDigests.all(in: Reply(status: 200, fields: fields)).count == 1)
    }

    @Test(
        arguments: [
            (200, md5Base64, [md5]), (206, md5Base64, []), (200, " \(md5Base64) ", [md5]),
            (200, "", []), (200, "kAFQmDzST7DWlj99KOF/", []), (200, "nonsense", []),
        ] as [(Int, String, [String])])
    func contentMD5CountsOnlyForWholeFile(status: Int, field: String, expected: [String]) {
        let reply = Reply(status: status, fields: ["content-md5": field])
        #expect(AdvertisedDigests.all(in: reply).map(\.description) == expected)
    }

    @Test func loopKeepsAllDigestFields() {
        let read = [
            "repr-digest", "digest", "x-goog-hash", "content-md5", "x-amz-checksum-type",
            "x-amz-checksum-sha256", "x-amz-checksum-sha1", "x-amz-checksum-crc32",
            "content-digest",
        ]
        #expect(Set(read).subtracting(Reply.fieldNames).isEmpty)
    }

    /// `Content-Digest` covers the content: the range in a 206, and nothing in a response to `HEAD`
    /// (RFC 9530 §2).
    @Test(
        arguments: [
            (200, nil, true), (206, "bytes 0-9/10", true), (206, "bytes 0-8/10", false),
            (206, "bytes 1-9/10", false), (206, "bytes 0-9/*", false), (206, nil, false),
            (200, "bytes 0-9/10", false), (404, nil, false),
        ] as [(Int, String?, Bool)])
    func contentDigestCountsOnlyForWholeFile(status: Int, range: String?, isWhole: Bool) {
        var reply = Reply(
            status: status, fields: ["content-digest": "sha-256=:\(Self.sha256Base64):"])
        reply.fields["content-range"] = range
        #expect(AdvertisedDigests.all(in: reply, hasContent: true).isEmpty == !isWhole)
        #expect(AdvertisedDigests.all(in: reply).isEmpty)
        #expect(AdvertisedDigests.content(of: reply) != nil)
    }
}
