import Foundation
import SeggetQueue
import SeggetReports

// How the query of a request selects tasks.

extension Parameter {
    /// The parameters that select tasks.
    static let ofFilter = [
        Parameter(
            name: "id", description: "Tasks whose id begins with this",
            schema: .list(of: .text, to: 1000)),
        Parameter(
            name: "tag", description: "Tasks that have this tag",
            schema: .list(of: .text, to: 1000)),
        Parameter(
            name: "state", description: "Tasks in this state",
            schema: .list(of: .taskState, to: 1000)),
        Parameter(
            name: "text", description: "Tasks with this text in the URL, name or folder",
            schema: .text(to: 1000)),
        Parameter(
            name: "unseen", description: "Tasks that ended, with results not yet seen",
            schema: .queryFlag),
        Parameter(name: "all", description: "All", schema: .queryFlag),
    ]

    /// The parameters that select a page of the tasks.
    static let ofWindow = [
        Parameter(
            name: "sort",
            description: "Sort key; with this or one of the next three parameters, the response is"
                + " one page of the tasks",
            schema: .words(TaskWindow.Order.allCases.map(\.rawValue)).otherwise("order")),
        Parameter(
            name: "descending", description: "Sort in descending order", schema: .queryFlag),
        Parameter(
            name: "offset", description: "Number of tasks, or of files, to skip",
            schema: .integer(from: 0, to: .max).otherwise(0)),
        Parameter(
            name: "limit", description: "Maximum number of tasks, or of files",
            schema: .integer(from: 1, to: TaskWindow.mostTasks).otherwise(100)),
    ]
}

extension Schema {
    fileprivate static let queryFlag = words(["0", "1", "false", "true"])
}

extension TaskFilter {
    /// Reads the parameters of ``Parameter/ofFilter``, and ignores those of a page.
    ///
    /// - Throws: ``Refusal``.
    init(_ query: [URLQueryItem]) throws(Refusal) {
        self.init()
        let paging = Parameter.ofWindow.map(\.name)
        for item in query where !paging.contains(item.name) {
            guard let value = item.value else {
                throw Refusal("a query parameter has no value", status: 400)
            }
            switch item.name {
            case "id": selection.ids.append(value)
            case "tag": selection.tags.append(value)
            case "state":
                guard let word = TaskStatus.Word(given: value) else {
                    throw Refusal("`state` has an unknown value", status: 400)
                }
                selection.states.append(word)
            case "text" where text == nil: text = value
            case "unseen": isUnseen = try flag(value)
            case "all": selection.isAll = try flag(value)
            default: throw .otherParameter
            }
        }
    }

    /// Returns the path and query that select these tasks.
    ///
    /// - Parameters:
    ///   - path: A path without its version.
    ///   - version: The version that the worker serves.
    /// - Returns: The target of the request.
    func target(at path: String, _ version: APIVersion) -> String {
        let path = version.path(path)
        var items = selection.ids.map { URLQueryItem(name: "id", value: $0) }
        items += selection.tags.map { URLQueryItem(name: "tag", value: $0) }
        items += selection.states.map { state in
            let isFirst = version == .first && state == .paused
            return URLQueryItem(name: "state", value: isFirst ? "held" : state.rawValue)
        }
        if let text { items.append(URLQueryItem(name: "text", value: text)) }
        if isUnseen { items.append(URLQueryItem(name: "unseen", value: "1")) }
        if selection.isAll { items.append(URLQueryItem(name: "all", value: "1")) }
        var components = URLComponents()
        components.path = path
        if !items.isEmpty { components.queryItems = items }
        // Some servers read a plus sign as a space.
        components.percentEncodedQuery = components.percentEncodedQuery?.replacing("+", with: "%2B")
        return components.string ?? path
    }
}

extension TaskWindow {
    /// Most tasks of a page.
    fileprivate static let mostTasks = 1000

    /// Reads the parameters of ``Parameter/ofWindow``, and ignores all others.
    ///
    /// - Returns: The page; `nil` if the query has none of them, and so is for all tasks.
    /// - Throws: ``Refusal``.
    init?(_ query: [URLQueryItem]) throws(Refusal) {
        let names = Parameter.ofWindow.map(\.name)
        let items = query.filter { names.contains($0.name) }
        guard !items.isEmpty else { return nil }
        guard Set(items.map(\.name)).count == items.count else {
            throw Refusal(
                "`sort`, `descending`, `offset` and `limit` may be given only once", status: 400)
        }
        self.init()
        for item in items {
            let value = item.value ?? ""
            switch item.name {
            case "sort":
                guard let order = Order(rawValue: value) else {
                    throw Refusal("`sort` has an unknown value", status: 400)
                }
                self.order = order
            case "descending": isDescending = try flag(value)
            case "offset": offset = try Self.number(value, 0 ... .max)
            default: limit = try Self.number(value, 1...Self.mostTasks)
            }
        }
    }

    private static func number(
        _ text: String, _ range: ClosedRange<Int>
    ) throws(Refusal) -> Int {
        guard let number = Int(text), range.contains(number) else {
            throw Refusal(
                "`offset` takes a number from 0, and `limit` takes 1 to \(mostTasks)", status: 400)
        }
        return number
    }
}

private func flag(_ text: String) throws(Refusal) -> Bool {
    switch text {
    case "1", "true": true
    case "0", "false": false
    default: throw Refusal("a query parameter is neither 1 nor 0", status: 400)
    }
}
