import Foundation

/// Finds the endpoint of a request.
enum Router {
    /// The endpoints of every version of the API; the version is the first segment of their paths.
    static let endpoints: [Endpoint] = [
        .health, .tasks, .task, .files, .tags, .speeds, .links, .events, .commands, .settings,
        .newSettings, .openings,
    ]

    /// The endpoints whose paths have no version; they ignore queries.
    static let unversioned: [Endpoint] = [.metrics, .openAPI]

    /// Finds the endpoint of a request, and takes the request's target apart.
    ///
    /// - Throws: ``Refusal``.
    static func call(_ request: APIRequest, on listener: Listener) throws(Refusal) -> APICall {
        let target = request.target
        let url = target.hasPrefix("/") ? "http://localhost\(target)" : target
        guard var components = URLComponents(string: url),
            let segments = segments(of: components.percentEncodedPath)
        else { throw Refusal("the path is invalid", status: 400) }
        let version = segments.first.flatMap(APIVersion.init(rawValue:))
        let path = version == nil ? segments : segments.dropFirst()
        let found = (version == nil ? unversioned : endpoints)
            .filter { $0.listeners.contains(listener) }
            .compactMap { endpoint in endpoint.match(path).map { (endpoint, $0) } }
        guard !found.isEmpty else { throw Refusal("nothing exists at this path", status: 404) }
        let method = request.method == "HEAD" ? "GET" : request.method
        guard let (endpoint, variable) = found.first(where: { $0.0.method.rawValue == method })
        else {
            let methods = found.map(\.0.method.rawValue)
            throw Refusal(
                "this path does not support the method", status: 405,
                allowed: (methods + (methods.contains("GET") ? ["HEAD"] : [])).sorted())
        }
        // A plus sign is a space in the queries of forms, which is what many clients write.
        components.percentEncodedQuery = components.percentEncodedQuery?
            .replacing("+", with: "%20")
        let query = components.queryItems ?? []
        if version != nil { try check(query, of: endpoint) }
        return APICall(
            endpoint: endpoint, version: version ?? .current, variable: variable, query: query,
            body: request.body)
    }

    /// The segments of a path, decoded; `nil` if one cannot be.
    private static func segments(of path: String) -> ArraySlice<String>? {
        let segments = path.split(separator: "/", omittingEmptySubsequences: false).dropFirst()
        let decoded = segments.compactMap { String($0).removingPercentEncoding }
        return decoded.count == segments.count ? decoded[...] : nil
    }

    private static func check(
        _ query: [URLQueryItem], of endpoint: Endpoint
    ) throws(Refusal) {
        let names = endpoint.parameters.filter { $0.place == .query }.map(\.name)
        guard !names.isEmpty || query.isEmpty else {
            throw Refusal("this path takes no query", status: 400)
        }
        guard query.allSatisfy({ names.contains($0.name) }) else { throw .otherParameter }
    }
}

/// A request whose endpoint is known.
struct APICall: Sendable {
    let endpoint: Endpoint
    /// The version whose names the request and its answer have.
    let version: APIVersion
    /// The segment for the name in braces of the endpoint's path; empty if there is none.
    let variable: String
    let query: [URLQueryItem]
    var body: Data
}

extension Refusal {
    /// The query is not as the endpoint's parameters are.
    static let otherParameter = Refusal(
        "the query has an unknown parameter, or repeats one that may be given only once",
        status: 400)
}
