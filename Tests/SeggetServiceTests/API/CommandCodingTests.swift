import Foundation
import SeggetQueue
import Segmenter
import Testing

@testable import SeggetService

struct CommandCodingTests {
    private static let ids = #""ids":["53a1f0c2b7d94e68","9d"]"#
    private static let texts = [
        #"{"command":"start",\#(ids)}"#, #"{"command":"pause",\#(ids)}"#,
        #"{"command":"resume",\#(ids)}"#, #"{"command":"cancel",\#(ids)}"#,
        #"{"command":"retry",\#(ids)}"#, #"{"command":"mark_seen",\#(ids)}"#,
        #"{"all":true,"command":"pause"}"#,
        #"{"command":"resume","states":["paused","failed"],"tags":["iso"]}"#,
        #"{"command":"remove",\#(ids)}"#, #"{"command":"remove","files":true,\#(ids)}"#,
        #"{"command":"move",\#(ids),"to":"first"}"#, #"{"command":"move",\#(ids),"to":"last"}"#,
        #"{"command":"move",\#(ids),"to":3}"#, #"{"command":"rename",\#(ids),"name":"b"}"#,
        #"{"command":"rename","folder":"/else",\#(ids)}"#, #"{"command":"set",\#(ids)}"#,
    ]

    @Test func encodesCommandsWithoutDefaults() throws {
        let commands = Commands.all.dropFirst(2).prefix(Self.texts.count)
        for (command, text) in zip(commands, Self.texts) {
            #expect(String(decoding: try JSON.write(command), as: UTF8.self) == text)
        }
        let add = try JSON.write(Commands.all[0])
        #expect(
            String(decoding: add, as: UTF8.self)
                == #"{"command":"add","root":"/home/u","umask":"022","url":"https://example.org/file"}"#
        )
        let plan = QueueCommand.add(NewTask(plan: "/p/set.plan", to: .init(root: "/r")))
        let written = try JSON.write(plan)
        #expect(
            String(decoding: written, as: UTF8.self)
                == #"{"command":"add","plan":"/p/set.plan","root":"/r","umask":"022"}"#)
        #expect(try JSON.read(QueueCommand.self, from: written) == plan)
        let changes = TaskChanges {
            $0.headers = ["X-Key: secret"]
            $0.retries = 3
        }
        let set = try JSON.write(QueueCommand.set(TaskSelection(isAll: true), changes))
        #expect(
            String(decoding: set, as: UTF8.self)
                == #"{"all":true,"command":"set","headers":["X-Key: secret"],"retries":3}"#
        )
        let tag = try JSON.write(
            QueueCommand.tag(TaskSelection(ids: ["9d"]), add: ["a"], remove: []))
        #expect(
            String(decoding: tag, as: UTF8.self) == #"{"add":["a"],"command":"tag","ids":["9d"]}"#)
    }

    @Test(arguments: Commands.all)
    func readsCommandsAsWritten(command: QueueCommand) throws {
        #expect(try JSON.read(QueueCommand.self, from: try JSON.write(command)) == command)
    }

    @Test func missingMembersHaveDefaults() throws {
        let text = #"{"command":"add","url":"https://example.org/a","root":"/r","name":"n"}"#
        let place = QueueTask.Place(root: "/r", name: "n")
        #expect(place.isNameGiven)
        #expect(
            try JSON.read(QueueCommand.self, from: Data(text.utf8))
                == .add(NewTask("https://example.org/a", to: place)))
        #expect(try JSON.read(QueueSettings.self, from: Data("{}".utf8)) == QueueSettings())
    }

    @Test(arguments: [
        #"{"command":"add","root":"/r"}"#, #"{"command":"add","url":"https://a/"}"#,
        #"{"command":"add","url":"https://a/","root":"/r","folder":"/etc"}"#,
        #"{"command":"add","plan":"a","root":"/r"}"#,
        #"{"command":"add","plan":"/a","root":"/r","url":"https://a/"}"#,
        #"{"command":"add","plan":"/a","root":"/r","name":"n"}"#,
        #"{"command":"add","url":"https://a/","root":"/r","umask":"8"}"#,
        #"{"command":"add","url":"https://a/","root":"/r","umask":18}"#,
        #"{"command":"add","url":"https://a/","root":"/r","umask":"1000"}"#,
        #"{"command":"add","url":"https://a/","root":"/r","ids":["53"]}"#,
        #"{"command":"add","url":"https://a/","root":"/r","position":0}"#,
        #"{"command":"move","all":true}"#, #"{"command":"move","all":true,"to":"up"}"#,
        #"{"command":"move","all":true,"to":1.5}"#, #"{"command":"pause","all":false}"#,
        #"{"command":"pause","ids":[]}"#, #"{"command":"pause","ids":"53"}"#,
        #"{"command":"pause","all":true,"files":true}"#,
        #"{"command":"remove","all":true,"file":1}"#,
        #"{"command":"pause","states":["asleep"]}"#, #"{"command":"Pause","all":true}"#, "[]", "3",
    ])
    func refusesInvalidCommands(text: String) {
        #expect(throws: QueueError.self) {
            try JSON.read(QueueCommand.self, from: Data(text.utf8))
        }
    }
}
