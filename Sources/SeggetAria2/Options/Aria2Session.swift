/// The session file, which a later run uses as its list (`--save-session`).
package enum Aria2Session {
    /// Returns the text of the session file for the tasks, in aria2's format.
    ///
    /// Each task has its URLs, its GID, and its options from the command line and the list.
    /// Options from a configuration file are omitted, because a later run reads them there.
    package static func text(of tasks: [Aria2Task]) -> String {
        tasks.map { task in
            let urls = task.urls.filter(isLine)
            guard !urls.isEmpty else { return "" }
            var text = urls.map { "\($0)\t" }.joined() + "\n gid=\(task.gid)\n"
            for option in Aria2Option.table where option.isForItems {
                for value in (task.options.values[option.name] ?? []).filter(isLine) {
                    text += " \(option.name)=\(value)\n"
                }
            }
            if task.isPaused { text += " pause=true\n" }
            return text
        }.joined()
    }

    /// Returns whether the text is a single line; a line break would start another entry.
    private static func isLine(_ text: String) -> Bool {
        text.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7f || $0 == 0x09 }
    }
}
