import Segmenter

@testable import SeggetAria2

/// What programs write for aria2c.
enum Aria2Targets {
    private static let surroundings = Aria2Settings.Surroundings(
        environment: [:], home: "/home/me", read: { _ in nil }, exists: { _ in false })

    /// A list: what is unfinished of it, written as a session, is the same list.
    static func list(_ bytes: [UInt8]) {
        guard let settings = try? Aria2Settings.read(["-i", "list"], in: surroundings),
            let (tasks, said) = try? settings.tasks(list: bytes)
        else { return }
        // Patterns stand for thousands, which take their time.
        guard tasks.reduce(0, { $0 + $1.urls.count }) <= 4096 else { return }
        for task in tasks {
            expect(!task.urls.isEmpty, "a task without a URL")
            check(task)
        }
        let text = Aria2Session.text(of: tasks.filter { $0.problem == nil })
        guard let (again, warnings) = try? settings.tasks(list: Array(text.utf8)) else {
            fatalError("the session does not read")
        }
        // A header that is not sent stays in it, and is told of again.
        expect(Set(warnings).isSubset(of: said), "the session has \(warnings), the list \(said)")
        expect(Aria2Session.text(of: again) == text, "written again, another session")
    }

    /// A command line, one word on a line.
    static func words(_ bytes: [UInt8]) {
        let words = lines(bytes).map { $0.replacing("\0", with: "") }
        do throws(Aria2Refusal) {
            let settings = try Aria2Settings.read(words, in: surroundings)
            _ = (settings.console, settings.jobs, settings.hooks, settings.stopAfter)
            expect(settings.uris.count <= words.count, "more URLs than words")
            for task in try settings.tasks(list: Array("http://h/f\n".utf8)).tasks { check(task) }
        } catch {
            expect(error.code == 1 || error.code == 28, "code \(error.code)")
            expect(!error.lines.isEmpty, "a refusal without a word")
        }
    }

    private static func check(_ task: Aria2Task) {
        guard task.problem == nil else { return }
        let item = task.batchItem(home: "/home/me", exists: { _ in true })
        expect(!item.url.isEmpty, "nothing to fetch")
        for header in item.options.headers {
            expect(!header.utf8.contains { $0 == 0x0a || $0 == 0x0d }, "a header of two lines")
        }
        if case .file(let path) = item.destination, task.options.text("dir")?.contains("..") != true
        {
            expect(!path.split(separator: "/").contains(".."), "a path that leads out: \(path)")
        }
    }
}
