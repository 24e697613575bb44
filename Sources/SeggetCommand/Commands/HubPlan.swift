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
    ///   - style: The style of the progress display.
    package init(
        _ address: HubAddress, _ access: HubAccess, _ options: DownloadOptions,
        _ filter: PathFilter, _ style: ProgressView.Style
    ) {
        let line = ListingLine(address.name, style: style)
        var listing = GetCommand.list(address, access, options, DownloadSession(), line) { found in
            while true { if let found = found.wait(until: { $0 }) { return found } }
        }.listing
        listing.files.removeAll { !filter.chooses($0.path) }
        let random = String(UInt64.random(in: 0...UInt64.max), radix: 16)
        path = "\(EnvironmentText.value("TMPDIR") ?? "/tmp")/segget-\(random).plan"
        do throws(PlanError) { try listing.writePlan(to: path) } catch {
            GetCommand.end(.plan(error, path: path))
        }
    }
}
