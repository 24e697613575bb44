import Assembler
import CCurl

/// The door to the loop thread: messages go in, replies come out by continuations.
final class TransferLoop: Sendable {
    private let mailbox: Mailbox
    private let thread: Monitor<OwnedThread?>

    init() {
        let code = curl_global_init(segget_curl_global_default)
        precondition(code == CURLE_OK, "curl_global_init failed")
        guard let multi = curl_multi_init() else { preconditionFailure("out of memory") }
        // Idle connections are kept however the number of handles goes up and down.
        segget_curl_multi_setopt_long(multi, CURLMOPT_MAXCONNECTS, 128)
        // Only requests for small files ask for HTTP/2.
        segget_curl_multi_setopt_long(multi, CURLMOPT_PIPELINING, Int(CURLPIPE_MULTIPLEX))
        let mailbox = Mailbox(multi: multi)
        self.mailbox = mailbox
        let address = UInt(bitPattern: multi)
        thread = Monitor(
            OwnedThread(name: "transfers") {
                guard let multi = CURLM(bitPattern: address) else { return }
                let worker = Worker(multi: multi, mailbox: mailbox)
                worker.run()
                // What was taken before is answered: somebody may be waiting.
                for message in mailbox.close() { message(worker) }
                worker.close()
                curl_multi_cleanup(multi)
            })
    }

    deinit {
        perform { $0.stop() }
        thread.withLock { $0 }?.detach()
    }

    /// Runs `body` on the loop thread, after what was sent before it.
    ///
    /// - Returns: Whether it will be run: not after `shutdown`.
    @discardableResult
    func perform(_ body: @escaping Mailbox.Message) -> Bool { mailbox.send(body) }

    /// Ends the loop thread and waits for its end.
    ///
    /// What is under way is cancelled.
    func shutdown() {
        perform { $0.stop() }
        let thread = thread.withLock { thread in
            defer { thread = nil }
            return thread
        }
        thread?.join()
    }
}
