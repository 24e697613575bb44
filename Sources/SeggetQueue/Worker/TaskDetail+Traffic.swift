import SeggetReports
import Segmenter

extension TaskDetail {
    /// Adds the connections and servers of a download.
    mutating func take(_ traffic: DownloadTraffic) {
        connections = traffic.connections.map { Connection($0) }
        servers = traffic.servers.map { Server($0) }
    }
}

extension TaskDetail.Connection {
    fileprivate init(_ connection: DownloadTraffic.Connection) {
        self.init(
            server: connection.server, state: connection.activity.word,
            start: connection.range?.start,
            end: connection.range.flatMap { $0.end < .max ? $0.end : nil },
            position: connection.position, bytesPerSecond: connection.bytesPerSecond,
            address: connection.address, httpVersion: connection.httpVersion,
            roundTrip: connection.roundTrip.map { $0 / .seconds(1) })
    }
}

extension TaskDetail.Server {
    fileprivate init(_ server: DownloadTraffic.Server) {
        var fault: MirrorFault?
        if case .dropped(let why) = server.standing { fault = why }
        self.init(
            url: server.url, state: server.standing.word, bytes: server.bytes,
            connections: server.connections, reason: fault?.kind, message: fault?.text)
    }
}

extension DownloadTraffic.Activity {
    /// The name for programs; `docs/json.md` lists them.
    fileprivate var word: String {
        switch self {
        case .connecting: "connecting"
        case .awaitsReply: "waiting_for_response"
        case .receives: "receiving"
        case .awaitsRetry: "waiting_to_retry"
        case .rests: "idle"
        }
    }
}

extension DownloadTraffic.Standing {
    /// The name for programs; `docs/json.md` lists them.
    fileprivate var word: String {
        switch self {
        case .used: "used"
        case .awaitsSample: "waiting_for_sample"
        case .dropped: "dropped"
        }
    }
}
