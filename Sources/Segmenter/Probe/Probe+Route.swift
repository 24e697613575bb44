extension Probe {
    /// Returns whether the kernel has a route to the server, or to the proxy for its URL.
    ///
    /// If it is uncertain whether a request uses the proxy, a route to either of them is enough.
    func hasRoute() async -> Bool {
        let access = connecting.permitted(for: url).access
        let proxy = connecting.proxy(for: url)
        if let proxy, await HostRoute.leads(toOrigin: proxy.origin, access) { return true }
        if proxy?.isSure == true { return false }
        return await HostRoute.leads(toOrigin: url.origin, access)
    }
}
