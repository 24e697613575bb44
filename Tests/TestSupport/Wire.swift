import CTestSupport
import Glibc

/// Stops all threads of an origin.
///
/// It is a pipe that becomes and stays readable, so a thread can wait for it and a socket at once.
final class StopSignal: Sendable {
    /// Readable once the signal is raised.
    let readEnd: Int32
    private let writeEnd: Int32

    init() throws {
        var ends: [Int32] = [0, 0]
        try checked(pipe(&ends), "pipe")
        readEnd = ends[0]
        writeEnd = ends[1]
    }

    deinit {
        close(readEnd)
        close(writeEnd)
    }

    func raise() { _ = write(writeEnd, "!", 1) }
}

/// A connected socket, used by one thread; each wait ends when the origin stops.
struct Wire {
    let socket: Int32
    let stop: StopSignal

    /// Why a wait ended.
    enum Wake {
        case ready
        case timeout
        case peerGone
        case stopped
    }

    /// Waits for `events` on the socket, at most `seconds`.
    func wait(for events: Int16, seconds: Double = .infinity) -> Wake {
        let deadline = monotonicSeconds() + seconds
        while true {
            var polled = [
                pollfd(fd: stop.readEnd, events: Int16(POLLIN), revents: 0),
                pollfd(fd: socket, events: events, revents: 0),
            ]
            let left = deadline - monotonicSeconds()
            let limit = left > 1_000_000 ? -1 : max(0, Int32((left * 1000).rounded(.up)))
            let count = poll(&polled, 2, limit)
            if count < 0 { continue }
            if polled[0].revents != 0 { return .stopped }
            if polled[1].revents & events != 0 {
                return events == segget_test_poll_peer_closed() ? .peerGone : .ready
            }
            if polled[1].revents != 0 { return .peerGone }
            if left <= 0 { return .timeout }
        }
    }

    /// Waits for `seconds` without sending; returns false if the peer has closed or the origin
    /// stops.
    func pause(_ seconds: Double) -> Bool {
        seconds <= 0 || wait(for: segget_test_poll_peer_closed(), seconds: seconds) == .timeout
    }

    /// Writes all of `bytes`, and calls `sent` after each write; returns false if that failed.
    func send(_ bytes: UnsafeRawBufferPointer, sent: (Int) -> Void = { _ in }) -> Bool {
        var done = 0
        while done < bytes.count {
            let rest = UnsafeRawBufferPointer(rebasing: bytes[done...])
            let flags = Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT)
            let count = Glibc.send(socket, rest.baseAddress, rest.count, flags)
            if count > 0 {
                done += count
                sent(count)
                continue
            }
            guard count < 0, errno == EAGAIN || errno == EINTR else { return false }
            guard wait(for: Int16(POLLOUT)) == .ready else { return false }
        }
        return true
    }

    /// Writes all of `text`; returns false if that failed.
    func send(_ text: String) -> Bool {
        var text = text
        return text.withUTF8 { send(UnsafeRawBufferPointer($0)) }
    }

    /// Waits for available bytes and reads them into `buffer`; returns false at the end of the
    /// stream.
    func receive(into buffer: inout [UInt8]) -> Bool {
        guard wait(for: Int16(POLLIN)) == .ready else { return false }
        return withUnsafeTemporaryAllocation(byteCount: 16 << 10, alignment: 16) { space in
            let count = recv(socket, space.baseAddress, space.count, 0)
            guard count > 0 else { return false }
            buffer.append(contentsOf: space.prefix(count))
            return true
        }
    }

    /// Makes closing the socket send a RST, once the peer has received all written bytes.
    ///
    /// A RST discards bytes in flight. It waits at most a second.
    func resetOnClose() {
        let deadline = monotonicSeconds() + 1
        var unacknowledged: Int32 = 0
        while ioctl(socket, UInt(TIOCOUTQ), &unacknowledged) == 0, unacknowledged > 0,
            monotonicSeconds() < deadline, pause(0.001)
        {}
        var option = linger(l_onoff: 1, l_linger: 0)
        setsockopt(
            socket, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
    }
}
