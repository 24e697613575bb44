import Foundation

/// The kind of certificate of a test server.
public enum TestCertificate: Sendable, Hashable {
    /// For 127.0.0.1 and localhost, signed by the server's authority.
    case right
    /// Self-signed.
    case selfSigned
    /// For another host.
    case otherHost
    /// Expired long ago.
    case expired
    /// Not yet valid.
    case notYetValid
    /// Without a host, and with this text in its subject.
    case subject(String)

    var subject: String {
        if case .subject(let text) = self { text } else { "localhost" }
    }

    var names: [String] {
        switch self {
        case .subject: []
        case .otherHost: ["-addext", "subjectAltName=IP:127.0.0.9,DNS:other.example"]
        default: ["-addext", "subjectAltName=IP:127.0.0.1,DNS:localhost"]
        }
    }

    var validity: (start: String, end: String)? {
        switch self {
        case .expired: ("20200101000000Z", "20210101000000Z")
        case .notYetValid: ("20970101000000Z", "20980101000000Z")
        default: nil
        }
    }
}

/// A certificate authority, and its certificate for 127.0.0.1 and localhost.
struct TestAuthority: Sendable {
    private let folder: String
    /// PEM file with the authority's certificate.
    let certificate: String
    /// PEM file with the server's certificate.
    let serverCertificate: String
    /// PEM file with the server's key.
    let serverKey: String

    /// Creates keys and certificates in `folder` with the `openssl` command.
    ///
    /// - Throws: ``ToolFailure``, ``SystemCallError``.
    init(in folder: String, _ kind: TestCertificate = .right) throws {
        self.folder = folder
        certificate = "\(folder)/ca.pem"
        serverCertificate = "\(folder)/server.pem"
        serverKey = "\(folder)/server.key"
        let key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-noenc"]
        try Self.openssl(
            ["req", "-x509", "-days", "30", "-subj", "/CN=segget test authority"] + key
                + [
                    "-addext", "keyUsage=critical,keyCertSign", "-keyout", "ca.key", "-out",
                    "ca.pem",
                ],
            in: folder)
        let server =
            ["-subj", "/CN=\(kind.subject)"] + kind.names + key
            + ["-addext", "basicConstraints=critical,CA:FALSE", "-keyout", "server.key", "-out"]
        guard let (start, end) = kind.validity else {
            try Self.openssl(
                ["req", "-x509", "-days", "30"] + server + ["server.pem"]
                    + (kind == .selfSigned ? [] : ["-CA", "ca.pem", "-CAkey", "ca.key"]),
                in: folder)
            return
        }
        // Only `openssl ca` accepts dates of validity.
        let configuration = """
            [ca]
            default_ca=a
            [a]
            database=index
            serial=serial
            policy=p
            copy_extensions=copy
            [p]

            """
        try Data(configuration.utf8).write(to: URL(fileURLWithPath: "\(folder)/ca.conf"))
        try Data().write(to: URL(fileURLWithPath: "\(folder)/index"))
        try Self.openssl(["req", "-new"] + server + ["server.csr"], in: folder)
        try Self.openssl(
            ["ca", "-batch", "-config", "ca.conf", "-in", "server.csr", "-cert", "ca.pem"]
                + ["-keyfile", "ca.key", "-md", "sha256", "-startdate", start, "-enddate", end]
                + ["-rand_serial", "-preserveDN", "-notext", "-outdir", ".", "-out", "server.pem"],
            in: folder)
    }

    /// Creates a client certificate.
    ///
    /// - Parameter password: encrypts the key.
    /// - Returns: PEM files with the certificate and its key.
    /// - Throws: ``ToolFailure``, ``SystemCallError``.
    func makeClientCertificate(password: String?) throws -> (certificate: String, key: String) {
        try Self.openssl(
            ["req", "-x509", "-days", "30", "-subj", "/CN=client", "-CA", "ca.pem", "-CAkey"]
                + ["ca.key", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"]
                + (password.map { ["-passout", "pass:\($0)"] } ?? ["-noenc"])
                + ["-addext", "basicConstraints=critical,CA:FALSE"]
                + ["-keyout", "client.key", "-out", "client.pem"],
            in: folder)
        return ("\(folder)/client.pem", "\(folder)/client.key")
    }

    private static func openssl(_ arguments: [String], in folder: String) throws {
        let outcome = try Run(
            "/usr/bin/openssl", arguments, in: folder
        ).wait(timeout: 120)
        guard outcome.exitCode == 0 else {
            throw ToolFailure(tool: "openssl", text: outcome.errorOutput)
        }
    }
}

/// A failure of a program that the tests depend on.
public struct ToolFailure: Error {
    /// The program.
    public let tool: String
    /// Its output.
    public let text: String
}
