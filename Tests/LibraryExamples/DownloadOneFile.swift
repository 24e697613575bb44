public import Segmenter

/// The code of *Download one file*.
public enum DownloadOneFile {
    /// Downloads a file with one call.
    public static func inOneCall(_ url: String, to path: String) async throws -> DownloadedFile {
        let session = DownloadSession()
        let file = try await session.download(url, to: path)
        print(file.path, file.size, "bytes in", file.duration)
        await session.shutdown()
        return file
    }

    /// Returns what the server states about a file.
    public static func offer(
        _ url: String, _ session: DownloadSession
    ) async throws(DownloadError) -> RemoteFile {
        let offer = try await session.probe(url)
        print(offer.suggestedName, offer.size ?? -1, offer.transfer)
        return offer
    }

    /// Downloads a file with an expected digest, and replaces an existing file.
    public static func checked(
        _ url: String, to path: String, sha256: String, _ session: DownloadSession
    ) async throws -> DownloadedFile {
        var options = DownloadOptions()
        options.checksum = try Digest(parsing: "sha256:\(sha256)")
        options.overwrite = true
        options.stallTimeout = .seconds(30)
        let file = try await session.download(url, to: path, options: options)
        print(file.verified)
        return file
    }

    /// Downloads a file, and returns a description of the result.
    public static func explained(
        _ url: String, to path: String, _ session: DownloadSession
    ) async -> String {
        do throws(DownloadError) {
            let file = try await session.download(url, to: path)
            return "\(file.size) bytes"
        } catch {
            switch error.reason {
            case .refused(let status): return "the server refuses it (\(status))"
            case .transfer(.status(404), _): return "there is no such file"
            case .assembly(.destinationExists): return "the file exists already"
            default: return "it failed, and \(error.bytesKept) bytes are kept for the next try"
            }
        }
    }
}
