import Assembler
import Glibc
public import SegmenterValues

// Plans of listings: their names, their lines, and the files that hold them.
extension Listing {
    /// The name of the set: 16 hexadecimal digits that are the same for each plan of its source.
    ///
    /// For given URLs, it depends on the URLs without their queries, and on the paths.
    public var set: String {
        var text = source.kind.rawValue
        if let address = source.address {
            text += "\n" + address
        } else {
            for file in files {
                text += "\n\(file.path)\n\(WebURL(file.address)?.redacted ?? "")"
            }
        }
        return PlanFormat.hex(shortHash(of: text))
    }

    /// The sum of all sizes in bytes; `nil` if one is unknown.
    public var size: Int64? {
        var sum: Int64 = 0
        for file in files {
            guard let size = file.size else { return nil }
            let (next, isTooLarge) = sum.addingReportingOverflow(size)
            guard !isTooLarge else { return nil }
            sum = next
        }
        return sum
    }

    /// Whether an address is a signed link.
    public var isSigned: Bool {
        files.contains { if case .signed = $0.renewal { true } else { false } }
    }

    /// Checks that each path is one of a file in the folder of a set, and that all can exist
    /// together.
    ///
    /// - Throws: `PlanError` with the number of the line that the file has in the plan.
    public func check() throws(PlanError) {
        var paths = PlanPaths(foldsCase: false)
        for (index, file) in files.enumerated() {
            if let fault = PlanFormat.fault(of: file.path) {
                throw PlanError(.badPath(file.path, fault), line: index + 2)
            }
            paths.add(file.path)
        }
        _ = try paths.check { (index) throws(PlanError) in files[index] }
    }

    /// Calls `body` with each line of the plan, line feeds included.
    public func forEachPlanLine<Problem: Error>(
        _ body: ([UInt8]) throws(Problem) -> Void
    ) throws(Problem) {
        let set = set
        let seed = PlanFormat.seed(set: set)
        let head = PlanFormat.Head(
            plan: PlanFormat.version, set: set,
            source: .init(kind: source.kind, address: source.address, pin: source.pin),
            files: files.count, size: size, signed: isSigned ? true : nil)
        try body(SealedLine.of(head, seed: seed))
        for file in files { try body(PlanFormat.line(of: file, seed: seed)) }
    }

    /// Writes the plan to a file; blocks.
    ///
    /// An existing plan is replaced atomically. With a signed link, only the owner may read the
    /// file.
    ///
    /// - Throws: `unwritable`; `notReplaced` if the file exists and is not a plan.
    public func writePlan(to path: String) throws(PlanError) {
        var status = stat()
        if stat(path, &status) == 0 {
            // A damaged plan is replaced, too.
            do throws(PlanError) {
                _ = try PlanFile(path)
            } catch {
                switch error.kind {
                case .notAPlan, .unreadable, .laterVersion: throw PlanError(.notReplaced)
                default: break
                }
            }
        }
        var template = Array((path + ".XXXXXX").utf8CString)
        let descriptor = mkstemp(&template)
        guard descriptor >= 0 else { throw PlanError(.unwritable(errno: errno)) }
        defer { close(descriptor) }
        let temporary = String(
            decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        do throws(PlanError) {
            try write(to: descriptor)
            if !isSigned { fchmod(descriptor, 0o666 & ~processUmask()) }
            guard fsync(descriptor) == 0, rename(temporary, path) == 0 else {
                throw PlanError(.unwritable(errno: errno))
            }
        } catch {
            unlink(temporary)
            throw error
        }
    }

    func write(to descriptor: Int32) throws(PlanError) {
        var buffer: [UInt8] = []
        func flush() throws(PlanError) {
            let code = writeFully(descriptor, buffer)
            guard code == 0 else { throw PlanError(.unwritable(errno: code)) }
            buffer.removeAll(keepingCapacity: true)
        }
        try forEachPlanLine { (line) throws(PlanError) in
            buffer += line
            if buffer.count > 256 << 10 { try flush() }
        }
        try flush()
    }
}
