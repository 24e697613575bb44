import Assembler
import SegmenterRules
import SegmenterTransport

/// Says what a download would do, and writes nothing.
struct PreviewRunner: DownloadRunner {
    var work: DownloadWork
    /// Bytes of another program's file that a run would take over.
    private var adopted: Int64?

    init(_ work: DownloadWork) { self.work = work }

    mutating func act(
        _ act: DownloadMachine.Act
    ) async throws(DownloadError.Reason) -> DownloadPreview? {
        switch act {
        case .finish:
            if let end = try await finish() { return end }
            work.machine.preparation.takeNothingToFinish()
        case .leave(let file):
            return DownloadPreview(
                action: .leave(file.why), path: file.path, file: nil, bytesKept: file.size,
                connections: 0)
        case .ask(let first):
            try await work.ask(first) {
                [inquiry = work.inquiry] (probe, _) throws(DownloadError.Reason) in
                try await inquiry.find(probe, byGet: false, range: Probe.firstByte)
            }
        case .publishWhole: work.machine.preparation.takeDeclined()
        case .makeFolder:
            try await work.makeFolder { (folders, path) throws(AssemblyError) in
                try folders.parent(ofMissing: path)
            }
        case .prepareRepair:
            _ = try await work.repairRequest()
            work.machine.preparation.takePrepared()
        case .adopt:
            var adopted = adopted
            defer { self.adopted = adopted }
            try await work.adopt { (part, _) in adopted = part.ranges.count }
        case .enter: work.machine.entered()
        case .attempt: return try await attempt()
        }
        return nil
    }

    /// Returns the file that a killed run has completed; `nil` if there is none.
    private func finish() async throws(DownloadError.Reason) -> DownloadPreview? {
        let job = work.job
        return try await work.finish { (target, _) throws(AssemblyError) in
            for url in job.urls {
                let size = try Publishing.pending(
                    folder: target.folder, name: target.name, fullURL: url.text,
                    hasChecksum: job.options.checksum != nil)
                guard let size else { continue }
                return DownloadPreview(
                    action: .finish, path: target.path, file: nil, bytesKept: size,
                    connections: 0)
            }
            return nil
        }
    }

    /// Returns what the first attempt would begin with; `nil` if a `GET` has to state the size first.
    private mutating func attempt() async throws(DownloadError.Reason) -> DownloadPreview? {
        let (target, missingFolder) = (work.target, work.machine.preparation.missingFolder)
        let file = work.primary.finding.file
        var preview = DownloadPreview(
            action: .begin, path: target?.path ?? "-", file: file, bytesKept: 0,
            connections: file.transfer == .segments ? work.job.connections(for: file.size) : 1,
            missingFolder: missingFolder == nil ? nil : target?.folder)
        guard target != nil else { return preview }
        if let bytes = adopted {
            (preview.action, preview.bytesKept) = (.adopt, bytes)
            return preview
        }
        try work.refuseToStartOver()
        let decision = await Self.decide(try work.request(), missingFolder: missingFolder)
        if case .failure(.assembly(.noSpace)) = decision, !work.primary.finding.isProven {
            work.machine.foundNoSpace()
            return nil
        }
        switch try decision.get() {
        case .begin, .refuse: break
        case .startOver(let reason): preview.action = .startOver(reason)
        case .resume(let manifest):
            preview.action = .resume
            preview.bytesKept = manifest.extents.covered.count
        }
        return preview
    }

    /// Returns what would happen to the part of an earlier run, if there is space for the file.
    private static func decide(
        _ request: Assembly.Request, missingFolder parent: String?
    ) async -> Result<ResumeDecision, DownloadError.Reason> {
        await Disk.result { () throws(AssemblyError) -> ResumeDecision in
            if let parent {
                let target = FileTarget(folder: request.folder, name: request.name)
                try Assembly.checkSpace(
                    for: request.identity.size, in: parent, path: target.path)
                return .begin
            }
            let decision = try Assembly.preview(request)
            if case .refuse(let path) = decision { throw .foreignPart(path: path) }
            try Assembly.checkSpace(request)
            return decision
        }
    }
}
