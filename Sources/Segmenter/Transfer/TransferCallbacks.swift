import CCurl

// What libcurl calls from within curl_multi_perform(3), on the loop thread. Free functions: a closure
// written inside isolated code would trap there.

/// Takes a piece of a body for its transfer (`CURLOPT_WRITEFUNCTION`).
func transferBodyCallback(
    _ bytes: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int,
    _ context: UnsafeMutableRawPointer?
) -> Int {
    guard let bytes, let context, count > 0 else { return 0 }
    return Unmanaged<Transfer>.fromOpaque(context)._withUnsafeGuaranteedRef {
        $0.takeBody(bytes, size * count)
    }
}

/// Takes a line of a head for its transfer (`CURLOPT_HEADERFUNCTION`).
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

/// Notes a new socket (`CURLOPT_SOCKOPTFUNCTION`).
func newSocketCallback(
    _ context: UnsafeMutableRawPointer?, _ socket: curl_socket_t, _ purpose: curlsocktype
) -> Int32 {
    guard let context else { return 0 }
    Unmanaged<SocketWatch>.fromOpaque(context)._withUnsafeGuaranteedRef { $0.add(socket) }
    return 0
}
