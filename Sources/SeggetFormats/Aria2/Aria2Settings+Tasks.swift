import Segmenter

/// What a run has to fetch.
extension Aria2Settings {
    /// The files, in order.
    ///
    /// - Parameter list: The input file; `nil` where there is none.
    /// - Returns: The tasks, and what of list and options changes nothing, in words.
    /// - Throws: `Aria2Refusal`, where aria2 would not begin at all.
    package func tasks(
        list: [UInt8]? = nil
    ) throws(Aria2Refusal) -> (tasks: [Aria2Task], warnings: [String]) {
        var reader = TaskReader()
        // Without the service nothing waits until it is told to begin.
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

/// Makes tasks of URLs and options.
private struct TaskReader {
    private(set) var tasks: [Aria2Task] = []
    /// Whether a task can wait until it is told to begin.
    var keepsPause = false
    private var taken: Set<Download.ID> = []
    /// URLs that patterns have stood for.
    private var expanded = 0

    /// What is not done as it was asked for; each once.
    var warnings: [String] {
        var seen: Set<String> = []
        return tasks.flatMap(\.warnings).filter { seen.insert($0).inserted }
    }

    /// Takes the URLs of one line or of the command line.
    mutating func take(
        _ words: [String], _ options: Aria2Options, isList: Bool
    ) throws(Aria2Refusal) {
        var (words, options) = (words, options)
        if options.flag("parameterized-uri") == true {
            do throws(Aria2Template.Problem) {
                var expanded: [String] = []
                for word in words { expanded += try Aria2Template.expanded(word) }
                words = expanded
                self.expanded += expanded.count
                guard self.expanded <= Aria2Template.most else {
                    throw .init(text: "Loop range overflow.")
                }
                // What a session says of it is not expanded again.
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
        // Mirrors of one file, wherever they stand; what is none is a file of its own.
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
            // aria2 reads capital letters too, and takes no zero.
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
