/// A certificate authority of its own, and a certificate of its for 127.0.0.1 and localhost.
struct TestAuthority: Sendable {
    private let folder: String
    /// PEM file with the authority's certificate.
    let certificate: String
    /// PEM file with the server's certificate.
    let serverCertificate: String
    /// PEM file with the server's key.
    let serverKey: String

    /// Makes keys and certificates in `folder` with the `openssl` command.
    ///
    /// - Throws: ``ToolFailure``, ``SystemCallError``.
    init(in folder: String) throws {
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
        try Self.openssl(
            ["req", "-x509", "-days", "30", "-subj", "/CN=localhost", "-CA", "ca.pem", "-CAkey"]
                + ["ca.key", "-addext", "subjectAltName=IP:127.0.0.1,DNS:localhost"] + key
                + ["-addext", "basicConstraints=critical,CA:FALSE"]
                + ["-keyout", "server.key", "-out", "server.pem"],
            in: folder)
    }

    /// Makes a certificate for a client.
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
        let outcome = try ChildProcess.run(
            "/usr/bin/openssl", arguments, in: folder, timeout: 120)
        guard outcome.exitCode == 0 else {
            throw ToolFailure(tool: "openssl", text: outcome.errorOutput)
        }
    }
}

/// A program that the tests depend on did not do its work.
public struct ToolFailure: Error {
    /// The program.
    public let tool: String
    /// What it said.
    public let text: String
}
