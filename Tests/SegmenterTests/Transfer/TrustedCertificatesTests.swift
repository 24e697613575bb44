import Testing

@testable import Segmenter
@testable import SegmenterRules
@testable import SegmenterTransport

@Suite struct TrustedCertificatesTests {
    @Test(
        arguments: [
            ([:], nil, nil, nil), (["CURL_CA_BUNDLE": ""], nil, nil, nil),
            (["SSL_CERT_FILE": "f"], "f", nil, "SSL_CERT_FILE"),
            (["SSL_CERT_DIR": "d"], nil, "d", nil),
            (["SSL_CERT_FILE": "f", "SSL_CERT_DIR": "d"], "f", "d", "SSL_CERT_FILE"),
            (
                ["CURL_CA_BUNDLE": "c", "SSL_CERT_FILE": "f", "SSL_CERT_DIR": "d"], "c", nil,
                "CURL_CA_BUNDLE"
            ),
        ] as [([String: String], String?, String?, String?)])
    func followEnvironmentVariables(
        variables: [String: String], file: String?, folder: String?, variable: String?
    ) {
        let trusted = TrustedCertificates { variables[$0] }
        #expect(trusted.file == file && trusted.folder == folder && trusted.variable == variable)
    }
}
