/// The cookies of one run, shared by files that have the same user, headers and cookie options.
///
/// Kept in memory only. May be used from any thread.
package final class CookieJars: Sendable {
    /// The options that identify a client; clients with different options share no cookies.
    private struct Owner: Hashable {
        var access: AccessOptions
        var headers: [String]
        var caCertificate: String?

        /// Takes the identifying options from those of a download, with the user of its URL.
        init(_ options: DownloadOptions, _ url: WebURL?) {
            access = options.access
            if access.bearerToken == nil {
                access.credentials = access.credentials ?? url?.credentials
            }
            // The `Referer` differs for each file, and does not identify the client.
            access.referer = nil
            headers = options.headers
            caCertificate = options.caCertificate
        }
    }

    private struct State {
        var jars: [Owner: CookieMemory] = [:]
        /// The last owner, which is mostly also the next one, and quicker to compare than to hash.
        var last: (owner: Owner, memory: CookieMemory)?
    }

    private let state = Monitor(State())

    /// Creates a run without cookies.
    package init() {}

    /// Returns the cookies that a download uses.
    package func cookies(of options: DownloadOptions, _ url: WebURL?) -> CookieMemory {
        let owner = Owner(options, url)
        return state.withLock { state in
            if let last = state.last, last.owner == owner { return last.memory }
            let memory = state.jars[owner] ?? CookieMemory(isShared: true)
            state.jars[owner] = memory
            state.last = (owner, memory)
            return memory
        }
    }
}
