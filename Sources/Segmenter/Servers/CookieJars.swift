import Assembler

/// The cookies of one run: those of all its files that ask with the same user, headers and cookie options.
///
/// In memory only. May be used from any thread.
package final class CookieJars: Sendable {
    /// Who asks; others share nothing with them.
    private struct Owner: Hashable {
        var access: AccessOptions
        var headers: [String]
        var caCertificate: String?

        /// Takes what says who asks out of the options of a download, with the user of its URL.
        init(_ options: DownloadOptions, _ url: WebURL?) {
            access = options.access
            if access.bearerToken == nil {
                access.credentials = access.credentials ?? url?.credentials
            }
            // A page that is said to lead here is another one for each file.
            access.referer = nil
            headers = options.headers
            caCertificate = options.caCertificate
        }
    }

    private let jars = Monitor<[Owner: CookieMemory]>([:])

    /// Makes a run without cookies.
    package init() {}

    /// The cookies of a download.
    func cookies(of options: DownloadOptions, _ url: WebURL?) -> CookieMemory {
        let owner = Owner(options, url)
        return jars.withLock { jars in
            if let known = jars[owner] { return known }
            let memory = CookieMemory(isShared: true)
            jars[owner] = memory
            return memory
        }
    }
}
