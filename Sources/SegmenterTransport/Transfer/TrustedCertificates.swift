import CCurl
import Glibc

/// The trusted certificates that are used if the caller names no file.
///
/// The environment variables of the curl tool select them (curl(1), *Environment*). Without these,
/// libcurl's default applies.
struct TrustedCertificates: Sendable, Hashable {
    /// The PEM file with certificates; `nil` for libcurl's default.
    private(set) var file: String?
    /// The folder of certificates that are named by hash; `nil` for libcurl's default.
    private(set) var folder: String?
    /// The environment variable that names the file; `nil` for none.
    private(set) var variable: String?

    /// Reads the environment variables; an empty one counts as unset.
    init(environment: (String) -> String?) {
        func value(_ name: String) -> String? {
            environment(name).flatMap { $0.isEmpty ? nil : $0 }
        }
        let names = ["CURL_CA_BUNDLE", "SSL_CERT_FILE"]
        variable = names.first { value($0) != nil }
        file = variable.flatMap(value)
        if variable != "CURL_CA_BUNDLE" { folder = value("SSL_CERT_DIR") }
    }

    /// The trusted certificates that the environment of this process selects.
    static var own: TrustedCertificates {
        TrustedCertificates { name in getenv(name).flatMap { String(validatingCString: $0) } }
    }

    /// The default file of libcurl (`CURLINFO_CAINFO`); empty if it has none.
    static var builtInFile: String {
        guard let handle = curl_easy_init() else { return "" }
        defer { curl_easy_cleanup(handle) }
        var path: UnsafePointer<CChar>?
        segget_curl_getinfo_string(handle, CURLINFO_CAINFO, &path)
        return path.map { String(cString: $0) } ?? ""
    }
}

extension TransferRequest.Connecting {
    /// The error for a request whose file with trusted certificates cannot be read.
    package var certificateFailure: DownloadError.Reason {
        if let caCertificate { return .certificateFile(path: caCertificate) }
        let own = TrustedCertificates.own
        return .noCertificates(
            path: own.file ?? TrustedCertificates.builtInFile, variable: own.variable)
    }
}
