import Testing

@testable import SeggetAria2

struct Aria2SettingsTests {
    private func read(
        _ words: String..., environment: [String: String] = [:], files: [String: String] = [:]
    ) throws -> Aria2Settings {
        try Aria2Settings.read(
            words,
            in: .init(
                environment: environment, home: "/home/me", read: { files[$0] },
                exists: { files[$0] != nil }))
    }

    private func refusal(_ words: String..., files: [String: String] = [:]) throws -> Aria2Refusal {
        try refusal(words, files: files)
    }

    private func refusal(_ words: [String], files: [String: String] = [:]) throws -> Aria2Refusal {
        try #require(throws: Aria2Refusal.self) {
            try Aria2Settings.read(
                words,
                in: .init(
                    environment: [:], home: "/home/me", read: { files[$0] },
                    exists: { files[$0] != nil }))
        }
    }

    @Test func runOptionsComeFromTheCommandLine() throws {
        let settings = try read(
            "-q", "-j7", "--stderr", "--summary-interval=0", "--console-log-level=warn", "-l", "x",
            "--log-level=error", "--download-result=hide", "--human-readable=false",
            "--enable-color=false", "--show-console-readout=false",
            "--truncate-console-readout=false", "--save-session=s", "--save-session-interval=3",
            "--force-save", "--save-not-found=false", "--stop=5", "--stop-with-process=77",
            "--max-overall-download-limit=2K", "--dry-run", "--on-download-complete=/c", "-i", "-",
            "u")
        var console = Aria2Console()
        console.isQuiet = true
        console.usesStandardError = true
        console.showsReadout = false
        console.cutsReadout = false
        console.summaryInterval = 0
        console.isHumanReadable = false
        console.hasColour = false
        console.level = .warn
        console.results = .hide
        console.log = "x"
        console.logLevel = .error
        #expect(settings.console == console)
        #expect(settings.jobs == 7)
        #expect(settings.inputFile == "-")
        #expect((settings.saveSession, settings.saveSessionInterval) == ("s", 3))
        #expect(
            settings.options.forceSave && !settings.options.saveNotFound
                && settings.options.isDryRun)
        #expect((settings.stopAfter, settings.stopWithProcess) == (5, 77))
        #expect(settings.overallLimit == 2048)
        #expect(settings.hooks == [.complete: "/c"])
        #expect(settings.uris == ["u"])
    }

    @Test func defaultsMatchAria2() throws {
        let settings = try read("u")
        #expect(settings.console == Aria2Console())
        #expect(settings.jobs == nil && settings.inputFile == nil && settings.saveSession == nil)
        #expect(settings.saveSessionInterval == nil && settings.stopAfter == nil)
        #expect(settings.stopWithProcess == nil && settings.overallLimit == 0)
        #expect(
            !settings.options.forceSave && settings.options.saveNotFound
                && !settings.options.isDryRun)
        #expect(settings.hooks.isEmpty && settings.warnings.isEmpty)
        #expect(settings.action == .download)
    }

    @Test(
        arguments: [
            (["-v"], .version), (["-h"], .help(nil)), (["--help=#http"], .help("#http")),
            (["-hv", "-v"], .version), (["--enable-rpc", "-v"], .version),
        ] as [([String], Aria2Settings.Action)])
    func helpAndVersionHavePriority(words: [String], action: Aria2Settings.Action) throws {
        let none = Aria2Settings.Surroundings(
            environment: [:], home: "/", read: { _ in "split=z" }, exists: { _ in true })
        #expect(try Aria2Settings.read(words, in: none).action == action)
    }

    private static let old = "/home/me/.aria2/aria2.conf"
    private static let new = "/home/me/.config/aria2/aria2.conf"

    @Test func configurationFileHasLowestPriority() throws {
        let text = """
            # a comment
              # and one more
            split = 3
            header=A: b
            continue
            out=\tname \r

            nonsense=secret
            http://u:secret@h/=x
            http-proxy=file:1
            """
        let settings = try read(
            "--header", "C: d", "-s4", "u", environment: ["http_proxy": "env:2", "no_proxy": "x"],
            files: [Self.old: text, Self.new: "split=9"])
        #expect(settings.options["split"] == "4")
        #expect(settings.options.all("header") == ["A: b", "C: d"])
        #expect(settings.options.flag("continue") == true)
        #expect(settings.options["out"] == "name")
        #expect(settings.options["http-proxy"] == "http://env:2/")
        #expect(settings.options["no-proxy"] == "x")
        #expect(
            settings.warnings == [
                "Unknown option: nonsense", "Unknown option: (not an option name)",
            ])
        #expect(settings.options.values["continue"] == nil, "the session would repeat it")
    }

    @Test(
        arguments: [
            ([], [:], "old"), (["--no-conf"], [:], nil), (["--conf-path=/c"], [:], "other"),
            (["--conf-path="], [:], "old"), (["--no-conf=false"], [:], "old"),
            ([], ["XDG_CONFIG_HOME": "/x"], "old"),
        ] as [([String], [String: String], String?)])
    func findsConfigurationFileLikeAria2(
        words: [String], environment: [String: String], out: String?
    ) throws {
        let files = [Self.old: "out=old", Self.new: "out=new", "/c": "out=other"]
        let settings = try Aria2Settings.read(
            words + ["u"],
            in: .init(
                environment: environment, home: "/home/me", read: { files[$0] },
                exists: { files[$0] != nil }))
        #expect(settings.options["out"] == out)
    }

    @Test func fileOfXDGIsUsedWithoutAnOlderOne() throws {
        #expect(try read("u", files: [Self.new: "out=new"]).options["out"] == "new")
        let xdg = ["XDG_CONFIG_HOME": "/x"]
        let files = ["/x/aria2/aria2.conf": "out=x", Self.new: "out=new"]
        #expect(try read("u", environment: xdg, files: files).options["out"] == "x")
        let relative = ["XDG_CONFIG_HOME": "x"]
        #expect(try read("u", environment: relative, files: files).options["out"] == "new")
    }

    @Test func badValueInAFileEndsTheRun() throws {
        let inFile = try refusal("u", files: [Self.old: "split=z"])
        #expect(inFile.code == 28)
        #expect(inFile.lines.first == "Parse error in \(Self.old)")
        let missing = try refusal("--conf-path=/none", "u")
        #expect(missing.code == 1)
        #expect(missing.lines.first == "Configuration file /none is not found.")
        let bad = try refusal("-x99", "u")
        #expect(bad.code == 28)
        #expect(
            bad.lines[1] == "  -> errorCode=1 max-connection-per-server must be between 1 and 16.")
        let none = try refusal("-q")
        #expect((none.code, none.lines.first) == (1, "Specify at least one URL."))
        let settings = try read("u", environment: ["all_proxy": ":::"])
        #expect(settings.warnings.count == 1 && settings.options["all-proxy"] == nil)
    }

    @Test(arguments: [
        ["--torrent-file=x"], ["--metalink-file=x"], ["-S"], ["--enable-rpc", "--rpc-user=u"],
        ["--enable-rpc", "--rpc-secure"],
    ])
    func unsupportedOptionsAreRefused(words: [String]) throws {
        let refusal = try refusal(words + ["u"])
        #expect(refusal.code == 1 && refusal.lines.count == 1)
    }

    @Test func optionsWithoutEffectAreAccepted() throws {
        let settings = try read(
            "--daemon=false", "--enable-rpc=false", "--rpc-listen-port=6801", "--seed-time=0",
            "--bt-max-peers=3", "--select-file=1", "--show-files=false", "--follow-torrent=mem",
            "--deferred-input", "--server-stat-of=x", "--async-dns=false", "u")
        #expect(settings.warnings.isEmpty)
        let warned = try read("--save-cookies=x", "--load-cookies=none", "u")
        #expect(warned.warnings.count == 2)
        #expect(warned.options["load-cookies"] == nil)
    }
}
