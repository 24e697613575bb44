import Assembler
import CCurl

/// The door to the loop thread: messages go in, replies come out by continuations.
final class TransferLoop: Sendable {
    private struct Mailbox {
        var messages: [@Sendable (Worker) -> Void] = []
        /// The multi handle as a number, while it may be woken.
        var multi: UInt?
        var thread: OwnedThread?
    }

    private let mailbox: Monitor<Mailbox>

    init() {
        let code = curl_global_init(segget_curl_global_default)
        precondition(code == CURLE_OK, "curl_global_init failed")
        guard let multi = curl_multi_init() else { preconditionFailure("out of memory") }
        // Idle connections are kept however the number of handles goes up and down.
        segget_curl_multi_setopt_long(multi, CURLMOPT_MAXCONNECTS, 128)
        // Only requests for small files ask for HTTP/2.
        segget_curl_multi_setopt_long(multi, CURLMOPT_PIPELINING, Int(CURLPIPE_MULTIPLEX))
        let address = UInt(bitPattern: multi)
        let mailbox = Monitor(Mailbox(multi: address))
        self.mailbox = mailbox
        let thread = OwnedThread(name: "transfers") {
            guard let multi = CURLM(bitPattern: address) else { return }
            let worker = Worker(multi: multi)
            worker.run {
                mailbox.withLock { box in
                    defer { box.messages = [] }
                    return box.messages
                }
            }
            // From here on no message is taken, and nobody wakes the handle any more. What was
            // taken before is answered: somebody may be waiting.
            let late = mailbox.withLock { box in
                box.multi = nil
                defer { box.messages = [] }
                return box.messages
            }
            for message in late { message(worker) }
            worker.close()
            curl_multi_cleanup(multi)
        }
        mailbox.withLock { $0.thread = thread }
    }

    deinit {
        perform { $0.stop() }
        mailbox.withLock { $0.thread }?.detach()
    }

    /// Runs `body` on the loop thread, after what was sent before it.
    ///
    /// - Returns: Whether it will be run: not after `shutdown`.
    @discardableResult
    func perform(_ body: @escaping @Sendable (Worker) -> Void) -> Bool {
        mailbox.withLock { box in
            guard let multi = box.multi.flatMap({ CURLM(bitPattern: $0) }) else { return false }
            // The loop takes all that there are: who finds others there need not wake it again.
            let isFirst = box.messages.isEmpty
            box.messages.append(body)
            if isFirst { curl_multi_wakeup(multi) }
            return true
        }
    }

    /// Ends the loop thread and waits for its end.
    ///
    /// What is under way is cancelled.
    func shutdown() {
        perform { $0.stop() }
        let thread = mailbox.withLock { box in
            defer { box.thread = nil }
            return box.thread
        }
        thread?.join()
    }
}
