/// The file that a later run takes as its list (`--save-session`).
package enum Aria2Session {
    /// The text of the file for these tasks, in aria2's form.
    ///
    /// Each has its URLs, its GID, and the options that the command line and the list gave it; what a
    /// configuration file says, a later run finds there again.
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

    /// Whether a text is on one line: a break in it would begin something else.
    private static func isLine(_ text: String) -> Bool {
        text.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7f || $0 == 0x09 }
    }
}
