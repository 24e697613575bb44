import Foundation
import Glibc
import TestSupport
import Testing

/// Tests that clients over TCP reach no files outside the download folders, and run no programs.
@Suite(.timeLimit(.minutes(5)))
struct DoorFilesTests {
    private let stage: DoorStage

    init() throws { stage = try DoorStage() }

    private func url(_ path: String) -> String { stage.queue.origin.url(path) }

    /// The path of a file in the download folder.
    private func path(_ name: String) -> String { "\(stage.queue.folder)/\(name)" }

    /// Options that name a command, a local file, or an address of the service.
    private static let forbidden = [
        "on-download-start", "on-download-pause", "on-download-stop", "on-download-complete",
        "on-download-error", "load-cookies", "save-cookies", "netrc-path", "no-netrc",
        "input-file", "save-session", "save-session-interval", "force-save", "log", "log-level",
        "conf-path", "no-conf", "certificate", "private-key", "ca-certificate",
        "check-certificate", "server-stat-if", "server-stat-of", "dht-file-path", "hook",
        "refresh", "adopt", "daemon", "stop-with-process", "enable-rpc", "rpc-secret",
        "rpc-listen-all", "rpc-listen-port", "rpc-allow-origin-all", "rpc-user", "rpc-passwd",
        "rpc-certificate", "rpc-private-key", "rpc-secure", "rpc-save-upload-metadata",
        "rpc-max-request-size",
    ]

