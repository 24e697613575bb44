import FoundationEssentials
import Glibc

/// The ledger of a data set: the file `SET.ledger` in the folder `.segget` of the set.
///
/// One run at a time writes it; others may read it meanwhile. Lines are appended, so a crash can
/// only tear the last one, and a line that does not match its checksum counts as absent. The
/// methods block on the disk.
package final class LedgerFile: Sendable {
    /// The reason why a ledger cannot be used.
    package enum Failure: Error, Sendable, Hashable {
        /// Another run works on the set.
        case inUse(LedgerRun?)
        /// The file is the ledger of another set, or not a ledger.
        case foreign(path: String)
        /// The ledger has a format version that this version of segget does not know.
        case laterVersion(Int, path: String)
        /// A system call failed.
        case assembly(AssemblyError)
    }

    /// The place of a record in the file, in 8 bytes.
    package struct Place: Sendable, Hashable {
        private let packed: UInt64

        init(line: Int64, index: Int) {
            packed = UInt64(line) << 8 | UInt64(index & 0xff)
        }

        /// The place of a record that is not written yet.
        package static let unknown = Place(line: 0, index: 0)

        /// The offset of the line.
        var line: Int64 { Int64(packed >> 8) }
        /// The index of the record in the line, below 256.
        var index: Int { Int(packed & 0xff) }
    }

    private struct Open {
        var descriptor: Int32
        var lock: PartLock?
        /// Whether other runs write the file, too.
        var isShared = false
        /// The length up to which all lines are whole.
        var length: off_t
    }

    /// The name of the set: 16 hexadecimal digits.
    package let set: String
    private let folder: Folder
    private let seed: UInt32
    private let state: Monitor<Open>

    private var name: String { "\(self.set).ledger" }
    /// The path, for messages.
    package var path: String { folder.path(of: name) }

    /// Opens the ledger of a set, or creates it, for this run alone.
    ///
    /// - Parameters:
    ///   - set: The name of the set.
    ///   - folder: The folder `.segget` of the set.
    ///   - now: The time in seconds since 1970.
    /// - Throws: `Failure`.
    package init(writing set: String, in folder: Folder, now: Int64) throws(Failure) {
        (self.set, self.folder, seed) = (set, folder, LedgerFormat.seed(set: set))
        let name = set + ".ledger"
        for _ in 0..<16 {
            guard let descriptor = folder.open(name, O_RDWR | O_APPEND) else {
                guard errno == ENOENT else {
                    throw .assembly(.cannotCreate(path: folder.path(of: name), errno: errno))
                }
                guard let made = try Self.create(set, seed, in: folder, now: now) else { continue }
                state = Monitor(made)
                return
            }
            do throws(Failure) {
                let lock = try Self.lock(descriptor, name, seed, in: folder)
                // The run that had the lock may have replaced the file.
                guard Self.isNamed(name, descriptor, in: folder) else {
                    lock.release()
                    close(descriptor)
                    continue
                }
                let length = try Self.begin(
                    descriptor, set, seed, path: folder.path(of: name), now: now)
                state = Monitor(Open(descriptor: descriptor, lock: lock, length: length))
                return
            } catch {
                close(descriptor)
                throw error
            }
        }
        throw .inUse(nil)
    }

    /// Opens the ledger of a set, or creates it, beside other runs that write it, too.
    ///
    /// No lock is taken. Where two machines append at the same moment, records may be lost, and
    /// lines that do not match their checksums count as absent: the ledger then says less, and
    /// nothing wrong.
    ///
    /// - Parameters:
    ///   - set: The name of the set.
    ///   - folder: The folder `.segget` of the set.
    ///   - now: The time in seconds since 1970.
    /// - Throws: `Failure`.
    package init(sharing set: String, in folder: Folder, now: Int64) throws(Failure) {
        (self.set, self.folder, seed) = (set, folder, LedgerFormat.seed(set: set))
        let name = set + ".ledger"
        for _ in 0..<16 {
            guard let descriptor = folder.open(name, O_RDWR | O_APPEND) else {
                guard errno == ENOENT else {
                    throw .assembly(.cannotCreate(path: folder.path(of: name), errno: errno))
                }
                try Self.createShared(set, seed, in: folder, now: now)
                continue
            }
            do throws(Failure) {
                try Self.checkHead(of: descriptor, set, seed, path: folder.path(of: name))
            } catch {
                close(descriptor)
                throw error
            }
            state = Monitor(Open(descriptor: descriptor, isShared: true, length: 0))
            return
        }
        throw .inUse(nil)
    }

    /// Creates a ledger that several runs write, unless another run has created it meanwhile.
    private static func createShared(
        _ set: String, _ seed: UInt32, in folder: Folder, now: Int64
    ) throws(Failure) {
        let name = set + ".ledger"
        let temporary = "\(name)~\(UInt64.random(in: .min ... .max))"
        guard let descriptor = folder.open(temporary, O_RDWR | O_CREAT | O_EXCL) else {
            throw .assembly(.cannotCreate(path: folder.path(of: temporary), errno: errno))
        }
        defer {
            close(descriptor)
            try? folder.remove(temporary)
        }
        do throws(AssemblyError) {
            try write(beginning(set, seed, now: now), to: descriptor, path: folder.path(of: name))
            // Other users of a shared folder append, too.
            fchmod(descriptor, 0o666 & ~processUmask())
            guard fsync(descriptor) == 0 || isUnsupported(errno: errno) else {
                throw .io(operation: "fsync", path: folder.path(of: name), errno: errno)
            }
            try folder.renameWithoutReplacing(temporary, to: name)
        } catch {
            if case .destinationExists = error { return }
            throw .assembly(error)
        }
    }

    /// Opens a ledger for reading only, while another run may write it; fails if there is none.
    ///
    /// - Parameters:
    ///   - set: The name of the set.
    ///   - folder: The folder `.segget` of the set.
    /// - Throws: `Failure`.
    package init?(reading set: String, in folder: Folder) throws(Failure) {
        (self.set, self.folder, seed) = (set, folder, LedgerFormat.seed(set: set))
        let name = set + ".ledger"
        guard let descriptor = folder.open(name, O_RDONLY) else {
            if errno == ENOENT { return nil }
            throw .assembly(.cannotCreate(path: folder.path(of: name), errno: errno))
        }
        do throws(Failure) {
            try Self.checkHead(of: descriptor, set, seed, path: folder.path(of: name))
        } catch {
            close(descriptor)
            throw error
        }
        state = Monitor(Open(descriptor: descriptor, lock: nil, length: 0))
    }

    deinit { state.withLock { _ = close($0.descriptor) } }

    private static func lock(
        _ descriptor: Int32, _ name: String, _ seed: UInt32, in folder: Folder
    ) throws(Failure) -> PartLock {
        switch PartLock.take(descriptor, PartNames(name), in: folder) {
        case .taken(let lock): return lock
        case .busy: throw .inUse(lastRun(in: descriptor, seed))
        case .held(_, let holder):
            throw .inUse(holder.map { LedgerRun(host: $0.host, pid: $0.pid, at: 0) })
        case .failed(let operation, let path, let code):
            throw .assembly(.io(operation: operation, path: path, errno: code))
        }
    }

    private static func isNamed(_ name: String, _ descriptor: Int32, in folder: Folder) -> Bool {
        guard let there = try? folder.status(of: name) else { return false }
        return there.identity == FileStatus(of: descriptor)?.identity
    }

    /// Creates the ledger: temporary file, lock, fsync, rename.
    ///
    /// So a crash never leaves a ledger without its first line.
    ///
    /// - Returns: `nil` if another run has created it meanwhile.
    private static func create(
        _ set: String, _ seed: UInt32, in folder: Folder, now: Int64
    ) throws(Failure) -> Open? {
        let name = set + ".ledger"
        let (temporary, path) = (name + "~", folder.path(of: name))
        guard let descriptor = folder.open(temporary, O_RDWR | O_CREAT | O_APPEND) else {
            throw .assembly(
                .cannotCreate(path: folder.path(of: temporary), errno: errno))
        }
        do throws(Failure) {
            let lock = try Self.lock(descriptor, temporary, seed, in: folder)
            guard isNamed(temporary, descriptor, in: folder), folder.isFree(name) else {
                lock.release()
                close(descriptor)
                return nil
            }
            do throws(AssemblyError) {
                guard ftruncate(descriptor, 0) == 0 else {
                    throw .io(operation: "ftruncate", path: path, errno: errno)
                }
                let bytes = beginning(set, seed, now: now)
                try write(bytes, to: descriptor, path: path)
                try publish(temporary, as: name, descriptor, in: folder)
                return Open(descriptor: descriptor, lock: lock, length: off_t(bytes.count))
            } catch {
                lock.release()
                try? folder.remove(temporary)
                throw .assembly(error)
            }
        } catch {
            close(descriptor)
            throw error
        }
    }

    /// The first line, and the one that records that this run begins.
    private static func beginning(_ set: String, _ seed: UInt32, now: Int64) -> [UInt8] {
        SealedLine.of(LedgerFormat.Head(ledger: LedgerFormat.version, set: set), seed: seed)
            + runLine(seed, now: now)
    }

    private static func runLine(_ seed: UInt32, now: Int64) -> [UInt8] {
        let own = LockHolder.current()
        let run = LedgerRun(host: own.host, pid: own.pid, at: now)
        return SealedLine.of(LedgerFormat.Line<LedgerRecord>(run: run), seed: seed)
    }

    /// Makes a temporary file durable, and gives it the name of the ledger.
    private static func publish(
        _ temporary: String, as name: String, _ descriptor: Int32, in folder: Folder
    ) throws(AssemblyError) {
        guard fsync(descriptor) == 0 || isUnsupported(errno: errno) else {
            throw .io(operation: "fsync", path: folder.path(of: name), errno: errno)
        }
        try folder.rename(temporary, to: name)
        try folder.sync()
    }

    /// Checks the first line, and records that this run begins.
    ///
    /// - Returns: The length of the file.
    private static func begin(
        _ descriptor: Int32, _ set: String, _ seed: UInt32, path: String, now: Int64
    ) throws(Failure) -> off_t {
        try checkHead(of: descriptor, set, seed, path: path)
        do throws(AssemblyError) {
            var bytes = runLine(seed, now: now)
            let length = off_t(try FileStatus(of: descriptor, path).size)
            // A torn line must not swallow the next one.
            if length > 0, !endsLine(descriptor, length) { bytes.insert(newline, at: 0) }
            do throws(AssemblyError) { try write(bytes, to: descriptor, path: path) } catch {
                _ = ftruncate(descriptor, length)
                throw error
            }
            return length + off_t(bytes.count)
        } catch {
            throw .assembly(error)
        }
    }

    private static let newline = UInt8(ascii: "\n")

    private static func endsLine(_ descriptor: Int32, _ length: off_t) -> Bool {
        var last: UInt8 = 0
        return pread(descriptor, &last, 1, length - 1) == 1 && last == newline
    }

    /// Checks the first line.
    private static func checkHead(
        of descriptor: Int32, _ set: String, _ seed: UInt32, path: String
    ) throws(Failure) {
        struct VersionOnly: Decodable {
            var ledger: Int

            enum CodingKeys: String, CodingKey { case ledger = "segget_ledger" }
        }
        var lines = FileLines(descriptor, chunk: 4 << 10)
        let line: FileLines.Line?
        do throws(FileLines.Failure) {
            line = try lines.next()
        } catch {
            guard case .unreadable(let code) = error else { throw .foreign(path: path) }
            throw .assembly(.io(operation: "pread", path: path, errno: code))
        }
        guard let line else { throw .foreign(path: path) }
        let data = Data(line.bytes)
        if let found = try? JSONDecoder().decode(VersionOnly.self, from: data),
            found.ledger > LedgerFormat.version
        {
            throw .laterVersion(found.ledger, path: path)
        }
        guard SealedLine.isIntact(line.bytes[...], seed: seed),
            let head = try? JSONDecoder().decode(LedgerFormat.Head.self, from: data),
            head.set == set
        else { throw .foreign(path: path) }
    }

    /// Whether a run on this machine works on the set, as `/proc/locks` shows (proc_locks(5)).
    ///
    /// Taking the lock to find out could keep another run from taking it.
    package var isLocked: Bool {
        guard let identity = state.withLock({ FileStatus(of: $0.descriptor)?.identity }) else {
            return false
        }
        let locks = open("/proc/locks", O_RDONLY | O_CLOEXEC)
        guard locks >= 0 else { return false }
        defer { close(locks) }
        var lines = FileLines(locks, chunk: 4 << 10)
        while let line = try? lines.next() {
            let words = String(decoding: line.bytes, as: UTF8.self).split(separator: " ")
            if words.count > 5, words[1] == "FLOCK",
                words[5].split(separator: ":").last == "\(identity.inode)"
            {
                return true
            }
        }
        return false
    }

    // MARK: Reading

    /// Returns the run that began last.
    package var lastRun: LedgerRun? { state.withLock { Self.lastRun(in: $0.descriptor, seed) } }

    private static func lastRun(in descriptor: Int32, _ seed: UInt32) -> LedgerRun? {
        var run: LedgerRun?
        try? forEachLine(of: LedgerMark.self, in: descriptor, seed) { line, _ in
            run = line.run ?? run
        }
        return run
    }

    /// Calls `body` with each record, in order, and its place.
    ///
    /// - Throws: `AssemblyError.io`.
    package func forEachMark(_ body: (LedgerMark, Place) -> Void) throws(AssemblyError) {
        let descriptor = state.withLock { $0.descriptor }
        try Self.reading(path) { () throws(FileLines.Failure) in
            try Self.forEachLine(of: LedgerMark.self, in: descriptor, seed) { line, start in
                for (index, mark) in (line.files ?? []).enumerated() {
                    body(mark, Place(line: start, index: index))
                }
            }
        }
    }

    /// Calls `body` with each record, in order.
    ///
    /// - Throws: `AssemblyError.io`.
    package func forEachRecord(_ body: (LedgerRecord) -> Void) throws(AssemblyError) {
        let descriptor = state.withLock { $0.descriptor }
        try Self.reading(path) { () throws(FileLines.Failure) in
            try Self.forEachLine(of: LedgerRecord.self, in: descriptor, seed) { line, _ in
                for record in line.files ?? [] { body(record) }
            }
        }
    }

    /// Returns the name of the set whose ledger a folder has; `nil` if it has none, or several.
    package static func onlySet(in folder: Folder) -> String? {
        let sets = folder.entryNames.filter { $0.hasSuffix(".ledger") }.map { $0.dropLast(7) }
        return sets.count == 1 ? sets.first.map(String.init) : nil
    }

    /// Returns the record at a place; `nil` if it can no longer be read.
    package func record(at place: Place) -> LedgerRecord? {
        let descriptor = state.withLock { $0.descriptor }
        var lines = FileLines(
            descriptor, from: place.line, chunk: 32 << 10, lastMayBeOpen: true)
        guard let line = try? lines.next(), SealedLine.isIntact(line.bytes[...], seed: seed),
            let found = try? JSONDecoder().decode(
                LedgerFormat.Line<LedgerRecord>.self, from: Data(line.bytes)),
            let files = found.files, files.indices.contains(place.index)
        else { return nil }
        return files[place.index]
    }

    private static func reading(
        _ path: String, _ body: () throws(FileLines.Failure) -> Void
    ) throws(AssemblyError) {
        do throws(FileLines.Failure) {
            try body()
        } catch {
            guard case .unreadable(let code) = error else { return }
            throw .io(operation: "pread", path: path, errno: code)
        }
    }

    /// Calls `body` with each line that matches its checksum, and its offset.
    private static func forEachLine<Record: Decodable>(
        of: Record.Type, in descriptor: Int32, _ seed: UInt32,
        _ body: (LedgerFormat.Line<Record>, Int64) throws(FileLines.Failure) -> Void
    ) throws(FileLines.Failure) {
        var lines = FileLines(descriptor, lastMayBeOpen: true)
        let decoder = JSONDecoder()
        while true {
            let line: FileLines.Line?
            do throws(FileLines.Failure) {
                line = try lines.next()
            } catch {
                if error == .badLine { continue }
                throw error
            }
            guard let line else { return }
            guard SealedLine.isIntact(line.bytes[...], seed: seed),
                let found = try? decoder.decode(
                    LedgerFormat.Line<Record>.self, from: Data(line.bytes))
            else { continue }
            try body(found, line.start)
        }
    }

    // MARK: Writing

    /// The number of records in a line.
    private static let group = 64

    /// Appends records, without making them durable.
    ///
    /// After an error, the file is as before.
    ///
    /// - Throws: `AssemblyError.io`.
    package func append(_ records: [LedgerRecord]) throws(AssemblyError) {
        let bytes = lines(of: records)
        let code = state.withLock { state -> Int32 in
            // A torn line of another run must not swallow this one.
            guard !state.isShared else {
                return writeFully(state.descriptor, [Self.newline] + bytes)
            }
            let code = writeFully(state.descriptor, bytes)
            if code == 0 {
                state.length += off_t(bytes.count)
            } else {
                _ = ftruncate(state.descriptor, state.length)
            }
            return code
        }
        guard code == 0 else { throw .io(operation: "write", path: path, errno: code) }
    }

    private func lines(of records: [LedgerRecord]) -> [UInt8] {
        var bytes: [UInt8] = []
        for start in stride(from: 0, to: records.count, by: Self.group) {
            let files = Array(records[start..<min(records.count, start + Self.group)])
            bytes += SealedLine.of(LedgerFormat.Line(files: files), seed: seed)
        }
        return bytes
    }

    /// Makes the appended records durable.
    ///
    /// - Throws: `AssemblyError.io`.
    package func synchronize() throws(AssemblyError) {
        let descriptor = state.withLock { $0.descriptor }
        guard fdatasync(descriptor) == 0 || isUnsupported(errno: errno) else {
            throw .io(operation: "fdatasync", path: path, errno: errno)
        }
    }

    /// Replaces the file by one without superseded records: temporary file, fsync, rename.
    ///
    /// The lock is kept. After an error, the file is as before.
    ///
    /// - Parameters:
    ///   - now: The time in seconds since 1970.
    ///   - isKept: Whether the record at a place is still needed.
    /// - Throws: `AssemblyError.cannotCreate`, `io`.
    package func rewrite(
        now: Int64, keeping isKept: (Place) -> Bool
    ) throws(AssemblyError) {
        let old = state.withLock { $0.descriptor }
        let temporary = name + "~"
        try folder.remove(temporary)
        guard let new = folder.open(temporary, O_RDWR | O_CREAT | O_EXCL | O_APPEND) else {
            throw .cannotCreate(path: folder.path(of: temporary), errno: errno)
        }
        var lock: PartLock?
        do throws(AssemblyError) {
            lock = try PartLock.take(new, PartNames(temporary), in: folder).get(path)
            try Self.write(Self.beginning(set, seed, now: now), to: new, path: path)
            var kept: [LedgerRecord] = []
            var problem: AssemblyError?
            try Self.reading(path) { () throws(FileLines.Failure) in
                try Self.forEachLine(of: LedgerRecord.self, in: old, seed) { line, start in
                    for (index, record) in (line.files ?? []).enumerated()
                    where isKept(Place(line: start, index: index)) {
                        kept.append(record)
                    }
                    guard kept.count >= Self.group, problem == nil else { return }
                    do throws(AssemblyError) {
                        try Self.write(lines(of: kept), to: new, path: path)
                        kept = []
                    } catch {
                        problem = error
                    }
                }
            }
            if let problem { throw problem }
            try Self.write(lines(of: kept), to: new, path: path)
            try Self.publish(temporary, as: name, new, in: folder)
        } catch {
            lock?.release()
            close(new)
            try? folder.remove(temporary)
            throw error
        }
        let length = off_t(FileStatus(of: new)?.size ?? 0)
        let before = state.withLock { [lock] state in
            defer { state = Open(descriptor: new, lock: lock, length: length) }
            return state
        }
        before.lock?.release()
        close(before.descriptor)
    }

    private static func write(
        _ bytes: [UInt8], to descriptor: Int32, path: String
    ) throws(AssemblyError) {
        let code = writeFully(descriptor, bytes)
        guard code == 0 else { throw .io(operation: "write", path: path, errno: code) }
    }

    /// Releases the lock.
    package func release() { state.withLock { $0.lock?.release() } }
}
