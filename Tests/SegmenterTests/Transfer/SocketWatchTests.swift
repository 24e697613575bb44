import Glibc
import Testing

@testable import Segmenter
@testable import SegmenterRules
@testable import SegmenterTransport

/// Tests the round trips that the kernel reports for connections.
struct SocketWatchTests {
    /// Returns a socket that is bound to 127.0.0.1, at a port that the kernel chooses.
    private static func bound() -> (socket: Int32, port: Int) {
        let made = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = in_addr_t(0x7f00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { any in
                _ = bind(made, any, length)
                _ = getsockname(made, any, &length)
            }
        }
        return (made, Int(UInt16(bigEndian: address.sin_port)))
    }

    private static func connect(_ client: Int32, to port: Int) -> Int32 {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = in_addr_t(0x7f00_0001).bigEndian
        address.sin_port = in_port_t(port).bigEndian
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Glibc.connect(client, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }

    @Test func reportsRoundTripOfConnection() throws {
        let (listener, port) = Self.bound()
        defer { close(listener) }
        #expect(listen(listener, 4) == 0)
        let (client, ownPort) = Self.bound()
        let (idle, idlePort) = Self.bound()
        defer { close(idle) }
        #expect(Self.connect(client, to: port) == 0)

        let watch = SocketWatch()
        // One of the descriptors is not open.
        for socket in [idle, client, 0, 9999] { watch.add(socket) }
        let roundTrip = try #require(watch.roundTrip(from: ownPort, to: "127.0.0.1"))
        #expect(roundTrip > 0 && roundTrip < 60)
        #expect(watch.roundTrip(from: ownPort, to: "127.0.0.2") == nil)
        #expect(watch.roundTrip(from: port, to: "127.0.0.1") == nil)
        #expect(watch.roundTrip(from: idlePort, to: "127.0.0.1") == nil)
        close(client)
        #expect(watch.roundTrip(from: ownPort, to: "127.0.0.1") == nil)
    }
}
