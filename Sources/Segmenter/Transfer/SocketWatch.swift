import CLinux
import Glibc

/// What the kernel says of the connections of a loop, all together.
///
/// libcurl does not say which connection a transfer uses while it runs (`CURLINFO_ACTIVESOCKET` is
/// -1 then), nor when one is closed: a descriptor that is no TCP socket any more is forgotten.
/// Lives on the loop thread.
final class SocketWatch {
    private var sockets: [Int32: segget_tcp_state] = [:]
    /// Segments with data that have come since the loop began.
    private(set) var segments: Int64 = 0
    /// Of these, the ones that came out of order: one before them was lost, or overtaken.
    private(set) var disordered: Int64 = 0
    /// Shortest round trip of a connection that has one, in seconds, at the last look.
    private(set) var roundTrip: Double?

    /// Takes a socket that was just made.
    func add(_ socket: Int32) { sockets[socket] = segget_tcp_state() }

    /// Looks at all of them.
    func look() {
        roundTrip = nil
        for (socket, old) in sockets {
            var state = segget_tcp_state()
            guard segget_read_tcp_state(socket, &state) == 0 else {
                sockets[socket] = nil
                continue
            }
            sockets[socket] = state
            // The number may be that of a younger connection by now.
            let isSame = state.segments >= old.segments && state.disordered >= old.disordered
            segments += Int64(state.segments) - (isSame ? Int64(old.segments) : 0)
            disordered += Int64(state.disordered) - (isSame ? Int64(old.disordered) : 0)
            guard state.round_trip > 0, state.segments > old.segments else { continue }
            roundTrip = min(roundTrip ?? .infinity, Double(state.round_trip) * 1e-6)
        }
    }

    /// The round trip of the connection from a port of this machine to an address, in seconds, smoothed, as the kernel
    /// knows it from what was sent; `nil` where no socket is that connection's, or nothing is known.
    func roundTrip(from port: Int, to address: String) -> Double? {
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
