import Segmenter

/// The downloads of a run.
extension Aria2Settings {
    /// Returns the downloads, in order.
    ///
    /// - Parameter list: The content of the input file; `nil` if there is none.
    /// - Returns: The tasks, and the warnings about parts of the list and options without effect.
    /// - Throws: `Aria2Refusal`, if aria2 would not start.
    package func tasks(
        list: [UInt8]? = nil
    ) throws(Aria2Refusal) -> (tasks: [Aria2Task], warnings: [String]) {
        var reader = TaskReader()
        // Without the service, no client could resume a paused download.
        reader.keepsPause = isService
        guard inputFile != nil else {
            guard !uris.isEmpty else { return ([], []) }
            try reader.take(uris, options, isList: false)
            if let problem = reader.tasks.first(where: { $0.problem?.isFatal == true })?.problem {
                throw .exception(problem.text)
            }
            return (reader.tasks, reader.warnings)
        }
        let list = try Aria2List(list ?? [], home: home)
        var common = options
        common.remove("out")
        for item in list.items {
            try reader.take(item.urls, common.replaced(by: item.options), isList: true)
        }
        return (reader.tasks, list.warnings + reader.warnings)
    }
}

/// Creates tasks from URLs and options.
private struct TaskReader {
    private(set) var tasks: [Aria2Task] = []
    /// Whether a task can start paused.
    var keepsPause = false
    private var taken: Set<Download.ID> = []
    /// The number of URLs that were expanded from patterns.
    private var expanded = 0

    /// The distinct warnings of all tasks.
    var warnings: [String] {
        var seen: Set<String> = []
        return tasks.flatMap(\.warnings).filter { seen.insert($0).inserted }
    }

    /// Adds the URLs of a line or of the command line.
    mutating func take(
        _ words: [String], _ options: Aria2Options, isList: Bool
    ) throws(Aria2Refusal) {
        var (words, options) = (words, options)
        if options.flag("parameterized-uri") == true {
            do throws(Aria2Template.PatternError) {
                var expanded: [String] = []
                for word in words { expanded += try Aria2Template.expanded(word) }
                words = expanded
                self.expanded += expanded.count
                guard self.expanded <= Aria2Template.most else {
                    throw .init(text: "Loop range overflow.")
                }
                // A later run must not expand the URLs of the session file again.
                options.replace("parameterized-uri", with: "false")
            } catch {
                throw .exception(error.text)
            }
        }
        guard options.flag("force-sequential") != true else {
            options.removeAll("out")
            for word in words { add([word], options) }
            return
        }
        // All URLs are mirrors of one file, in any order. Each word that is not a URL is a
        // separate file.
        let areURLs = words.map(Aria2Task.isURL)
        let urls = zip(words, areURLs).filter(\.1).map(\.0)
        if !urls.isEmpty { add(urls, options) }
        for (word, isURL) in zip(words, areURLs) where !isURL { add([word], options) }
    }

    private mutating func add(_ words: [String], _ options: Aria2Options) {
        var seen: Set<String> = []
        var options = options
        let given = options["gid"]
        options.removeAll("gid")
        let isPaused = keepsPause && options.flag("pause") ?? false
        options.removeAll("pause")
        var task = Aria2Task(urls: words.filter { seen.insert($0).inserted }, options: options)
        task.isPaused = isPaused
        if let given {
            // aria2 also accepts capital letters, but not a GID of zeros only.
            if let gid = Download.ID(given.lowercased()), given.contains(where: { $0 != "0" }) {
                if taken.contains(gid) {
                    task.gidProblem = "GID \(gid) is not unique."
                } else {
                    task.gid = gid
                }
            } else {
                task.gidProblem = "\(given) is invalid for GID."
            }
        }
        taken.insert(task.gid)
        tasks.append(task)
    }
}
