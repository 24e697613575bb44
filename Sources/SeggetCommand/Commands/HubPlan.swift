import Glibc
import SeggetReports
package import Segmenter

/// The plan of files on the Hugging Face Hub, in a temporary file.
package struct HubPlan {
    /// The path of the file, which the caller removes.
    package let path: String

    /// Lists files on the Hub; blocks.
    ///
    /// Ends the process if that fails. A signal ends the process, too.
    ///
    /// - Parameters:
    ///   - address: The address.
    ///   - access: The Hub.
    ///   - options: The options of the requests.
    ///   - filter: Chooses files.
    package init(
        _ address: HubAddress, _ access: HubAccess, _ options: DownloadOptions, _ filter: PathFilter
    ) {
        if let note = access.note { GetCommand.say([note]) }
        let session = DownloadSession()
        let result = Monitor<Result<Listing, HubError>?>(nil)
        Task {
            let found: Result<Listing, HubError>
            do throws(HubError) {
                found = .success(
                    try await session.listing(of: address, from: access, options: options))
            } catch {
                found = .failure(error)
            }
            await session.shutdown()
            result.withLock { $0 = found }
        }
        guard let found = result.wait(until: { $0 }) else {
            Glibc.exit(ExitStatus.unavailable.rawValue)
        }
        do throws(HubError) {
            var listing = try found.get()
            listing.files.removeAll { !filter.chooses($0.path) }
            let random = String(UInt64.random(in: 0...UInt64.max), radix: 16)
            path = "\(EnvironmentText.value("TMPDIR") ?? "/tmp")/segget-\(random).plan"
            do throws(PlanError) { try listing.writePlan(to: path) } catch {
                GetCommand.end(.plan(error, path: path))
            }
        } catch {
            GetCommand.say(Diagnostic.messages(error))
            Glibc.exit(Diagnostic.status(error).rawValue)
        }
    }
}
