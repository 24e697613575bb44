import Foundation
import TestSupport
import Testing

/// Replays the calls of server programs that download through aria2, and checks the responses that
/// they need.
@Suite(.timeLimit(.minutes(10)))
struct ServerClientTests {
    private let stage: ClientStage

    init() throws { stage = try ClientStage() }

    /// Sends calls as clients in Go do, with the time in nanoseconds as `id`, which a `Double`
    /// cannot represent.
    private final class Go {
        private let door: Door
        private var id: UInt64 = 1_764_202_568_123_456_789
        /// The headers of each request.
        private let fields =
            "User-Agent: Go-http-client/1.1\r\nContent-Type: application/json\r\n"
            + "Accept-Encoding: gzip\r\n"

        init(_ door: Door) { self.door = door }

        func text(_ method: String, _ parameters: String...) -> String {
            id += 1
            let all = ([#""token:\#(door.secret)""#] + parameters).joined(separator: ",")
            return #"{"jsonrpc":"2.0","method":"aria2.\#(method)","params":[\#(all)],"id":\#(id)}"#
                + "\n"
        }

        func answers(_ answer: ClientAnswer) -> Bool { answer.text.contains("\"id\":\(id),") }

        func call(
            _ method: String, _ parameters: String..., at place: SourceLocation = #_sourceLocation
        ) throws -> ClientAnswer {
            let text =
                parameters.isEmpty ? text(method) : text(method, parameters.joined(separator: ","))
            let answer = try door.say(text, fields, at: place)
            #expect(answers(answer), "\(answer.text)", sourceLocation: place)
            return answer
        }
    }

    /// OpenList and AList, offline download: `pkg/aria2/rpc`, `internal/offline_download/aria2`.
    @Test(arguments: ClientServer.allCases)
    func openList(server: ClientServer) throws {
        let door = try stage.open(server)
        let client = Go(door)
        // It listens for notifications without a token, and also polls every 3 s.
        _ = try door.socket()
        #expect(try client.call("getVersion")["version"]?.isEmpty == false)

        let folder = "\(stage.folder)/temp/aria2/0f1c"
        let gid = try #require(
            try client.call("addUri", #"["\#(stage.url("/held/a"))"],{"dir":"\#(folder)"}"#).word)
        let begun = try client.call("tellStatus", "\"\(gid)\"")
        #expect(["active", "waiting"].contains(begun["status"]))
        #expect(begun["totalLength"] == "0" && begun["completedLength"] == "0")
        #expect(begun.isOfTexts && begun.object["followedBy"] == nil)
        stage.goOn()
        let ended = try untilEnded { try client.call("tellStatus", "\"\(gid)\"") }
        #expect(ended["status"] == "complete")
        #expect(ended["totalLength"] == "\(ClientStage.size)")
        #expect(ended["completedLength"] == "\(ClientStage.size)")
        for key in ["followedBy", "seeder", "bittorrent", "infoHash"] {
            #expect(ended.object[key] == nil)
        }
        // The client moves all files of the folder when the task is complete.
        #expect(stage.names(in: folder) == ["a"])
        #expect(try stage.doors.queue.isRight("temp/aria2/0f1c/a", "/held/a"))

        // To cancel, the client sends `remove`, and sends no more calls about the task.
        let other = "\(stage.folder)/temp/aria2/0f1d"
        let stuck = try #require(
            try client.call("addUri", #"["\#(stage.url("/stuck"))"],{"dir":"\#(other)"}"#).word)
        // An empty part would be removed with its task.
        #expect(
            try eventually {
                try client.call("tellStatus", "\"\(stuck)\"")["completedLength"] != "0"
            })
        #expect(try client.call("remove", "\"\(stuck)\"").word == stuck)
        #expect(
            try untilEnded { try client.call("tellStatus", "\"\(stuck)\"") }["status"] == "removed")
        // The part remains, as in aria2.
        #expect(stage.names(in: other) == ["stuck.part", "stuck.segget"])

        // A failed task has an error message; calls about removed tasks return an error.
        let failing = try #require(
            try client.call("addUri", #"["\#(stage.url("/none"))"],{"dir":"\#(other)"}"#).word)
        let failed = try untilEnded { try client.call("tellStatus", "\"\(failing)\"") }
        #expect(failed["status"] == "error" && failed["errorMessage"]?.contains("404") == true)
        #expect(try client.call("remove", "\"\(failing)\"").message != nil)
        #expect(try client.call("tellStatus", "\"00000000000000aa\"").message != nil)
        try stage.end(door)
    }

    /// Tests the same calls with an address that begins with `ws:`.
    @Test(arguments: ClientServer.allCases)
    func openListOverAWebSocket(server: ClientServer) throws {
        let door = try stage.open(server)
        let client = Go(door)
        let socket = ClientSocket(try door.socket())
        func call(_ method: String, _ parameters: String) throws -> ClientAnswer {
            let answer = try socket.say(client.text(method, parameters))
            #expect(client.answers(answer), "\(answer.text)")
            return answer
        }
        let version = try socket.say(client.text("getVersion"))
        #expect(version["version"]?.isEmpty == false)
        let folder = "\(stage.folder)/temp/aria2/0f1e"
        let gid = try #require(
            try call("addUri", #"["\#(stage.url("/a"))"],{"dir":"\#(folder)"}"#).word)
        try socket.receive("aria2.onDownloadStart", of: gid)
        try socket.receive("aria2.onDownloadComplete", of: gid)
        #expect(try call("tellStatus", "\"\(gid)\"")["status"] == "complete")
        // The client recognizes notifications by their missing `id`.
        #expect(socket.notices.allSatisfy { !$0.text.contains("\"id\"") })
        try stage.end(door)
    }

    /// Cloudreve 4: `pkg/downloader/aria2`.
    @Test(arguments: ClientServer.allCases)
    func cloudreve(server: ClientServer) throws {
        let door = try stage.open(server)
        let client = Go(door)
        #expect(try client.call("getVersion")["version"]?.isEmpty == false)

        // The admin's options include numbers; the folder is created.
        func options(_ folder: String) -> String {
            #"{"allow-overwrite":"true","dir":"\#(folder)","follow-torrent":"mem","max-tries":5,"#
                + #""seed-time":"0","split":"2"}"#
        }
        let folder = "\(stage.folder)/temp/aria2/7f0b8a1e-0c53-4d5e-9d0a-0d6a1f1a2b3c"
        let gid = try #require(
            try client.call("addUri", #"["\#(stage.url("/held/a.zip"))"],\#(options(folder))"#).word
        )
        let begun = try client.call("tellStatus", "\"\(gid)\"")
        #expect(["active", "waiting"].contains(begun["status"]))
        #expect(begun["dir"] == folder && begun.isOfTexts)
        // The user's selection of files: the only one.
        let chosen = try client.call("changeOption", #""\#(gid)",{"select-file":"1"}"#)
        #expect(chosen.word == "OK", "\(chosen.text)")
        stage.goOn()
        let ended = try untilEnded { try client.call("tellStatus", "\"\(gid)\"") }
        #expect(ended["status"] == "complete" && ended["dir"] == folder)
        #expect(ended.file["path"] as? String == "\(folder)/a.zip")
        #expect(
            ended.file["index"] as? String == "1" && ended.file["selected"] as? String == "true")
        #expect(ended.file["length"] as? String == "\(ClientStage.size)")
        #expect(ended.file["completedLength"] as? String == "\(ClientStage.size)")
        #expect(ended["numPieces"] == "2" && ended["bitfield"] == "c0")
        for key in ["followedBy", "bittorrent", "infoHash"] { #expect(ended.object[key] == nil) }
        #expect(
            try stage.doors.queue.isRight(
                String(folder.dropFirst(stage.folder.count)) + "/a.zip", "/held/a.zip"))

        // To cancel, the client reads the status, sends `remove`, and deletes the folder 120 s
        // later.
        let other = "\(stage.folder)/temp/aria2/1b2c"
        let stuck = try #require(
            try client.call("addUri", #"["\#(stage.url("/stuck"))"],\#(options(other))"#).word)
        // An empty part would be removed with its task.
        #expect(
            try eventually {
                try client.call("tellStatus", "\"\(stuck)\"")["completedLength"] != "0"
            })
        #expect(
            try client.call("tellStatus", "\"\(stuck)\"").file["path"] as? String
                == "\(other)/stuck")
        #expect(try client.call("remove", "\"\(stuck)\"").word == stuck)
        #expect(
            try untilEnded { try client.call("tellStatus", "\"\(stuck)\"") }["status"] == "removed")
        #expect(stage.names(in: other) == ["stuck.part", "stuck.segget"])
        let failing = try #require(
            try client.call("addUri", #"["\#(stage.url("/none"))"],\#(options(other))"#).word)
        let failed = try untilEnded { try client.call("tellStatus", "\"\(failing)\"") }
        #expect(failed["status"] == "error" && failed["errorMessage"]?.contains("404") == true)
        try stage.end(door)
    }

    /// ComfyUI-Manager (`manager_downloader.py`) and comfy-cli (`file_utils.py`), which use aria2p
    /// 0.12.
    @Test(arguments: ClientServer.allCases)
    func comfyUI(server: ClientServer) throws {
        let door = try stage.open(server)
        func call(_ method: String, _ parameters: String...) throws -> ClientAnswer {
            let all = ([#""token:\#(door.secret)""#] + parameters).joined(separator: ", ")
            return try door.say(
                #"{"jsonrpc": "2.0", "method": "aria2.\#(method)", "id": -1, "params": [\#(all)]}"#,
                "User-Agent: python-requests/2.32.5\r\nAccept-Encoding: gzip, deflate\r\n"
                    + "Accept: */*\r\nConnection: keep-alive\r\n")
        }
        func downloads() throws -> [[String: Any]] {
            try call("tellActive").list + call("tellWaiting", "0", "1000").list
                + call("tellStopped", "0", "1000").list
        }
        /// Finds the task of a file as the manager does.
        func found(_ path: String) throws -> String? {
            try downloads().first {
                ($0["files"] as? [[String: Any]])?.contains { $0["path"] as? String == path }
                    == true
            }?["gid"] as? String
        }
        func add(_ path: String, _ name: String, _ more: String = "") throws -> String {
            try #require(
                try call(
                    "addUri", #"["\#(stage.url(path))"]"#,
                    #"{"dir": "\#(folder)", "out": "\#(name)"\#(more)}"#
                ).word)
        }
        let folder = "\(stage.folder)/models/checkpoints"
        #expect(try downloads().isEmpty)

        let gid = try add(
            "/held/m", "m.safetensors", #", "header": ["Authorization: Bearer hf_a"]"#)
        // The manager assumes that a task is complete if it is not active now.
        let begun = try call("tellStatus", "\"\(gid)\"")
        #expect(begun["status"] == "active" && begun["gid"] == gid)
        #expect(begun["totalLength"] == "0" && begun["completedLength"] == "0")
        #expect(begun.file["path"] as? String == "\(folder)/m.safetensors")
        #expect(try found("\(folder)/m.safetensors") == gid)
        stage.goOn()
        let ended = try untilEnded { try call("tellStatus", "\"\(gid)\"") }
        #expect(ended["status"] == "complete" && ended["totalLength"] == "\(ClientStage.size)")
        // The manager opens the file at once.
        #expect(stage.names(in: folder) == ["m.safetensors"])
        #expect(try stage.doors.queue.isRight("models/checkpoints/m.safetensors", "/held/m"))
        #expect(stage.sent("authorization", to: "/held/m") == ["Bearer hf_a"])
        #expect(try found("\(folder)/m.safetensors") == gid)

        let failing = try add("/none", "n.safetensors")
        let failed = try untilEnded { try call("tellStatus", "\"\(failing)\"") }
        #expect(failed["status"] == "error" && failed["errorCode"] == "3")
        #expect(failed["errorMessage"]?.isEmpty == false)

        // Ctrl-C removes the task and its result; aria2p then unlinks only the file and its
        // `.aria2` file.
        let stuck = try add("/stuck", "s.safetensors")
        // An empty part would be removed with its task.
        #expect(try eventually { try call("tellStatus", "\"\(stuck)\"")["completedLength"] != "0" })
        #expect(try call("forceRemove", "\"\(stuck)\"").word == stuck)
        #expect(try call("removeDownloadResult", "\"\(stuck)\"").word == "OK")
        #expect(try call("tellStatus", "\"\(stuck)\"").message != nil)
        let left = ["m.safetensors", "s.safetensors.part", "s.safetensors.segget"]
        #expect(eventually { stage.names(in: folder) == left })
        for gid in [gid, failing] {
            #expect(try call("removeDownloadResult", "\"\(gid)\"").word == "OK")
        }
        #expect(try downloads().isEmpty)
        #expect(stage.names(in: folder) == left)
        #expect(
            try door.say(
                #"{"jsonrpc": "2.0", "method": "aria2.tellActive", "id": -1, "params": ["token:x"]}"#
            ).message == "Unauthorized")
        try stage.end(door)
    }
}
