import ArgumentParser
import Glibc
import SeggetReports

/// Reads secrets that are not on the command line.
enum Secret {
    /// The maximum length of a secret, in bytes.
    private static let longest = 64 << 10

    /// Reads a secret from a descriptor until end of file, without a final line break.
    ///
    /// - Parameters:
    ///   - descriptor: The descriptor, which is closed afterwards unless it is 0, 1 or 2.
    ///   - option: The option that named the descriptor.
    /// - Returns: The secret.
    /// - Throws: `ValidationError`.
    static func read(_ descriptor: Int32, for option: String) throws -> String {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = Glibc.read(descriptor, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else {
                throw ValidationError(
                    "the descriptor of `\(option)` cannot be read: "
                        + Diagnostic.describe(errno: errno))
            }
            guard count > 0 else { break }
            bytes += buffer[..<count]
            guard bytes.count <= longest else {
                throw ValidationError("the secret of `\(option)` is longer than 64 KiB")
            }
        }
        if descriptor > STDERR_FILENO { close(descriptor) }
        return try text(bytes, option)
    }

    private static func text(_ bytes: [UInt8], _ option: String) throws -> String {
        var bytes = bytes[...]
        if bytes.last == UInt8(ascii: "\n") { bytes.removeLast() }
        if bytes.last == UInt8(ascii: "\r") { bytes.removeLast() }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw ValidationError("the secret of `\(option)` is not UTF-8")
        }
        guard !text.isEmpty else { throw ValidationError("the secret of `\(option)` is empty") }
        return text
    }

    /// Prompts for a secret on the terminal, without echo.
    ///
    /// - Parameter prompt: The prompt.
    /// - Returns: The secret.
    /// - Throws: `ValidationError`, also if there is no terminal.
    static func ask(_ prompt: String) throws -> String {
        guard isatty(STDIN_FILENO) == 1, isatty(STDERR_FILENO) == 1 else {
            throw ValidationError(
                "`--user` has no password, and there is no terminal to ask on: give `USER:PASS`, "
                    + "`--password-fd` or `--netrc`")
        }
        var before = termios()
        tcgetattr(STDIN_FILENO, &before)
        var silent = before
        silent.c_lflag &= ~tcflag_t(ECHO)
        silent.c_lflag |= tcflag_t(ECHONL)
        // These signals are blocked, so that none ends the process while echo is off.
        var blocked = sigset_t()
        sigemptyset(&blocked)
        for signal in signals { sigaddset(&blocked, signal) }
        var mask = sigset_t()
        pthread_sigmask(SIG_BLOCK, &blocked, &mask)
        tcsetattr(STDIN_FILENO, TCSAFLUSH, &silent)
        defer {
            tcsetattr(STDIN_FILENO, TCSAFLUSH, &before)
            pthread_sigmask(SIG_SETMASK, &mask, nil)
        }
        let prompt = PrintableText.escape(prompt)
        StandardStreams.write(prompt, to: STDERR_FILENO)
        var bytes: [UInt8] = []
        while bytes.last != UInt8(ascii: "\n"), bytes.count <= longest {
            var wanted = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
            let isReady = poll(&wanted, 1, 100) > 0
            if isSignalled {
                tcsetattr(STDIN_FILENO, TCSAFLUSH, &before)
                StandardStreams.write("\n", to: STDERR_FILENO)
                // The pending signal is delivered here, and ends or stops the process.
                pthread_sigmask(SIG_SETMASK, &mask, nil)
                pthread_sigmask(SIG_BLOCK, &blocked, nil)
                tcsetattr(STDIN_FILENO, TCSAFLUSH, &silent)
                StandardStreams.write(prompt, to: STDERR_FILENO)
            } else if isReady {
                var buffer = [UInt8](repeating: 0, count: 4096)
                let count = Glibc.read(STDIN_FILENO, &buffer, buffer.count)
                guard count > 0 || (count < 0 && errno == EINTR) else { break }
                bytes += buffer[..<max(0, count)]
            }
        }
        return try text(bytes, "--user")
    }

    private static let signals = [SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP]

    private static var isSignalled: Bool {
        var pending = sigset_t()
        sigpending(&pending)
        return signals.contains { sigismember(&pending, $0) == 1 }
    }
}

/// Hides secrets on the command line, which every user can read in /proc.
package enum CommandLineSecrets {
    /// The number of the first argument that is not UTF-8, counted from 1.
    package static var firstNotUTF8: Int? {
        (1..<max(1, Int(CommandLine.argc))).first { index in
            CommandLine.unsafeArgv[index].map { String(validatingCString: $0) == nil } ?? false
        }
    }

    /// Overwrites all values of some options.
    ///
    /// - Parameter names: The names of the options, with dashes.
    package static func hideValues(of names: [String]) {
        func wipe(_ text: UnsafeMutablePointer<CChar>) {
            memset(text, Int32(UInt8(ascii: "*")), strlen(text))
        }
        for index in 1..<max(1, Int(CommandLine.argc)) {
            guard let argument = CommandLine.unsafeArgv[index] else { continue }
            for name in names {
                // The value is the next argument, also after joined letters, or in `--name=VALUE`
                // or `-nVALUE`.
                let isLong = name.hasPrefix("--")
                let joined = isLong ? name + "=" : name
                let endsSo =
                    !isLong && strspn(argument, "-") == 1
                    && strchr(argument, Int32(name.utf8.last ?? 0))?.advanced(by: 1).pointee == 0
                if strcmp(argument, name) == 0 || endsSo {
                    if let value = CommandLine.unsafeArgv[index + 1] { wipe(value) }
                } else if strncmp(argument, joined, joined.utf8.count) == 0 {
                    wipe(argument + joined.utf8.count)
                }
            }
        }
    }

    /// Overwrites secrets in the process's arguments.
    ///
    /// - Parameters:
    ///   - value: The whole value of an option or argument.
    ///   - secrets: The secret parts of `value`.
    package static func hide(in value: String, _ secrets: Substring...) {
        let value = value.utf8
        for index in 1..<max(1, Int(CommandLine.argc)) {
            guard let argument = CommandLine.unsafeArgv[index] else { continue }
            let count = strlen(argument)
            // The value is the whole argument, or follows `--name=`.
            guard count >= value.count,
                memcmp(argument + count - value.count, Array(value), value.count) == 0
            else { continue }
            for secret in secrets {
                let start = value.distance(from: value.startIndex, to: secret.startIndex)
                memset(
                    argument + (count - value.count + start), Int32(UInt8(ascii: "*")),
                    secret.utf8.count)
            }
        }
    }

    /// Overwrites the values of headers.
    package static func hide(headers: [String]) {
        for header in headers {
            guard let colon = header.firstIndex(of: ":") else { continue }
            hide(in: header, header[header.index(after: colon)...])
        }
    }

    /// Overwrites the passwords and queries of URLs.
    package static func hide(urls: [String]) {
        for url in urls {
            let start = url.firstRange(of: "://")?.upperBound ?? url.startIndex
            let mark = url.lastIndex(of: "@") ?? start
            // The query of a signed URL acts as a password. Some services put it after `#`.
            hide(
                in: url, url[start..<max(start, mark)],
                url[start...].drop { $0 != "?" && $0 != "#" }.dropFirst())
        }
    }
}
