extension Probe {
    /// Whether this machine is in a network that leads to the server, or to the proxy that is asked for it, as far
    /// as the kernel knows.
    ///
    /// Where a proxy may be used or not, a way to either counts.
    func hasRoute() async -> Bool {
        let access = connecting.permitted(for: url).access
        let proxy = connecting.proxy(for: url)
        if let proxy, await HostRoute.leads(toOrigin: proxy.origin, access) { return true }
        if proxy?.isSure == true { return false }
        return await HostRoute.leads(toOrigin: url.origin, access)
    }
}