    @Test func ignoresOptionsThatNameCommandsOrFiles() throws {
        let (mark, script) = (stage.queue.home.path("mark"), stage.queue.home.path("hook"))
        try stage.queue.home.write("hook", "#!/bin/sh\necho \"$0 $*\" >>'\(mark)'\n")
        chmod(script, 0o755)
        try stage.queue.home.write("cookies", "127.0.0.1\tFALSE\t/\tFALSE\t0\tstolen\tyes\n")
        try stage.queue.home.write("netrc", "machine 127.0.0.1 login me password stolen\n")
        func value(_ name: String) -> String {
            switch name {
            case "load-cookies": stage.queue.home.path("cookies")
            case "netrc-path": stage.queue.home.path("netrc")
            case "on-download-start", "on-download-pause", "on-download-stop", "hook", "refresh",
                "on-download-complete", "on-download-error":
                script
            case "check-certificate", "no-netrc", "no-conf": "false"
            case "rpc-listen-all", "enable-rpc", "daemon", "rpc-secure": "true"
            default: mark
            }
        }
        let door = try stage.open()
        let before = try #require(
            try door.call("aria2.getGlobalOption") as? [String: String])
        for name in Self.forbidden {
            let option = "{\"\(name)\":\"\(value(name))\"}"
            let gid = try door.add(url("/\(name)"), option)
            #expect(
                try door.call("aria2.changeGlobalOption", option) as? String == "OK", "\(name)")
            _ = try door.call("aria2.changeOption", "\"\(gid)\"", option)
            #expect(try door.errorCode(gid) == "0", "\(name)")
            let options = try #require(
                try door.call("aria2.getOption", "\"\(gid)\"") as? [String: String])
            #expect(options[name] == nil, "\(name)")
            #expect(access(mark, F_OK) != 0, "\(name)")
        }
        #expect(try door.call("aria2.getGlobalOption") as? [String: String] == before)
        #expect(door.service.isRunning)
        #expect(try door.call("aria2.saveSession") is Door.CallError)
        let fields = stage.queue.origin.requests.flatMap(\.headers).map(\.value)
        #expect(!fields.contains { $0.contains("stolen") || $0.hasPrefix("Basic ") })
        try door.end()
        #expect(access(mark, F_OK) != 0)
    }

    @Test func filesStayBelowTheDownloadFolder() throws {
        let outside = try Sandbox("outside")
        let inside = try Sandbox("allowed")
        mkdir(path("sub"), 0o755)
        symlink(outside.path, path("link"))
        symlink(outside.path, path("sub/link"))
        let door = try stage.open("--allow-dir", inside.path)
        let folder = stage.queue.folder
        let rows = [
            #"{"dir":"\#(outside.path)"}"#, #"{"dir":"/"}"#, #"{"dir":"\#(folder)x"}"#,
            #"{"dir":"\#(folder)/../\#(outside.path.split(separator: "/").last ?? "")"}"#,
            #"{"dir":"\#(folder)/sub/../.."}"#, #"{"dir":".."}"#, #"{"out":"../a"}"#,
            #"{"out":"sub/../../a"}"#, #"{"out":".."}"#,
            #"{"dir":"\#(folder)/.ssh"}"#, #"{"dir":"\#(folder)/sub/.ssh/deeper"}"#,
            #"{"out":".profile"}"#, #"{"out":".ssh/authorized_keys"}"#,
            #"{"dir":"\#(folder)/link"}"#, #"{"dir":"\#(folder)/link/deeper"}"#,
            #"{"dir":"\#(folder)/sub/link"}"#, #"{"out":"link/a"}"#,
            #"{"dir":"\#(inside.path)/.x"}"#, #"{"dir":"\#(inside.path)/.."}"#,
        ]
        let before = try FileManager.default.subpathsOfDirectory(atPath: folder).sorted()
        for (number, options) in rows.enumerated() {
            let gid = try door.add(url("/\(number)"), options)
            #expect(try door.errorCode(gid) == "18", "\(options)")
        }
        #expect(
            try FileManager.default.subpathsOfDirectory(atPath: folder).sorted() == before)
        #expect(try outside.names() == [])
        #expect(try inside.names() == [])
        #expect(stage.queue.origin.requests.isEmpty)

        // A retry saves the files in the download folder, where clients may save files.
        let retry = try door.ask(
            "POST /api/v2/commands", door.authorization,
            #"{"commands":[{"command":"retry","states":["failed"]}]}"#)
        #expect(retry.status == 200)
        #expect(
            try eventually(poll: 0.1) {
                try !stage.queue.tasks().contains { $0["state"] as? String == "failed" }
            })
        #expect(
            try eventually(poll: 0.1) {
                try stage.queue.tasks().allSatisfy { $0["state"] as? String == "completed" }
            })
        #expect(try outside.names() == [])
        #expect(try inside.names() == [])

        // `changeOption` and `changeGlobalOption` refuse the same options.
        let held = try door.add(url("/held"), #"{"pause":"true"}"#)
        for options in rows {
            #expect(
                try door.call("aria2.changeOption", "\"\(held)\"", options) is Door.CallError,
                "\(options)")
        }
        for options in rows.filter({ $0.contains("dir") }) {
            #expect(
                try door.call("aria2.changeGlobalOption", options) is Door.CallError, "\(options)")
        }
        #expect(try door.status(held)["dir"] as? String == folder)

        for (number, options) in [
            #"{"dir":"\#(folder)/new/deeper"}"#, #"{"out":"sub/b"}"#, #"{"dir":"sub"}"#,
            #"{"dir":"\#(inside.path)/new"}"#, #"{"dir":"\#(folder)/./sub//"}"#,
        ].enumerated() {
            let gid = try door.add(url("/good\(number)"), options)
            #expect(try door.errorCode(gid) == "0", "\(options)")
        }
        #expect(access(path("new/deeper/good0"), F_OK) == 0)
        #expect(access(path("sub/b"), F_OK) == 0)
        #expect(access(inside.path("new/good3"), F_OK) == 0)
        try door.end()
    }

    @Test(arguments: ["--directory", "--allow-dir"])
    func refusesHomeAndRootAsFolders(option: String) throws {
        let home = try Sandbox("home")
        symlink(home.path, home.path("link"))
        for folder in ["/", home.path, home.path + "/.", home.path("link"), "/usr/.."] {
            let outcome = try Run(
                ["serve", "--queue", stage.queue.queue, "--rpc", "0", option, folder],
                in: stage.queue.folder, environment: ["SEGGET_NO_CONFIG": "1", "HOME": home.path]
            ).wait(timeout: 60)
            #expect(outcome.end != .exit(0), "\(folder)")
            #expect(outcome.errorOutput.contains("cannot be opened to clients"), "\(folder)")
        }
    }

    @Test func overwritesOnlyFilesOfQueue() throws {
        try "mine".write(toFile: path("mine"), atomically: true, encoding: .utf8)
        let door = try stage.open()
        func code(_ path: String, _ out: String) throws -> String? {
            let options = #"{"out":"\#(out)","allow-overwrite":"true"}"#
            return try door.errorCode(try door.add(url(path), options))
        }
        // The file existed before.
        #expect(try code("/a", "mine") == "13")
        #expect(try String(contentsOfFile: path("mine"), encoding: .utf8) == "mine")
        // The queue downloaded this file.
        #expect(try code("/a", "own") == "0")
        #expect(try stage.queue.isRight("own", "/a"))
        #expect(try code("/b", "own") == "0")
        #expect(try stage.queue.isRight("own", "/b"))
        // The queue downloaded this file, and it was changed since.
        try "changed".write(toFile: path("own"), atomically: true, encoding: .utf8)
        #expect(try code("/c", "own") == "13")
        #expect(try String(contentsOfFile: path("own"), encoding: .utf8) == "changed")
        // The queue does not own a file that appears while the task waits.
        let waiting = try door.add(
            url("/d"), #"{"out":"late","allow-overwrite":"true","pause":"true"}"#)
        try "mine".write(toFile: path("late"), atomically: true, encoding: .utf8)
        _ = try door.call("aria2.unpause", "\"\(waiting)\"")
        #expect(try door.errorCode(waiting) == "13")
        #expect(try String(contentsOfFile: path("late"), encoding: .utf8) == "mine")
        // Without `out`, the download gets another name.
        let unnamed = try door.add(url("/mine"), #"{"allow-overwrite":"true"}"#)
        #expect(try door.errorCode(unnamed) == "0")
        #expect(try String(contentsOfFile: path("mine"), encoding: .utf8) == "mine")
        #expect(try stage.queue.isRight("mine.1", "/mine"))
        try door.end()
    }

    @Test func repliesContainNoSecrets() throws {
        let door = try stage.open()
        let gid = try door.add(
            url("/a").replacing("://", with: "://me:SECRET@") + "?key=shown",
            """
            {"pause":"true","http-user":"me","http-passwd":"SECRET","http-proxy-passwd":"SECRET",\
            "https-proxy-passwd":"SECRET","all-proxy":"http://me:SECRET@127.0.0.1:1",\
            "all-proxy-passwd":"SECRET","user-agent":"shown",\
            "header":["Authorization: SECRET","Cookie: a=SECRET","Proxy-Authorization: SECRET",\
            "X-Shown: yes"]}
            """)
        for method in ["getOption", "tellStatus", "getUris", "getFiles"] {
            let reply = try door.ask(
                "POST /jsonrpc", "", door.body("aria2.\(method)", "\"\(gid)\""))
            #expect(reply.status == 200)
            #expect(!reply.body.contains("SECRET"), "\(reply.body)")
            if method == "getOption" {
                #expect(reply.body.contains("X-Shown: yes") && reply.body.contains("\"shown\""))
                #expect(reply.body.contains("127.0.0.1:1"))
            } else {
                #expect(reply.body.contains("?key=shown"))
            }
        }
        let own = try stage.queue.add("/own?key=hidden", "--paused")
        let links = try door.ask("GET /api/v2/links", door.authorization)
        #expect(links.status == 200)
        #expect(links.body.contains("?key=shown") && links.body.contains(gid), "\(links.body)")
        #expect(!links.body.contains("SECRET"), "\(links.body)")
        #expect(!links.body.contains("hidden") && !links.body.contains(own), "\(links.body)")
        // A link that the command line gave to a client's task is not shown to the client.
        try stage.queue.done("set", gid, "--url", url("/a?key=private"))
        #expect(!(try door.ask("GET /api/v2/links", door.authorization)).body.contains("private"))
        _ = try door.call("aria2.changeGlobalOption", #"{"http-passwd":"SECRET"}"#)
        #expect(
            !(try door.ask("POST /jsonrpc", "", door.body("aria2.getGlobalOption"))).body
                .contains("SECRET"))
        #expect(
            !(try door.ask("GET /api/v2/tasks/\(gid)", door.authorization)).body.contains("SECRET"))
        try door.end()
        #expect(!door.service.errorOutput.contains("SECRET"))
    }

    /// The API over TCP refuses options and folders that commands of this user may set through the
    /// socket.
    @Test func apiOverTCPRefusesCommandsAndFiles() throws {
        let outside = try Sandbox("outside")
        symlink(outside.path, path("link"))
        let mark = stage.queue.home.path("mark")
        let door = try stage.open()
        let folder = stage.queue.folder
        func add(_ more: String, root: String? = nil) -> String {
            #"{"command":"add","url":"\#(url("/a"))","root":"\#(root ?? folder)"\#(more)}"#
        }
        func status(_ command: String) throws -> Int {
            try door.ask(
                "POST /api/v2/commands", door.authorization, #"{"commands":[\#(command)]}"#
            ).status
        }
        for command in [
            add(#","refresh_command":["touch","\#(mark)"]"#), add("", root: outside.path),
            add("", root: "/"), add(#","folder":".."# + "\""), add(#","folder":"link"# + "\""),
            add(#","name":".profile"# + "\""), add(#","folder":".ssh"# + "\""),
            add(#","options":{"adopt":"/etc/passwd"}"#),
            add(#","options":{"ca_certificate":"/etc/passwd"}"#),
            add(#","options":{"takes_over":"complete"}"#), add(#","options":{"overwrite":true}"#),
            add(#","options":{"access":{"netrc_file":"/etc/passwd"}}"#),
            add(#","options":{"access":{"uses_netrc":true}}"#),
            add(#","options":{"access":{"cookie_file":"/etc/passwd"}}"#),
            add(#","options":{"access":{"client_certificate":"/etc/passwd"}}"#),
            add(#","options":{"access":{"client_key":"/etc/passwd"}}"#),
            add(#","options":{"access":{"interface":"lo"}}"#),
        ] {
            #expect(try status(command) == 403, "\(command)")
        }
        #expect(try stage.queue.tasks().isEmpty)
        let held = try stage.queue.add("/held", "--paused")
        for options in [
            #"{"overwrite":true}"#, #"{"ca_certificate":"/etc/passwd"}"#, #"{"adopt":null}"#,
            #"{"access":{"interface":"lo"}}"#, #"{"access":{"netrc_file":"/etc/passwd"}}"#,
            #"{"access":{"is_insecure":true}}"#, #"{"no_such_option":1}"#,
        ] {
            let command = #"{"command":"set","ids":["\#(held)"],"options":\#(options)}"#
            #expect(try status(command) == 403, "\(command)")
        }
        for options in [
            #"{"retries":1001}"#, #"{"connections":65}"#, #"{"mirrors":["http://h/"]}"#,
        ] {
            let command = #"{"command":"set","ids":["\#(held)"],"options":\#(options)}"#
            #expect(try status(command) == 400, "\(command)")
        }
        #expect(
            try status(
                #"{"command":"set","ids":["\#(held)"],"retries":7,"options":{"access":{"user_agent":null}}}"#
            )
                == 200)
        // The client may not remove the checksum of a task of this user; the other option of that
        // command is not changed either.
        let unguarded =
            #"{"command":"set","ids":["\#(held)"],"options":{"checksum":null,"retries":5}}"#
        let refused = try door.ask(
            "POST /api/v2/commands", door.authorization, #"{"commands":[\#(unguarded)]}"#)
        #expect(refused.body.contains("refused"), "\(refused.body)")
        #expect(refused.body.contains("`checksum`"), "\(refused.body)")
        #expect(try stage.queue.done("show", held).contains("retries=7"))
        try stage.queue.done("remove", held)
        #expect(try status(add(#","paused":true,"name":"b","folder":"sub""#)) == 200)
        for command in [
            #"{"command":"rename","all":true,"folder":"\#(outside.path)"}"#,
            #"{"command":"rename","all":true,"folder":"\#(folder)/link"}"#,
            #"{"command":"rename","all":true,"name":".profile"}"#,
        ] {
            #expect(try status(command) == 403, "\(command)")
        }
        let moved = #"{"command":"rename","all":true,"folder":"\#(folder)/other"}"#
        #expect(try status(moved) == 200)
        #expect(try stage.queue.tasks().first?["folder"] as? String == "\(folder)/other")
        try door.end()
        #expect(access(mark, F_OK) != 0)
        #expect(try outside.names() == [])
    }
}
