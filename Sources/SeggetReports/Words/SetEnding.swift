/// How the run of a data set has ended, in words.
package enum SetEnding: Sendable, Hashable {
    /// All files are complete.
    case completed(files: Int, size: Int64)
    /// The run was stopped.
    case stopped(done: Int, of: Int)
    /// Some of the files failed; `cause` is the message of the failure that counts.
    case failed(Int, of: Int, cause: String)
    /// These files are not the planned ones, and are not replaced.
    case foreign([String], of: Int)

    /// The ending in words.
    package var text: String {
        switch self {
        case .completed(let files, let size):
            "complete and verified, \(Units.count(Int64(files), "file")), \(Units.size(size))"
        case .stopped(let done, let files):
            "stopped; \(done) of \(Units.count(Int64(files), "file")) complete"
        case .failed(let failed, let files, let cause):
            "\(failed) of \(Units.count(Int64(files), "file")) failed: \(cause)"
        case .foreign(let paths, let files):
            "\(paths.count) of \(Units.count(Int64(files), "file")) exist in another version, and "
                + "are not replaced, because this set did not write them or they were changed: "
                + paths.prefix(3).map { Diagnostic.quote($0) }.joined(separator: ", ")
                + (paths.count > 3 ? " and others" : "")
        }
    }
}
