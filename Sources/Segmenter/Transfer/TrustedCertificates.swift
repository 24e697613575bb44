import CCurl
import Glibc

/// The certificates that are trusted where the caller names no file: those that the environment names, as the curl
/// tool reads it (curl(1), *Environment*), else libcurl's own.
struct TrustedCertificates: Sendable, Hashable {
    /// PEM file with certificates; `nil` for libcurl's own.
    private(set) var file: String?
    /// Folder with certificates, each named by its hash; `nil` for libcurl's own.
    private(set) var folder: String?
    /// The variable that names the file.
    private(set) var variable: String?

    /// Reads an environment; an empty variable counts as none.
    init(environment: (String) -> String?) {
        func value(_ name: String) -> String? {
            environment(name).flatMap { $0.isEmpty ? nil : $0 }
        }
        let names = ["CURL_CA_BUNDLE", "SSL_CERT_FILE"]
        variable = names.first { value($0) != nil }
        file = variable.flatMap(value)
        if variable != "CURL_CA_BUNDLE" { folder = value("SSL_CERT_DIR") }
    }

    /// Those of this process.
    static var own: TrustedCertificates {
        TrustedCertificates { name in getenv(name).flatMap { String(validatingCString: $0) } }
    }

    /// The file that libcurl was built to read; empty where it has none (CURLINFO_CAINFO).
    static var builtInFile: String {
        guard let handle = curl_easy_init() else { return "" }
        defer { curl_easy_cleanup(handle) }
        var path: UnsafePointer<CChar>?
        segget_curl_getinfo_string(handle, CURLINFO_CAINFO, &path)
        return path.map { String(cString: $0) } ?? ""
    }
}

extension TransferRequest.Connecting {
    /// Why a request fails whose certificates to trust cannot be read.
    var certificateFailure: DownloadError.Reason {
        if let caCertificate { return .certificateFile(path: caCertificate) }
        let own = TrustedCertificates.own
        return .noCertificates(
            path: own.file ?? TrustedCertificates.builtInFile, variable: own.variable)
    }
}
