import SeggetQueue
import Segmenter

/// A command of each kind, with and without its optional members.
enum Commands {
    static let all: [QueueCommand] = [
        .add(NewTask("https://example.org/file", to: QueueTask.Place(root: "/home/u"))),
        .add(full),
        .start(some), .pause(some), .resume(some), .cancel(some), .retry(some), .markSeen(some),
        .pause(TaskSelection(isAll: true)),
        .resume(TaskSelection(tags: ["iso"], states: ["paused", "failed"])),
        .remove(some, files: false), .remove(some, files: true),
        .move(some, to: .first), .move(some, to: .last), .move(some, to: .at(3)),
        .rename(some, name: "b", folder: nil), .rename(some, name: nil, folder: "/else"),
        .set(some, TaskChanges()), .set(some, changes),
        .tag(some, add: ["a"], remove: ["b", "c"]),
    ]

    static let some = TaskSelection(ids: ["53a1f0c2b7d94e68", "9d"])

    static var full: NewTask {
        var task = NewTask(
            "https://example.org/file?key=secret",
            to: QueueTask.Place(root: "/home/u", folder: "a/b", name: "c", isNameGiven: false))
        task.id = QueueTask.ID("0123456789abcdef")
        task.options.headers = ["X-Key: secret"]
        task.options.retries = 3
        task.umask = 0o077
        task.refreshCommand = ["get-link", "--fresh"]
        task.tags = ["iso", "é"]
        task.isPaused = true
        task.position = .at(2)
        task.isAgain = true
        task.keepsNoSecrets = true
        return task
    }

    static var changes: TaskChanges {
        var changes = TaskChanges()
        changes.urls = ["https://example.org/other"]
        changes.options = OptionChanges(reset: ["access.no_proxy", "stall_timeout"]) {
            $0.connections = .upTo(8)
            $0.headers = ["X-A: b"]
            $0.access.credentials = .init(user: "me", password: "word")
            $0.access.proxy = "http://proxy.example/"
            $0.retries = 3
            $0.limits.rate = 1000
        }
        return changes
    }
}
