import CCurl
import Glibc

// The callbacks that libcurl calls from curl_multi_perform(3), on the loop thread. They are free
// functions, because a closure in actor-isolated code would trap on this thread.

/// Passes a piece of a body to its transfer (`CURLOPT_WRITEFUNCTION`).
func transferBodyCallback(
    _ bytes: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int,
    _ context: UnsafeMutableRawPointer?
) -> Int {
    guard let bytes, let context, count > 0 else { return 0 }
    return Unmanaged<Transfer>.fromOpaque(context)._withUnsafeGuaranteedRef {
        $0.takeBody(bytes, size * count)
    }
}

/// Passes a header line to its transfer (`CURLOPT_HEADERFUNCTION`).
func transferHeadCallback(
    _ bytes: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int,
    _ context: UnsafeMutableRawPointer?
) -> Int {
    guard let bytes, let context else { return 0 }
    let isWelcome = Unmanaged<Transfer>.fromOpaque(context)._withUnsafeGuaranteedRef {
        $0.takeHeaderLine(bytes, size * count)
    }
    return isWelcome ? size * count : 0
}

/// Creates a socket, if the transfer may connect to the address (`CURLOPT_OPENSOCKETFUNCTION`).
func openSocketCallback(
    _ context: UnsafeMutableRawPointer?, _ purpose: curlsocktype,
    _ address: UnsafeMutablePointer<curl_sockaddr>?
) -> curl_socket_t {
    guard let context, let address else { return CURL_SOCKET_BAD }
    let isAllowed = Unmanaged<Transfer>.fromOpaque(context)._withUnsafeGuaranteedRef {
        $0.addressGuard.allows(NetworkAddress(address))
    }
    guard isAllowed else { return CURL_SOCKET_BAD }
    let kind = address.pointee.socktype | Int32(SOCK_CLOEXEC.rawValue)
    return socket(address.pointee.family, kind, address.pointee.protocol)
}

/// Refuses a request if the transfer may not use its remote address (`CURLOPT_PREREQFUNCTION`).
///
/// The connection may be one that another transfer, without such a restriction, has made.
func requestCallback(
    _ context: UnsafeMutableRawPointer?, _ address: UnsafeMutablePointer<CChar>?,
    _ ownAddress: UnsafeMutablePointer<CChar>?, _ port: Int32, _ ownPort: Int32
) -> Int32 {
    guard let context, let address else { return CURL_PREREQFUNC_ABORT }
    let isAllowed = Unmanaged<Transfer>.fromOpaque(context)._withUnsafeGuaranteedRef {
        $0.addressGuard.allowsRequest(to: String(cString: address))
    }
    return isAllowed ? CURL_PREREQFUNC_OK : CURL_PREREQFUNC_ABORT
}

/// Adds a new socket to the statistics (`CURLOPT_SOCKOPTFUNCTION`).
func newSocketCallback(
    _ context: UnsafeMutableRawPointer?, _ socket: curl_socket_t, _ purpose: curlsocktype
) -> Int32 {
    guard let context else { return 0 }
    Unmanaged<SocketWatch>.fromOpaque(context)._withUnsafeGuaranteedRef { $0.add(socket) }
    return 0
}
