package import ArgumentParser
import Glibc
import SeggetReports
package import Segmenter

/// The options for authentication, cookies, proxies, addresses and TLS.
package struct AccessArguments: ParsableArguments {
    @OptionGroup(title: "Access") package var who: CredentialArguments
    @OptionGroup(title: "Proxies and addresses") package var route: RouteArguments
    @OptionGroup(title: "TLS") package var tls: TLSArguments

    package init() {}

    /// Whether a secret is read from standard input.
    package var readsStandardInput: Bool {
        [who.passwordFd, who.bearerFd, tls.clientKeyPasswordFd].contains(STDIN_FILENO)
    }

    package func validate() throws {
        guard !route.ipv4 || !route.ipv6 else {
            throw ValidationError("`--ipv4` and `--ipv6` cannot be used together")
        }
        guard who.passwordFd == nil || who.user != nil else {
            throw ValidationError("`--password-fd` needs `--user`")
        }
        guard who.passwordFd == nil || who.user?.contains(":") != true else {
            throw ValidationError("`--user USER:PASS` and `--password-fd` both give a password")
        }
        guard who.user == nil || who.bearerFd == nil else {
            throw ValidationError("`--user` and `--bearer-fd` cannot be used together")
        }
        let descriptors = [who.passwordFd, who.bearerFd, tls.clientKeyPasswordFd].compactMap { $0 }
        guard descriptors.allSatisfy({ $0 >= 0 }) else {
            throw ValidationError("a descriptor is a number from 0 on")
        }
        guard Set(descriptors).count == descriptors.count else {
            throw ValidationError("a descriptor can give one secret only")
        }
        let files = [
            who.netrcFile, who.cookie, tls.clientCertificate, tls.clientKey, tls.pinnedPublicKey,
        ]
        guard !files.contains("") else {
            throw ValidationError("an empty name of a file or key cannot be used")
        }
        // Values from descriptors are checked after they have been read.
        try Self.check(options)
    }

    /// The secrets that were read from descriptors and the terminal.
    package struct Secrets: Codable, Sendable {
        var password: String?
        var bearerToken: String?
        var clientKeyPassword: String?

        /// Takes the secrets from options that have been read.
        init(_ options: AccessOptions) {
            password = options.credentials?.password
            bearerToken = options.bearerToken
            clientKeyPassword = options.clientKeyPassword
        }
    }

    /// Returns the library's options with secrets that another process has read.
    package func options(with secrets: Secrets) -> AccessOptions {
        var options = options
        options.credentials?.password = secrets.password
        options.bearerToken = secrets.bearerToken
        options.clientKeyPassword = secrets.clientKeyPassword
        return options
    }

    /// Whether no option is given, except possibly `--insecure`.
    package var isPlain: Bool {
        var options = options
        options.isInsecure = false
        return options == AccessOptions() && who.bearerFd == nil && tls.clientKeyPasswordFd == nil
    }

    /// The library's options, without secrets from descriptors and the terminal.
    private var options: AccessOptions {
        var options = AccessOptions()
        who.apply(to: &options)
        route.apply(to: &options)
        tls.apply(to: &options)
        return options
    }

    private static func check(_ options: AccessOptions) throws {
        do throws(AccessProblem) {
            try options.check()
        } catch {
            throw ValidationError("\(Diagnostic.describe(error)); \(Diagnostic.hint(error))")
        }
    }

    /// Reads the secrets, and returns the library's options.
    ///
    /// Call it once, before any thread starts and before signals are blocked: it may wait for a
    /// user who types a password.
    ///
    /// - Returns: The options with all secrets.
    /// - Throws: `ValidationError`.
    package func read() throws -> AccessOptions {
        var options = options
        if let passwordFd = who.passwordFd {
            options.credentials?.password = try Secret.read(passwordFd, for: "--password-fd")
        } else if options.credentials?.password == nil, let user = who.user, !options.usesNetrc {
            options.credentials?.password = try Secret.ask("Password for \(user): ")
        }
        if let bearerFd = who.bearerFd {
            options.bearerToken = try Secret.read(bearerFd, for: "--bearer-fd")
        }
        if let clientKeyPasswordFd = tls.clientKeyPasswordFd {
            options.clientKeyPassword = try Secret.read(
                clientKeyPasswordFd, for: "--client-key-password-fd")
        }
        try Self.check(options)
        return options
    }

    /// Overwrites secrets on the command line, where other processes could read them.
    ///
    /// - Parameters:
    ///   - headers: The values of `--header`.
    ///   - urls: URLs on the command line, whose passwords and queries are secrets.
    package func hideSecrets(headers: [String], urls: [String]) {
        CommandLineSecrets.hideValues(of: [
            "-u", "--user", "-b", "--cookie-text", "--referer", "--proxy",
        ])
        CommandLineSecrets.hide(headers: headers)
        CommandLineSecrets.hide(urls: urls)
    }
}
