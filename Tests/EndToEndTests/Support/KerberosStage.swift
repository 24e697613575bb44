import Foundation
import Glibc
import TestSupport

/// A realm on loopback, and Apache with mod_auth_gssapi, which accepts users with a ticket of the
/// realm.
final class KerberosStage: Sendable {
    let folder: Sandbox
    /// The file that Apache serves.
    let content = Content(size: 3_000_000, seed: 5)
    private let center: Run
    private let server: Run
    private let port: UInt16

    init() throws {
        let folder = try Sandbox("segget-krb")
        self.folder = folder
        chmod(folder.path, 0o755)
        let (center, server) = (try Nginx.freePort(), try Nginx.freePort())
        let path = folder.path
        try folder.write(
            "krb5.conf",
            """
            [libdefaults]
             default_realm = TEST
             dns_lookup_kdc = false
             dns_canonicalize_hostname = false
             rdns = false
             default_ccache_name = FILE:\(path)/tickets
            [realms]
             TEST = {
              kdc = 127.0.0.1:\(center)
             }
            [domain_realm]
             localhost = TEST

            """)
        try folder.write(
            "kdc.conf",
            """
            [kdcdefaults]
             kdc_listen = 127.0.0.1:\(center)
             kdc_tcp_listen = 127.0.0.1:\(center)
            [realms]
             TEST = {
              database_name = \(path)/principal
              key_stash_file = \(path)/stash
             }
            [logging]
             kdc = FILE:\(path)/kdc.log

            """)
        try Self.tool(
            folder, "/usr/sbin/kdb5_util", ["create", "-s", "-r", "TEST", "-P", "master"])
        for query in [
            "addprinc -pw hush me", "addprinc -randkey HTTP/localhost",
            "ktadd -k \(path)/keytab HTTP/localhost",
        ] {
            try Self.tool(folder, "/usr/sbin/kadmin.local", ["-q", query])
        }
        chmod(folder.path("keytab"), 0o644)
        mkdir(folder.path("files"), 0o755)
        try content.write(to: folder.path("files/f.bin"))
        chmod(folder.path("files/f.bin"), 0o644)
        let modules = [
            "mpm_event", "authn_core", "authz_core", "authz_user", "auth_gssapi", "alias",
        ].map { "LoadModule \($0)_module /usr/lib/apache2/modules/mod_\($0).so" }
        try folder.write(
            "apache.conf",
            """
            ServerRoot \(path)
            ServerName localhost
            Listen 127.0.0.1:\(server)
            PidFile \(path)/pid
            ErrorLog \(path)/log
            CustomLog \(path)/access "%u %>s %U"
            \(modules.joined(separator: "\n"))
            \(geteuid() == 0 ? "User www-data\nGroup www-data" : "")
            DocumentRoot \(path)/files
            <Location />
             AuthType GSSAPI
             AuthName test
             GssapiCredStore keytab:\(path)/keytab
             Require valid-user
            </Location>

            """)
        let environment = Self.environment(folder)
        self.center = try Run(
            "/usr/sbin/krb5kdc", ["-n"], in: path, environment: environment)
        self.server = try Run(
            "/usr/sbin/apache2", ["-DFOREGROUND", "-f", folder.path("apache.conf")], in: path,
            environment: environment)
        port = server
        let isUp = eventually(timeout: 60) { Self.accepts(center) && Self.accepts(server) }
        guard isUp else {
            throw Unexpected(text: self.center.errorOutput + self.server.errorOutput)
        }
    }

    deinit {
        for process in [center, server] {
            process.signal(SIGTERM)
            _ = try? process.wait(timeout: 20)
        }
    }

    /// Returns whether a server listens on a port of loopback.
    private static func accepts(_ port: UInt16) -> Bool {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        return withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
    }

    /// Obtains the user's ticket.
    func getTicket() throws {
        let password = try folder.write("password", "hush\n")
        let script = "exec kinit me < \(password)"
        try Self.tool(folder, "/bin/sh", ["-c", script])
    }

    /// The URL of the file.
    var url: String { "http://localhost:\(port)/f.bin" }

    /// Returns the users and statuses of the requests so far, with `-` for no user.
    func requests() throws -> [String] {
        String(decoding: try folder.read("access"), as: UTF8.self).split(separator: "\n").map(
            String.init)
    }

    var environment: [String: String] { Self.environment(folder) }

    private static func environment(_ folder: Sandbox) -> [String: String] {
        ["KRB5_CONFIG": folder.path("krb5.conf"), "KRB5_KDC_PROFILE": folder.path("kdc.conf")]
    }

    private static func tool(_ folder: Sandbox, _ program: String, _ arguments: [String]) throws {
        let outcome = try Run(
            program, arguments, in: folder.path, environment: environment(folder)
        ).wait()
        guard outcome.end == .exit(0) else {
            throw Unexpected(text: "\(program): \(outcome.output) \(outcome.errorOutput)")
        }
    }
}
