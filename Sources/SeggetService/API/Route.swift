import Foundation
import SeggetQueue
import SeggetReports
import SeggetAria2

/// A version of the API: the first name of each path.
enum APIVersion: String, Sendable, Hashable {
    /// The version of segget 0.1 and 0.2, with the names of `FirstNames`; until 0.4.
    case first = "v1"
    /// The version that this package describes.
    case current = "v2"

    /// Returns the version that a target names; ``current`` for a path that names none.
    init(target: String) {
        self = target.split(separator: "/").first.flatMap { Self(rawValue: String($0)) } ?? .current
    }

    /// Returns a path of this version; `path` has none, such as `/tasks`.
    func path(_ path: String) -> String { "/\(rawValue)\(path)" }

    /// Returns a body of the current version as a body of this one.
    func body(_ body: Data) -> Data {
        guard self == .first, let value = JSONValue.read(body) else { return body }
        return FirstNames.first(value.withAria2Codes).data
    }

    /// Returns a body of this version as one of the current version; unchanged if it is not JSON.
    func current(_ body: Data) -> Data {
        guard self == .first, let value = JSONValue.read(body) else { return body }
        return FirstNames.current(value).data
    }
}

/// What of the API a request is for, in any version.
enum Route: Sendable, Hashable {
    case health
    case tasks(TaskFilter)
    case page(TaskFilter, TaskWindow)
    case tags
    case speeds
    case links(TaskFilter)
    case task(String)
    case events(TaskFilter)
    case commands
    case settings
    case newSettings
    case openings

    /// Finds out what a request is for.
    ///
    /// - Parameters:
    ///   - method: `GET`, `POST` and so on; `HEAD` is for what `GET` is for.
    ///   - target: path and query, as sent, or a whole URL.
    /// - Throws: ``Refusal``.
    init(_ method: String, _ target: String) throws(Refusal) {
        let url = target.hasPrefix("/") ? "http://localhost\(target)" : target
        guard var components = URLComponents(string: url),
            let names = Self.names(of: components.percentEncodedPath)
        else { throw Refusal("the path is invalid", status: 400) }
        // A plus sign is a space in the queries of forms, which is what many clients write.
        components.percentEncodedQuery = components.percentEncodedQuery?
            .replacing("+", with: "%20")
        let asked = method == "HEAD" ? "GET" : method
        let items = components.queryItems ?? []
        guard let version = names.first, APIVersion(rawValue: version) != nil else {
            throw Refusal("nothing exists at this path", status: 404)
        }
        let path = Array(names.dropFirst())
        switch path {
        case ["health"]:
            self = try Self.choose(asked, ["GET": .health], items)
        case ["tasks"]:
            self = try Self.choose(asked, ["GET": try Self.tasks(items)], [])
        case ["tags"]:
            self = try Self.choose(asked, ["GET": .tags], items)
        case ["speeds"]:
            self = try Self.choose(asked, ["GET": .speeds], items)
        case ["links"]:
            self = try Self.choose(asked, ["GET": .links(try Self.filter(items))], [])
        case ["events"]:
            self = try Self.choose(asked, ["GET": .events(try Self.filter(items))], [])
        case ["commands"]:
            self = try Self.choose(asked, ["POST": .commands], items)
        case ["settings"]:
            self = try Self.choose(asked, ["GET": .settings, "PUT": .newSettings], items)
        case ["openings"]:
            self = try Self.choose(asked, ["POST": .openings], items)
        default:
            guard path.count == 2, path[0] == "tasks", !path[1].isEmpty else {
                throw Refusal("nothing exists at this path", status: 404)
            }
            self = try Self.choose(asked, ["GET": .task(path[1])], items)
        }
    }

    /// The names between the slashes of a path, decoded; `nil` when one cannot be.
    private static func names(of path: String) -> [String]? {
        let names = path.split(separator: "/", omittingEmptySubsequences: false).dropFirst()
        let decoded = names.compactMap { String($0).removingPercentEncoding }
        return decoded.count == names.count ? decoded : nil
    }

    private static func choose(
        _ method: String, _ routes: [String: Route], _ query: [URLQueryItem]
    ) throws(Refusal) -> Route {
        guard let route = routes[method] else {
            var allowed = Array(routes.keys)
            if allowed.contains("GET") { allowed.append("HEAD") }
            throw Refusal(
                "this path does not support the method", status: 405, allowed: allowed.sorted())
        }
        guard query.isEmpty else { throw Refusal("this path takes no query", status: 400) }
        return route
    }

