import Assembler
import Segmenter

/// An option that an input file may give to one file.
struct InputOption: Sendable {
    /// What options change.
    struct Target: Sendable {
        var options = DownloadOptions()
        /// Folder of the file.
        var folder = "."
        /// Name of the file in the folder; `nil` is for the server or the URL to suggest.
        var name: String?
    }

    /// What it takes, for messages.
    let expected: String
    /// Applies a value; `false` when it is none that the option takes, with the target unchanged.
    let apply: @Sendable (inout Target, String) -> Bool

    /// All options by name: aria2's names, and those of segget's command line.
    ///
    /// Where an option is given several times, the last one counts; `header` adds up.
    static let table: [String: InputOption] = [
        "out": .init("the name of a file in `dir`, or in a folder below it") { target, value in
            let steps = value.split(separator: "/", omittingEmptySubsequences: false)
            guard steps.first != "", steps.last != "", !steps.contains(".."),
                !value.hasPrefix("~/"), !PathText.isURL(value)
            else { return false }
            target.name = value
            return true
        },
        // The scripts for Hugging Face name the folder of files at the root so.
        "dir": .init("a folder, without `~`, which no shell replaces here, and no URL") {
            target, value in
            guard value != "~", !value.hasPrefix("~/"), !PathText.isURL(value) else { return false }
            target.folder = value.isEmpty ? "." : value
            return true
        },
        "checksum": .init("ALGO=HEX, such as `sha-256=…`, or the hexadecimal digits alone") {
            target, value in
            guard let digest = try? Digest(parsing: value) else { return false }
            target.options.checksum = digest
            return true
        },
        "header": .init("`Name: value`") { target, value in
            guard (try? DownloadOptions.check(header: value)) != nil else { return false }
            target.options.headers.append(value)
            return true
        },
        "referer": text("a URL") { $0.options.access.referer = $1 },
        "user-agent": text("a name") { $0.options.access.userAgent = $1 },
        "http-user": text("a user, without a colon") {
            $0.options.access.credentials = .init(user: $1, password: nil)
        },
        "http-passwd": text("a password") {
            let user = $0.options.access.credentials?.user ?? ""
            $0.options.access.credentials = .init(user: user, password: $1)
        },
        "load-cookies": file { $0.options.access.cookieFile = $1 },
        "no-cookies": flag { $0.options.access.keepsCookies = !$1 },
        "all-proxy": text("the URL of a proxy") { $0.options.access.proxy = $1 },
        "no-proxy": text("hosts, separated by commas") { $0.options.access.noProxy = $1 },
        "certificate": file { $0.options.access.clientCertificate = $1 },
        "private-key": file { $0.options.access.clientKey = $1 },
        "check-certificate": flag { $0.options.access.isInsecure = !$1 },
        "allow-downgrade": flag { $0.options.access.allowsDowngrade = $1 },
        "header-cross-origin": flag { $0.options.access.crossesOrigins = $1 },
        "auto-file-renaming": flag { $0.options.naming.numbersTaken = $1 },
        "auto-rename": flag { $0.options.naming.numbersTaken = $1 },
        "remote-name": flag { $0.options.naming.usesURL = $1 },
        "remote-time": flag { $0.options.files.remoteTime = $1 },
        "conditional-get": flag { $0.options.files.timestamping = $1 },
        "timestamping": flag { $0.options.files.timestamping = $1 },
        "refuse-html": flag { $0.options.files.refusesHTML = $1 },
        "skip-existing": flag { $0.options.files.skipsExisting = $1 },
        "keep-manifest": flag { $0.options.files.keepManifest = $1 },
        "xattr": flag { $0.options.files.attributes = $1 ? .all : .none },
        "split": number(1...64) { $0.options.connections = .fixed($1) },
        "max-connection-per-server": number(1...64) { $0.options.connections = .fixed($1) },
        "connections": InputOption("1 to 64, auto or auto:N") { target, value in
            guard let count = ConnectionCount(value) else { return false }
            target.options.connections = count
            return true
        },
        "allow-overwrite": flag { $0.options.overwrite = $1 },
        "overwrite": flag { $0.options.overwrite = $1 },
        "continue": flag {
            $0.options.resume = $1
            $0.options.continuesExisting = $1
        },
        "wait-for-network": flag { $0.options.waitsForNetwork = $1 },
        "resume-unverified": flag { $0.options.resumeUnverified = $1 },
        "single-request": flag { $0.options.singleRequest = $1 },
        "ca-certificate": file { $0.options.caCertificate = $1 },
        "connect-timeout": seconds { $0.options.connectTimeout = $1 },
        "timeout": seconds { $0.options.stallTimeout = $1 },
        "stall-timeout": seconds { $0.options.stallTimeout = $1 },
        "retries": number(0...1000) { $0.options.retries = $1 },
        // aria2 counts the first attempt too, and takes 0 for no limit.
        "max-tries": number(0...1000) { $0.options.retries = $1 == 0 ? 1000 : $1 - 1 },
        "retry-wait": .init("0 to 600 seconds") { target, value in
            guard let number = Double(value), (0...600).contains(number) else { return false }
            target.options.retryWait = .seconds(number)
            return true
        },
        "max-download-limit": rate { $0.options.limits.rate = $1 },
        "lowest-speed-limit": rate { $0.options.limits.minRate = $1 },
        "min-split-size": .init("a number of bytes, such as `1M`") { target, value in
            guard let size = Quantity(value), size.bytes >= 1 else { return false }
            target.options.minSplitSize = Int64(size.bytes)
            return true
        },
        "file-allocation": .init("none, trunc, falloc or auto") { target, value in
            // aria2's `prealloc` writes zeros where nothing better is to be had.
            guard let allocation = FileAllocation(rawValue: value == "prealloc" ? "falloc" : value)
            else { return false }
            target.options.files.allocation = allocation
            return true
        },
    ]

