import Assembler
import Foundation
import Segmenter
import TestSupport

@testable import SeggetQueue

/// Random tasks with all possible values, the same for the same seed.
struct MadeUpTasks {
    var random: SplitMix64
    /// A word in each secret.
    static let secret = "sesame"

    init(_ random: SplitMix64) { self.random = random }
    init(seed: UInt64) { random = SplitMix64(seed: seed) }

    mutating func tasks(_ count: Int) -> [QueueTask] {
        (0..<count).map { position in
            var task = task()
            task.status.position = Int64(position)
            return task
        }
    }

    mutating func task() -> QueueTask {
        let url = url()
        var task = QueueTask(
            id: QueueTask.ID(hex(random.next())) ?? QueueTask.ID(),
            url: url, urls: chance(3) ? [self.url(), self.url()] : [url], place: place(),
            options: options())
        task.keepsNoSecrets = chance(4)
        task.umask = UInt32(pick([0, 0o022, 0o077, 0o777]))
        task.refreshCommand = chance(4) ? ["sh", "-c", "echo '\(Self.secret)' \"y\" 🐌"] : []
        task.tags = ["z", "b", "ä%", "a b"].filter { _ in chance(4) }.shuffled(using: &random)
        task.status = status()
        task.added = time()
        task.started = maybe { $0.time() }
        task.finished = task.status.isEnded ? time() : nil
        task.lastByte = maybe { $0.time() }
        task.size = maybe { Int64(truncatingIfNeeded: $0.random.next() >> 1) }
        task.bytesDone = Int64(random.next() >> 20)
        task.contentType = maybe { $0.pick(["text/html; charset=\"x\"", ""]) }
        task.verified =
            chance(3) ? [Digest(crc32: 7), Digest(.md5, random.bytes(16))].compactMap { $0 } : []
        task.file = maybe { made in
            QueueTask.FileMark(
                device: made.random.next(), inode: made.random.next(),
                size: made.maybe { Int64($0.random.next() >> 2) },
                modified: made.maybe { -Int64($0.random.next() >> 40) })
        }
        task.isSeen = chance(2)
        task.chore = maybe { made in
            made.pick([
                .discard, .remove(files: true), .remove(files: false), .move(from: made.place()),
            ])
        }
        return task
    }

    private mutating func status() -> TaskStatus {
        var status = TaskStatus()
        status.wanted = pick(TaskStatus.Wanted.allCases)
        status.state =
            TaskStatus.State(
                word: TaskStatus.Word(rawValue: pick(TaskStatus.State.words)), time: time())
            ?? .waiting
        status.position = Int64(random.next() >> 40)
        status.attempts = Int(random.next() >> 60)
        status.problem = maybe { made in
            TaskProblem(
                kind: "reset", message: "it broke: \(made.random.next())", hint: "`x`", code: 69)
        }
        return status
    }

    private mutating func place() -> QueueTask.Place {
        QueueTask.Place(
            root: pick(["/", "/data", "/data/a_b", "/home/ü x"]),
            folder: pick(["", "sub", "a/b", "50%"]),
            name: maybe { $0.pick(["f", "file.bin", "Ärger.txt", "a_b"]) },
            isNameGiven: maybe { _ in true })
    }

    mutating func url() -> String {
        let user = pick(["", "", "me:\(Self.secret)@", "\(Self.secret)@"])
        let host = pick(["h", "h.example:8080", "[::1]"])
        let path = pick(["", "/", "/f", "/a/b.iso", "/@me/100%25_x", "/Ü"])
        let query = pick(["", "", "?key=q-\(Self.secret)", "?a=b@c&d=/"])
        let fragment = pick(["", "", "#f"])
        return "\(pick(["http", "https"]))://\(user)\(host)\(path)\(query)\(fragment)"
    }

    private mutating func options() -> DownloadOptions {
        var options = DownloadOptions()
        if chance(3) { options.connections = .upTo(Int(random.next() % 60) + 1) }
        if chance(3) { options.checksum = Digest(crc32: UInt32(truncatingIfNeeded: random.next())) }
        if chance(3) { options.headers = ["X-Api-Key: \(Self.secret)", "Accept-Language: de"] }
        if chance(3) { options.access.credentials = .init(user: "u", password: Self.secret) }
        if chance(4) { options.access.proxy = "http://u:\(Self.secret)@p:3128" }
        if chance(4) { options.access.bearerToken = Self.secret }
        if chance(3) { options.mirrors = [url(), url()] }
        if chance(3) { options.limits.rate = Double(random.next() >> 40) }
        if chance(4) { options.retries = Int(random.next() % 9) }
        if chance(6) {
            let future = Data(
                "{\"a_later_version\": {\"x\": [1, 2.5, null, \"\(Self.secret)\"]}}".utf8)
            options = (try? JSONDecoder().decode(DownloadOptions.self, from: future)) ?? options
        }
        return options
    }

    mutating func pick<Value>(_ values: [Value]) -> Value {
        values[Int(random.next() % UInt64(values.count))]
    }
    mutating func chance(_ oneIn: UInt64) -> Bool { random.next() % oneIn == 0 }
    private mutating func maybe<Value>(_ value: (inout Self) -> Value) -> Value? {
        chance(2) ? value(&self) : nil
    }
    private mutating func time() -> Double { Double.random(in: 0..<4e9, using: &random) }
    private func hex(_ number: UInt64) -> String {
        let digits = String(number, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}

/// A queue in a temporary folder.
struct StoredQueue {
    let sandbox: Sandbox
    let files: QueueFiles

    init() throws {
        sandbox = try Sandbox("segget-store")
        files = QueueFiles(sandbox.path("queue.sqlite"))
    }

    func open(_ mode: StoreMode = .readWrite) throws -> QueueStore {
        try QueueStore(files, mode: mode)
    }

    /// Returns the content of all files of the queue, by name.
    func contents() throws -> [String: Data] {
        try Dictionary(uniqueKeysWithValues: sandbox.names().map { ($0, try sandbox.read($0)) })
    }
}

extension QueueStore {
    /// Returns the damage of both databases, as SQLite's messages.
    func check() throws -> [String] {
        try read { db in try db.damage() } + (secretStore()?.check() ?? [])
    }
}

extension QueueTask {
    /// Returns a task with few properties.
    static func plain(
        _ url: String = "https://h/f", at position: Int64 = 0, _ state: TaskStatus.State = .waiting,
        in root: String = "/data", folder: String = "", name: String? = nil
    ) -> QueueTask {
        var task = QueueTask(
            id: ID(), url: url, urls: [url],
            place: Place(root: root, folder: folder, name: name), options: DownloadOptions())
        task.status.position = position
        task.status.state = state
        return task
    }
}
