import Foundation
import TestSupport
import Testing

/// Replays the calls of browser extensions and pages that send links to aria2 or Motrix, and checks
/// the responses that they need.
@Suite(.timeLimit(.minutes(10)))
struct BrowserClientTests {
    private let stage: ClientStage

    init() throws { stage = try ClientStage() }

    /// Chrome extensions: Aria2 Explorer, and Tampermonkey, whose scripts call by
    /// `GM_xmlhttpRequest`.
    private static let explorer = "chrome-extension://mpkodccbngfoacfalldjimigbofkhgjn"
    private static let tampermonkey = "chrome-extension://dhdgffkkebhmkfjojejmpbldmpobfkfo"
    /// A page that calls aria2 directly.
    private static let page = "https://pan.example"

    /// The headers of a request of an extension or a page.
    private static func fields(_ origin: String, type: String = "application/json") -> String {
        "Accept: application/json\r\nContent-Type: \(type)\r\nOrigin: \(origin)\r\n"
            + "Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: cors\r\n"
    }

    /// Aria2 Explorer: `background.js`, `js/aria2.js`.
    @Test(arguments: ClientServer.allCases)
    func aria2Explorer(server: ClientServer) throws {
        let door = try stage.open(server, origin: Self.explorer)
        let fields = Self.fields(Self.explorer)
        var id = -1
        func text(_ method: String, _ parameters: String..., token: String? = nil) -> String {
            id += 1
            let all = (["\"token:\(token ?? door.secret)\""] + parameters).joined(separator: ",")
            return #"{"jsonrpc":"2.0","method":"aria2.\#(method)","id":\#(id),"params":[\#(all)]}"#
        }
        // It opens a WebSocket, and uses POST until the WebSocket is open.
        let socket = ClientSocket(try door.socket("Origin: \(Self.explorer)\r\n"))
        let first = try door.say(text("getGlobalStat"), fields)
        for key in ["numActive", "numStopped", "numWaiting", "uploadSpeed", "downloadSpeed"] {
            #expect(first[key] == "0", "\(key)")
        }
        let second = try socket.say(text("getGlobalStat"))
        #expect(second.text.contains("\"id\":1,") && second["numActive"] == "0")

        // A link is sent by POST.
        let folder = "\(stage.folder)/films"
        let options =
            #"{"split":"4","max-connection-per-server":"4","header":["Cookie: a=b; c=d","#
            + #""User-Agent: Mozilla/5.0 (X11; Linux x86_64)","Accept-Language: de"],"#
            + #""referer":"https://page.example/list","out":"new/a b.zip","dir":"\#(folder)"}"#
        let gid = try #require(
            try door.say(text("addUri", #"["\#(stage.url("/held/z"))"]"#, options), fields).word)
        let changed = try door.say(
            text(
                "changeGlobalOption",
                #"{"max-concurrent-downloads":"3","max-overall-download-limit":"0"}"#), fields)
        #expect(changed.word == "OK", "\(changed.text)")
        #expect(try socket.say(text("getGlobalStat"))["numActive"] == "1")
        stage.goOn()
        try socket.receive("aria2.onDownloadStart", of: gid)
        try socket.receive("aria2.onDownloadComplete", of: gid)
        let ended = try socket.say(
            text("tellStatus", "\"\(gid)\"", #"["dir","files","bittorrent"]"#))
        #expect(Set(ended.object.keys) == ["dir", "files"])
        // The folders in `out` are below `dir`.
        #expect(ended["dir"]?.hasPrefix(folder) == true)
        #expect(ended.file["path"] as? String == "\(folder)/new/a b.zip")
        let files = try socket.say(text("getFiles", "\"\(gid)\"")).list
        #expect(files.map { $0["path"] as? String } == ["\(folder)/new/a b.zip"])
        #expect(try stage.doors.queue.isRight("films/new/a b.zip", "/held/z"))
        #expect(stage.sent("cookie", to: "/held/z") == ["a=b; c=d"])
        #expect(stage.sent("user-agent", to: "/held/z") == ["Mozilla/5.0 (X11; Linux x86_64)"])
        #expect(stage.sent("referer", to: "/held/z") == ["https://page.example/list"])

        let failing = try #require(
            try door.say(text("addUri", #"["\#(stage.url("/none"))"]"#, "{}"), fields).word)
        try socket.receive("aria2.onDownloadError", of: failing)
        // This word tells the extension that the secret is wrong.
        for answer in [
            try door.say(text("getGlobalStat", token: "wrong"), fields),
            try socket.say(text("getGlobalStat", token: "wrong")),
        ] {
            #expect(answer.message?.lowercased().contains("unauthorized") == true)
        }
        try stage.end(door)
    }

    /// User scripts without a secret: LinkSwift, a page with `token:undefined`, BaiduExporter.
    @Test(arguments: ClientServer.allCases)
    func userScripts(server: ClientServer) throws {
        let doors = try stage.openWithoutSecret(
            server, origins: [Self.tampermonkey, Self.page])
        let door = try #require(doors.first)

        // LinkSwift tests the connection, then adds a link with an empty token and headers without
        // a space.
        let script = Self.fields(Self.tampermonkey, type: "text/plain;charset=UTF-8")
        let version = try door.say(
            #"{"id":1764202568123,"jsonrpc":"2.0","method":"aria2.getVersion","params":["token:"]}"#,
            script)
        #expect(version.message == nil && version.result != nil)
        let added = try door.say(
            #"{"id":1764202568456,"jsonrpc":"2.0","method":"aria2.addUri","params":["token:","#
                + #"["\#(stage.url("/l"))"],{"out":"文件.zip","header":["User-Agent:netdisk;7.0","#
                + #""Referer:https://pan.example/","Cookie:a=b"]}]}"#, script)
        let gid = try #require(added.word, "\(added.text)")
        #expect(added.text.contains("\"id\":1764202568456,"))

        // A page's WebSocket, with the token of an undefined variable and an unknown option.
        let socket = ClientSocket(
            try doors[doors.count - 1].socket("Origin: \(Self.page)\r\n"))
        let told = try socket.say(
            #"{"id":"wp","jsonrpc":"2.0","method":"aria2.addUri","params":["token:undefined","#
                + #"["\#(stage.url("/held/w"))"],{"max-connection-per-server":"16","#
                + #""user-agent":"LogStatistic","opt":"w.mp4"}]}"#)
        #expect(told.message == nil && told.text.contains(#""id":"wp","#))
        let watched = try #require(told.word)
        stage.goOn()
        try socket.receive("aria2.onDownloadStart", of: watched)
        try socket.receive("aria2.onDownloadComplete", of: watched)

        // BaiduExporter sends no token.
        #expect(
            try door.say(
                #"{"jsonrpc":"2.0","method":"aria2.getVersion","id":1,"params":[]}"#, script
            )["version"]?.isEmpty == false)
        let exported = try door.say(
            #"{"jsonrpc":"2.0","method":"aria2.addUri","id":1764202568789,"params":["#
                + #"["\#(stage.url("/b"))"],{"out":"folder/b.bin","header":["#
                + #""User-Agent: netdisk;5.3.4.5","Referer: https://pan.example/disk/home"]}]}"#,
            script)
        let last = try #require(exported.word, "\(exported.text)")

        for (gid, name, path) in [
            (gid, "文件.zip", "/l"), (watched, "w", "/held/w"), (last, "folder/b.bin", "/b"),
        ] {
            let ended = try untilEnded {
                try door.say(#"{"id":1,"method":"aria2.tellStatus","params":["\#(gid)"]}"#)
            }
            #expect(ended["status"] == "complete" && ended["errorCode"] == "0")
            #expect(try stage.doors.queue.isRight(name, path), "\(name)")
        }
        #expect(stage.sent("user-agent", to: "/l") == ["netdisk;7.0"])
        #expect(stage.sent("referer", to: "/l") == ["https://pan.example/"])
        #expect(stage.sent("cookie", to: "/l") == ["a=b"])
        #expect(stage.sent("user-agent", to: "/held/w") == ["LogStatistic"])
        try stage.end(door)
    }

    /// Extensions that send links to the port of Motrix, and read only whether there is an error.
    @Test(arguments: ClientServer.allCases)
    func motrixCallers(server: ClientServer) throws {
        let extensions = "chrome-extension://aaaabbbbccccddddeeeeffffgggghhhh"
        let doors = try stage.openWithoutSecret(server, origins: [extensions])
        let door = try #require(doors.last)
        #expect(server == .daemon || doors.count == 2)
        let fields = Self.fields(extensions)
        let version = try door.say(
            #"{"jsonrpc":"2.0","id":"1764202568123","method":"aria2.getVersion","params":[]}"#,
            fields)
        #expect(version["version"]?.isEmpty == false)
        let added = try door.say(
            #"{"jsonrpc":"2.0","id":"1764202568124","method":"aria2.addUri","params":["#
                + #"["\#(stage.url("/m"))"],{"out":"m.iso","referer":"https://page.example/"}]}"#,
            fields)
        #expect(added.message == nil && added.text.contains(#""id":"1764202568124","#))
        // The other port serves the same tasks.
        let gid = try #require(added.word, "\(added.text)")
        let ended = try untilEnded {
            try doors[0].say(#"{"id":1,"method":"aria2.tellStatus","params":["\#(gid)"]}"#)
        }
        #expect(ended["status"] == "complete")
        #expect(try stage.doors.queue.isRight("m.iso", "/m"))
        #expect(stage.sent("referer", to: "/m") == ["https://page.example/"])
        let refused = try door.say(
            #"{"jsonrpc":"2.0","id":"1764202568125","method":"aria2.addUri","params":[["blob:x"],{}]}"#,
            fields)
        #expect(refused.message?.isEmpty == false)
        try stage.end(door)
    }
}
