// Transfer: one request after the other on libcurl, all of them on one thread. It knows libcurl,
// buffers and time; it never knows a fetch, a batch or how many requests a server serves. Those who
// want something of it are its clients (`LoopClient`).

import Assembler
import CCurl

/// The door to the loop thread: messages go in, replies come out by continuations.
final class TransferLoop: Sendable {
    /// Which dates and tags its servers have sent.
    let validators = ValidatorBook()
    private let mailbox: Mailbox
    private let thread: Monitor<OwnedThread?>

    /// Starts the thread.
    ///
    /// - Parameter residents: What lives on it as long as it runs, in the order of moving in.
    init(residents: [any LoopResident.Type]) {
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
                let worker = Worker(multi: multi, mailbox: mailbox, residents: residents)
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

    /// Asks something on the loop thread, after what was sent before it.
    ///
    /// - Returns: The answer; `otherwise` after `shutdown`.
    func ask<Value: Sendable>(
        otherwise: Value, _ question: @escaping @Sendable (Worker) -> Value
    ) async -> Value {
        await Answer.wait { answer in
            let isTaken = perform { answer.resume(returning: question($0)) }
            if !isTaken { answer.resume(returning: otherwise) }
        }
    }

    /// Has something begin on the loop thread, and waits for its end.
    ///
    /// It begins even when the task was cancelled before, and is cancelled then at once: what it has been given
    /// (bytes that have come, a reply that waits) it may have to put away.
    ///
    /// - Parameters:
    ///   - otherwise: The answer when it does not begin: after `shutdown`.
    ///   - begin: Begins it, with what to answer once; returns the number that `cancel` is called with.
    ///   - cancel: Has it end and answer soon, when the task is cancelled; on the loop thread.
    /// - Returns: The answer.
    func wait<Value: Sendable>(
        otherwise: Value, begin: @escaping @Sendable (Worker, Answer<Value>) -> Int?,
        cancel: @escaping @Sendable (Worker, Int) -> Void
    ) async -> Value {
        let ticket = Monitor<(number: Int?, isCancelled: Bool)>((nil, false))
        return await withTaskCancellationHandler {
            await Answer.wait { answer in
                let isTaken = perform { worker in
                    let number = begin(worker, answer)
                    let isCancelled = ticket.withLock { ticket in
                        ticket.number = number
                        return ticket.isCancelled
                    }
                    if isCancelled, let number { cancel(worker, number) }
                }
                if !isTaken { answer.resume(returning: otherwise) }
            }
        } onCancel: {
            ticket.withLock { $0.isCancelled = true }
            perform { worker in
                if let number = ticket.withLock({ $0.number }) { cancel(worker, number) }
            }
        }
    }

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
