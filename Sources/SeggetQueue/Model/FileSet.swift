/// The data set that a task downloads: the number of its files, and how many of them are done.
///
/// The files themselves are in the task's plan, which the queue stores beside its database.
public struct FileSet: Sendable, Hashable, Codable {
    /// The name of the set: 16 hexadecimal digits, as in its plans.
    public var name: String
    /// The number of files.
    public var files: Int
    /// The number of complete files, at the last change of the task's state.
    public var filesDone = 0
    /// The number of files that failed in the last run.
    public var filesFailed = 0

    /// Creates a set of which no file is complete.
    public init(name: String, files: Int) { (self.name, self.files) = (name, files) }

    enum CodingKeys: String, CodingKey {
        case name, files
        case filesDone = "done"
        case filesFailed = "failed"
    }
}
