import Glibc
import SeggetReports
import Segmenter

// A repository on the Hugging Face Hub, whose files are a data set.
extension GetCommand {
    /// Lists a repository on the Hub; ends the process if that fails.
    func hubPlan(
        _ address: HubAddress, _ access: HubAccess, _ options: DownloadOptions,
        _ session: DownloadSession, _ interrupts: Interrupts
    ) -> PlanFile {
        if let note = access.note { Self.say([note]) }
        let result = Monitor<Result<Listing, HubError>?>(nil)
        Task {
            let listing: Result<Listing, HubError>
            do throws(HubError) {
                listing = .success(
                    try await session.listing(of: address, from: access, options: options))
            } catch {
                listing = .failure(error)
            }
            result.withLock { $0 = listing }
        }
        let found = interrupts.pollUntil { result.withLock { $0 } }
        do throws(HubError) {
            var listing = try found.get()
            let filter = sets.chosen.filter
            listing.files.removeAll { !filter.chooses($0.path) }
            return Self.plan(of: listing, foldsCase: SetFolder.foldsCase(directory ?? "."))
        } catch {
            Self.say(Diagnostic.messages(error))
            Glibc.exit(Diagnostic.status(error).rawValue)
        }
    }

    /// Makes the plan of a listing; ends the process if its paths cannot be used.
    private static func plan(of listing: Listing, foldsCase: Bool) -> PlanFile {
        do throws(PlanError) { return try PlanFile(listing, foldsCase: foldsCase) } catch {
            end(.plan(error, path: listing.source.address ?? ""))
        }
    }

    /// Ends the process without a request: with 0 if all files are complete, else with 69.
    func endOffline(_ address: HubAddress) -> Never {
        let folder = directory ?? "."
        let name = Listing(Listing.Source(.hub, address: address.text), files: []).set
        let path = "\(folder)/.segget/\(name).plan"
        var missing: [String] = []
        if Glibc.access(path, F_OK) == 0 {
            let plan = Self.plan(at: path)
            do throws(SetError) {
                let set = try SetFolder(plan, in: folder) { SetFailure($0) }
                let work = try set.examine(rechecks: sets.recheck)
                set.close()
                missing = work.files.compactMap { try? plan.file(at: Int($0)).path } + work.foreign
                missing.removeAll { !sets.chosen.filter.chooses($0) }
            } catch {
                Self.end(error)
            }
            guard !missing.isEmpty else {
                if display.detail != .errors {
                    Self.say([
                        Message(.none, "all files are complete, without a request (HF_HUB_OFFLINE)")
                    ])
                }
                Glibc.exit(ExitStatus.done.rawValue)
            }
        }
        Self.say(Diagnostic.offline(address, missing: missing))
        Glibc.exit(ExitStatus.unavailable.rawValue)
    }
}
