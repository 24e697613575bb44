public import FoundationEssentials
public import Segmenter

/// The code of *Stop and resume*.
public enum StopAndResume {
    /// Stops a download, and returns the number of bytes that remain on the disk.
    public static func stop(_ download: Download) async -> Int64 {
        download.cancel()
        switch await download.result {
        case .success(let file): return file.size
        case .failure(let error): return error.bytesKept
        }
    }

    /// Resumes a download.
    public static func resume(
        _ url: String, to path: String, _ session: DownloadSession
    ) async throws(DownloadError) -> DownloadedFile {
        let file = try await session.download(url, to: path)
        print(file.bytesResumed, "bytes were there,", file.bytesReceived, "came")
        return file
    }

    /// Starts a download that requests a new URL after a refusal.
    public static func goOn(
        _ url: String, to path: String, _ session: DownloadSession,
        sign: @escaping @Sendable (String) async -> String?
    ) -> Download {
        session.start(url, to: .file(path)) { refused, _ in
            await sign(refused)
        }
    }

    /// Resumes a part that was begun under another URL.
    public static func continuePart(
        _ url: String, to path: String, _ session: DownloadSession
    ) async throws(DownloadError) -> DownloadedFile {
        var options = DownloadOptions()
        options.continuesOtherURL = true
        return try await session.download(url, to: path, options: options)
    }

    /// A download in a queue.
    struct Job: Codable {
        var id = Download.ID()
        var url: String
        var path: String
        var options = DownloadOptions()
    }

    /// Stores a queue of one file.
    public static func store(_ url: String, path: String) throws -> Data {
        let jobs = [Job(url: url, path: path)]
        let encoder = JSONEncoder()
        encoder.userInfo[.leavesOutSecrets] = true
        return try encoder.encode(jobs)
    }

    /// Starts the stored downloads.
    public static func start(_ stored: Data, _ session: DownloadSession) throws -> [Download] {
        let jobs = try JSONDecoder().decode([Job].self, from: stored)
        return jobs.map { job in
            session.start(job.url, to: .file(job.path), options: job.options, id: job.id)
        }
    }

    /// Stops all downloads, but not the session.
    public static func stopAll(_ session: DownloadSession) async {
        let downloads = session.downloads
        session.cancelAll()
        for download in downloads { _ = await download.result }
    }
}
