import Foundation
import Segmenter
import TestSupport
import Testing

@testable import SeggetQueue

@Suite struct TaskSecretsTests {
    @Test func mergingReversesSplitting() throws {
        try forEachSeed(200) { seed, random in
            var made = MadeUpTasks(random)
            var task = made.task()
            if made.chance(3) { task.secretParts = [.headers, .other] }
            let (record, secrets) = task.split()
            #expect(secrets.merged(into: record) == task, "seed \(seed)")
            // The record contains no secrets.
            #expect(record.split().record == record, "seed \(seed)")
            #expect(record.split().secrets.isEmpty, "seed \(seed)")
            let json = try JSONEncoder().encode(secrets)
            #expect(try JSONDecoder().decode(TaskSecrets.self, from: json) == secrets)
        }
    }

    private static let lacking: [(String, String, QueueTask.SecretParts)] = [
        ("https://h/f?q", "https://h/f", .query), ("https://h/f", "https://h/f?q", .urls),
        ("https://me:pw@h/f", "https://h/f", []), ("https://h/f", "https://me:pw@h/f", .urls),
        ("https://h/f?q", "https://m/?q", [.query, .urls]),
    ]

    /// The record alone shows which secrets it lacks.
    @Test(arguments: lacking)
    func recordShowsMissingSecrets(
        url: String, current: String, parts: QueueTask.SecretParts
    ) {
        var task = QueueTask.plain(url)
        task.urls = [current]
        task.keepsNoSecrets = true
        #expect(task.split().record.secretParts == parts)
        task.refreshCommand = ["get", "it"]
        #expect(task.split().record.secretParts == parts)
        #expect(task.split().secrets.refreshCommand == ["get", "it"])
        task.options.mirrors = ["https://h/f?q"]
        #expect(task.split().record.secretParts == parts.union(.urls))
        task.options.headers = ["X-Key: a"]
        task.options.access.credentials = .init(user: "u", password: nil)
        #expect(task.split().record.secretParts == parts.union([.urls, .headers, .user]))
        task.options.access.bearerToken = "b"
        #expect(task.split().record.secretParts == parts.union([.urls, .headers, .user, .other]))
    }

    @Test func aPlainTaskHasNoSecrets() {
        let task = QueueTask.plain("https://h/@f?a=b@c")
        #expect(task.split().record == task)
        #expect(task.split().secrets.isEmpty)
        #expect(task.split().record.secretParts.isEmpty)
    }

    @Test(arguments: [
        ("https://me:pw@h/f?q#x", "https://h/f?q#x", "https://h/f"),
        ("https://h/f?q", "https://h/f?q", "https://h/f"),
        ("https://h/f#x?y", "https://h/f#x?y", "https://h/f"),
        ("https://h/@f", "https://h/@f", "https://h/@f"),
        ("https://me@H/a b?c@d", "https://H/a b?c@d", "https://H/a b"),
        ("http:/me:pw@h/f?q", "http://h/f?q", "http://h/f"),
        ("http:///me:pw@h/f", "http://h/f", "http://h/f"),
        ("me:pw@h/f", "h/f", "h/f"),
        ("http://a:b:c@d:pw@h/f", "http://h/f", "http://h/f"),
    ])
    func removesSecretsFromURLs(url: String, bare: String, withoutQuery: String) {
        #expect(WebAddress.withoutSecrets(url) == bare)
        #expect(WebAddress.withoutSecrets(url, keepsQuery: false) == withoutQuery)
    }
}
