import Glibc

// Messages about resources that the system denies to this process.
extension Diagnostic {
    /// Creates the message for too few threads, or too little memory for them.
    ///
    /// - Parameter needed: The number of threads that segget needs.
    package init(threadsNeeded needed: Int) {
        self.init(
            .unavailable, "too_few_threads",
            "the system denies segget \(needed) threads, or the memory for them",
            hint:
                "raise the limit of processes (`ulimit -u`, pids.max) or of memory (`ulimit -v`); "
                + "a seccomp profile must allow clone3, or return ENOSYS")
    }

    /// Creates the message for EMFILE and ENFILE.
    init(tooManyOpenFiles path: String, errno code: Int32) {
        self.init(
            .cannotCreate, "too_many_open_files",
            "\(Self.quote(path)) cannot be opened: \(Self.describe(errno: code))",
            hint: "raise the limit of open files (`ulimit -n`), or download fewer files at a time "
                + "(`-j`)")
    }
}
