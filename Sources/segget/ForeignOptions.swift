/// Options of curl, wget, aria2 and axel that segget names otherwise, and what to type here.
enum ForeignOptions {
    /// Why an option of another program is not needed, or what it is called here.
    ///
    /// A text that begins with `--` names segget's own option.
    static let table: [String: String] = [
        // curl
        "-O": "curl's is `--remote-name`, wget's is `--output FILE`",
        "-C": "not needed: resuming is the default", "--continue-at": "-C",
        "-s": "curl's is `--quiet`, aria2's is `--connections N`", "--silent": "--quiet",
        "-S": "not needed: errors are always shown", "--show-error": "-S",
        "-k": "curl's is `--insecure`; aria2's is not needed",
        "--create-dirs": "not needed with `--directory`: create the folder first",
        "--output-dir": "--directory", "--max-filesize": "--max-size", "-m": "--max-time",
        "--cacert": "--ca-certificate", "--cert": "--client-certificate", "-E": "--cert",
        "--key": "--client-key", "--pinnedpubkey": "--pinned-public-key",
        "--tlsv1.2": "`--tls-min 1.2`", "--tlsv1.3": "`--tls-min 1.3`",
        "--speed-limit": "--min-rate", "-Y": "--min-rate", "-e": "--referer",
        "-n": "curl's is `--netrc`, axel's is `--connections N`",
        "-K": "--config", "--retry": "--retries", "-z": "--timestamping",
        "-I": "`segget probe URL`",
        "--head": "`segget probe URL`", "-g": "not needed: URLs are taken as they are",
        "-Z": "`-j N` downloads several files at once", "--parallel": "-Z",
        "--parallel-max": "-Z", "-R": "not needed: the server's time is the default",
        "--remote-time": "-R",
        "--no-clobber": "not needed: nothing is replaced without `--overwrite`",
        "-#": "`--progress bar`", "--progress-bar": "-#",
        "--no-progress-meter": "`--progress none`",
        "--oauth2-bearer": "--bearer-fd", "-r": "not offered: segget fetches whole files",
        "--range": "-r", "-T": "--stall-timeout", "--digest": "not needed: the server says which",
        "--basic": "--digest", "--anyauth": "--digest",
        "--socks5-hostname": "`--proxy socks5h://…`",
        "--preproxy": "--proxy", "--noproxy": "--no-proxy",
        // wget
        "--output-document": "--output", "-P": "--directory", "--directory-prefix": "--directory",
        "-t": "--retries", "--tries": "--retries",
        "--timeout": "--stall-timeout", "--read-timeout": "--stall-timeout", "-nc": "--no-clobber",
        "-nv": "--quiet", "--no-verbose": "--quiet", "--spider": "`segget probe URL`",
        "--http-user": "`-u USER`", "--password": "--password-fd",
        "--http-password": "--password-fd", "--http-passwd": "--password-fd",
        "--load-cookies": "--cookie", "--no-check-certificate": "--insecure",
        "--certificate": "--client-certificate", "--private-key": "--client-key",
        "--secure-protocol": "--tls-min", "--content-disposition": "not needed: it is the default",
        "--trust-server-names": "--content-disposition", "--inet4-only": "`-4`",
        "--inet6-only": "`-6`", "--quota": "--max-size", "-Q": "--max-size",
        "--show-progress": "`--progress bar`", "-nd": "not needed: no folders are made",
        "--execute": "--config", "--backups": "--auto-rename", "--bind-address": "--interface",
        // aria2
        "--max-connection-per-server": "--connections", "--split": "--connections",
        "--min-split-size": "not needed: segget cuts the file by what each connection brings",
        "--dir": "--directory", "--out": "--output",
        "--max-download-limit": "--limit-rate", "--max-overall-download-limit": "--limit-rate",
        "--max-concurrent-downloads": "`-j N`", "--allow-overwrite": "--overwrite",
        "--auto-file-renaming": "--auto-rename", "--always-resume": "-C",
        "--max-tries": "--retries", "--conf-path": "--config", "--no-conf": "--no-config",
        "--all-proxy": "--proxy", "--http-proxy": "--proxy", "--https-proxy": "--proxy",
        "--check-certificate": "`--insecure` for `--check-certificate=false`",
        "--conditional-get": "--timestamping", "--lowest-speed-limit": "--min-rate",
        "--on-download-complete": "--on-complete", "--on-download-error": "--on-error",
        "--check-integrity": "`segget verify FILE`, and `--checksum`",
        "--console-log-level": "`--quiet` or `--verbose`", "--log-level": "--console-log-level",
        "--summary-interval": "`--progress plain`",
        "--retry-wait": "not needed: waits grow by themselves",
        "--max-file-not-found": "--retries", "--user-agent-string": "--user-agent",
        "--save-session": "not needed: what is unfinished stays beside its file",
        "--remove-control-file": "--no-resume", "--min-tls-version": "--tls-min",
        "--no-netrc": "not needed: `.netrc` is read only with `--netrc`",
        // axel
        "--num-connections": "--connections", "-a": "`--progress bar`", "--alternate": "-a",
        "--max-speed": "--limit-rate",
        "--max-redirect": "not offered: at most 20 redirects are followed",
    ]

    /// The first of the arguments that is no option of the command, and what to type instead.
    static func hint(
        for arguments: [String], in command: CommandTree.Command
    ) -> (option: String, text: String)? {
        let names = command.options.filter(\.isShown).flatMap(\.names)
        for argument in arguments.prefix(while: { $0 != "--" })
        where argument.hasPrefix("-") && argument != "-" {
            let option = String(argument.prefix { $0 != "=" })
            guard option.hasPrefix("--") else {
                let letter = option[option.index(after: option.startIndex)]
                guard !command.options.contains(where: { $0.letters.contains(letter) }) else {
                    continue
                }
                // `-nc` is a word of its own, `-t5` a letter with its value.
                let word = table[option] == nil ? "-\(letter)" : option
                return (word, text(for: word) ?? "`segget help` lists the options")
            }
            let name = String(option.dropFirst(2))
            guard command.option(name) == nil else { continue }
            let near = CommandTree.nearest(to: name, among: names)
            return (
                option,
                text(for: option) ?? near.map { "did you mean `--\($0)`?" }
                    ?? "`segget help` lists the options"
            )
        }
        return nil
    }

    /// What to do instead of an option, in words.
    static func text(for option: String) -> String? {
        var text = table[option]
        // What only leads to another row.
        while let next = text, let row = table[next] { text = row }
        guard let text else { return nil }
        return text.hasPrefix("-") ? "segget calls it `\(text)`" : text
    }
}