    /// aria2's options of a file that change nothing, because what they mean is done anyway.
    static let ignored: [String: InputOption] = {
        var ignored: [String: InputOption] = [:]
        for option in Aria2Option.table where option.isForItems && table[option.name] == nil {
            guard case .accepted = option.treatment else { continue }
            ignored[option.name] = checked(by: option)
        }
        // `single-request` says it in lists.
        for name in ["max-file-not-found", "use-head"] {
            if let option = Aria2Option.named(name) { ignored[name] = checked(by: option) }
        }
        ignored["gid"] = InputOption("16 hexadecimal digits") { _, value in
            Download.ID(value.lowercased()) != nil
        }
        return ignored
    }()

    /// The option with a name.
    static func named(_ name: String) -> InputOption? { table[name] ?? ignored[name] }

    private static func checked(by option: Aria2Option) -> InputOption {
        InputOption(option.value.words ?? "a text") { _, value in
            (try? option.value(of: value, home: "")) != nil
        }
    }

    private init(
        _ expected: String, _ apply: @escaping @Sendable (inout Target, String) -> Bool
    ) {
        self.expected = expected
        self.apply = apply
    }

    private static func text(
        _ expected: String, _ set: @escaping @Sendable (inout Target, String) -> Void
    ) -> InputOption {
        InputOption(expected) { target, value in
            guard !value.isEmpty else { return false }
            var changed = target
            set(&changed, value)
            guard (try? changed.options.access.checkValues()) != nil else { return false }
            target = changed
            return true
        }
    }

    /// The path of a file.
    private static func file(
        _ set: @escaping @Sendable (inout Target, String) -> Void
    ) -> InputOption {
        let option = text("the path of a file, not a URL", set)
        return InputOption(option.expected) { target, value in
            !PathText.isURL(value) && option.apply(&target, value)
        }
    }

    private static func number(
        _ range: ClosedRange<Int>, _ set: @escaping @Sendable (inout Target, Int) -> Void
    ) -> InputOption {
        InputOption("\(range.lowerBound) to \(range.upperBound)") { target, value in
            guard let number = Int(value), range.contains(number) else { return false }
            set(&target, number)
            return true
        }
    }

    /// A rate, where 0 is none.
    private static func rate(
        _ set: @escaping @Sendable (inout Target, Double?) -> Void
    ) -> InputOption {
        InputOption("a rate in bytes per second, such as `8M`, or in bits, such as `8Mbit`, or 0") {
            target, value in
            guard let rate = Rate(value) else { return false }
            set(&target, rate.bytesPerSecond > 0 ? rate.bytesPerSecond : nil)
            return true
        }
    }

    private static func seconds(
        _ set: @escaping @Sendable (inout Target, Duration) -> Void
    ) -> InputOption {
        InputOption("0.1 to 86400 seconds") { target, value in
            guard let number = Double(value), (0.1...86_400).contains(number) else { return false }
            set(&target, .seconds(number))
            return true
        }
    }

    private static func flag(
        _ set: @escaping @Sendable (inout Target, Bool) -> Void
    ) -> InputOption {
        InputOption("`true` or `false`") { target, value in
            guard let isOn = Bool(value) else { return false }
            set(&target, isOn)
            return true
        }
    }
}