    /// Tasks that a query means: all of them, unless it says which part.
    private static func tasks(_ items: [URLQueryItem]) throws(Refusal) -> Route {
        let names = ["sort", "descending", "offset", "limit"]
        let filter = try filter(items.filter { !names.contains($0.name) })
        let paging = items.filter { names.contains($0.name) }
        guard !paging.isEmpty else { return .tasks(filter) }
        var window = TaskWindow()
        var given: Set<String> = []
        for item in paging {
            let value = item.value ?? ""
            guard given.insert(item.name).inserted else {
                throw Refusal(
                    "`sort`, `descending`, `offset` and `limit` may be given only once", status: 400
                )
            }
            switch item.name {
            case "sort":
                guard let order = TaskWindow.Order(rawValue: value) else {
                    throw Refusal("`sort` has an unknown value", status: 400)
                }
                window.order = order
            case "descending": window.isDescending = try flag(value)
            case "offset": window.offset = try number(value, 0 ... .max)
            default: window.limit = try number(value, 1...mostTasks)
            }
        }
        return .page(filter, window)
    }

    /// Most tasks of a window.
    private static let mostTasks = 1000

    private static func number(
        _ text: String, _ range: ClosedRange<Int>
    ) throws(Refusal) -> Int {
        guard let number = Int(text), range.contains(number) else {
            throw Refusal(
                "`offset` takes a number from 0, and `limit` takes 1 to \(mostTasks)", status: 400)
        }
        return number
    }

    private static func filter(_ items: [URLQueryItem]) throws(Refusal) -> TaskFilter {
        var filter = TaskFilter()
        for item in items {
            guard let value = item.value else {
                throw Refusal("a query parameter has no value", status: 400)
            }
            switch item.name {
            case "id": filter.selection.ids.append(value)
            case "tag": filter.selection.tags.append(value)
            case "state":
                guard let word = TaskStatus.word(given: value) else {
                    throw Refusal("`state` has an unknown value", status: 400)
                }
                filter.selection.states.append(word)
            case "text" where filter.text == nil: filter.text = value
            case "unseen": filter.isUnseen = try flag(value)
            case "all": filter.selection.isAll = try flag(value)
            default:
                throw Refusal(
                    "the query has an unknown parameter, or repeats one that may be given only once",
                    status: 400)
            }
        }
        return filter
    }

    private static func flag(_ text: String) throws(Refusal) -> Bool {
        switch text {
        case "1", "true": true
        case "0", "false": false
        default: throw Refusal("a query parameter is neither 1 nor 0", status: 400)
        }
    }

    /// Returns the path and query that select the tasks of a filter.
    ///
    /// - Parameters:
    ///   - filter: The tasks.
    ///   - path: A path without its version.
    ///   - version: The version that the worker serves.
    /// - Returns: The target of the request.
    static func target(
        _ filter: TaskFilter, at path: String = "/tasks", _ version: APIVersion = .current
    ) -> String {
        let path = version.path(path)
        var items = filter.selection.ids.map { URLQueryItem(name: "id", value: $0) }
        items += filter.selection.tags.map { URLQueryItem(name: "tag", value: $0) }
        items += filter.selection.states.map { state in
            let isFirst = version == .first && state == "paused"
            return URLQueryItem(name: "state", value: isFirst ? "held" : state)
        }
        if let text = filter.text { items.append(URLQueryItem(name: "text", value: text)) }
        if filter.isUnseen { items.append(URLQueryItem(name: "unseen", value: "1")) }
        if filter.selection.isAll { items.append(URLQueryItem(name: "all", value: "1")) }
        var components = URLComponents()
        components.path = path
        if !items.isEmpty { components.queryItems = items }
        // What is no plus sign to everybody is written out.
        components.percentEncodedQuery = components.percentEncodedQuery?.replacing("+", with: "%2B")
        return components.string ?? path
    }

    /// Returns the path, without its version, of one task.
    static func path(of selector: String) -> String {
        // All but letters and digits is encoded, so that it is one name, whatever is in it.
        "/tasks/"
            + (selector.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? selector)
    }
}

/// Why a request is not answered with what it asks for.
struct Refusal: Error, Hashable {
    /// What is wrong, in words that have nothing of what came.
    var message: String
    /// The status code of HTTP.
    var status: Int
    /// The methods that the path has, where the request had another one.
    var allowed: [String] = []

    init(_ message: String, status: Int, allowed: [String] = []) {
        (self.message, self.status, self.allowed) = (message, status, allowed)
    }

    /// What to send instead.
    private var hint: String {
        switch status {
        case 400, 404, 405: "`GET /api/openapi.json` describes the paths and their queries"
        case 401: "send the secret as `Authorization: Bearer SECRET`"
        default: "nothing was done"
        }
    }

    /// The answer that says so.
    var reply: APIReply {
        APIReply(
            QueueError(.invalid, message, hint: hint), status: status, allowed: allowed)
    }
}
