import CLinux
import Glibc

/// The kernel's statistics of all connections of a loop together.
///
/// libcurl does not report which connection an active transfer uses (`CURLINFO_ACTIVESOCKET` is -1
/// then), nor when a connection is closed. A descriptor is therefore removed once it is no longer a
/// TCP socket. Used on the loop thread only.
package final class SocketWatch {
    private var sockets: [Int32: segget_tcp_state] = [:]
    /// The number of TCP segments with data that were received since the loop started.
    package private(set) var segments: Int64 = 0
    /// The number of these segments that arrived out of order.
    ///
    /// An earlier segment was then lost or delayed.
    package private(set) var disordered: Int64 = 0
    /// The shortest round trip of a connection, in seconds, at the last `look`; `nil` if unknown.
    ///
    /// Only connections that had received data since the previous `look` count.
    package private(set) var roundTrip: Double?

    /// Adds a new socket.
    package func add(_ socket: Int32) { sockets[socket] = segget_tcp_state() }

    /// Reads the statistics of all connections.
    package func look() {
        roundTrip = nil
        for (socket, old) in sockets {
            var state = segget_tcp_state()
            guard segget_read_tcp_state(socket, &state) == 0 else {
                sockets[socket] = nil
                continue
            }
            sockets[socket] = state
            // The descriptor may belong to a newer connection, whose counters started at 0.
            let isSame = state.segments >= old.segments && state.disordered >= old.disordered
            segments += Int64(state.segments) - (isSame ? Int64(old.segments) : 0)
            disordered += Int64(state.disordered) - (isSame ? Int64(old.disordered) : 0)
            guard state.round_trip > 0, state.segments > old.segments else { continue }
            roundTrip = min(roundTrip ?? .infinity, Double(state.round_trip) * 1e-6)
        }
    }

    /// Returns the smoothed round trip of sent data on one connection, in seconds.
    ///
    /// - Parameters:
    ///   - port: The local port of the connection.
    ///   - address: The remote address.
    /// - Returns: The round trip; `nil` if there is no such connection, or its value is unknown.
    package func roundTrip(from port: Int, to address: String) -> Double? {
        for socket in sockets.keys {
            var own: UInt16 = 0
            var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
            var state = segget_tcp_state()
            guard segget_read_ends(socket, &own, &text) == 0, Int(own) == port,
                text.withUnsafeBufferPointer({ $0.baseAddress.map { String(cString: $0) } })
                    == address,
                segget_read_tcp_state(socket, &state) == 0, state.sent_round_trip > 0
            else { continue }
            return Double(state.sent_round_trip) * 1e-6
        }
        return nil
    }
}
