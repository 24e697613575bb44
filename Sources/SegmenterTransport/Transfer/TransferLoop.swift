// Transfer: HTTP requests on libcurl, all on one thread. This folder knows libcurl, buffers and
// time. It never knows a fetch, a batch, or how many requests a server serves. Its users implement
// the protocol `LoopClient`.

import CCurl
// Requests and replies are values of the rules, so importing the transport imports them too.
@_exported public import SegmenterRules

/// The interface to the loop thread: callers send messages and await the answers.
package final class TransferLoop: Sendable {
    /// The validators that servers have sent in this session.
    package let validators = ValidatorBook()
    private let mailbox: Mailbox
    private let thread: Monitor<OwnedThread?>

    /// Starts the thread.
    ///
    /// - Parameter residents: The types of the residents of the thread, in the order of creation.
    package init(residents: [any LoopResident.Type]) {
        let code = curl_global_init(segget_curl_global_default)
        precondition(code == CURLE_OK, "curl_global_init failed")
        guard let multi = curl_multi_init() else { preconditionFailure("out of memory") }
        // By default, libcurl adjusts the number of idle connections to that of the handles.
        segget_curl_multi_setopt_long(multi, CURLMOPT_MAXCONNECTS, 128)
        // Only requests for small files use multiplexing over HTTP/2.
        segget_curl_multi_setopt_long(multi, CURLMOPT_PIPELINING, Int(CURLPIPE_MULTIPLEX))
        let mailbox = Mailbox(multi: multi)
        self.mailbox = mailbox
        let address = UInt(bitPattern: multi)
        thread = Monitor(
            OwnedThread(name: "transfers") {
                guard let multi = CURLM(bitPattern: address) else { return }
                let worker = Worker(multi: multi, mailbox: mailbox, residents: residents)
                worker.run()
                // Messages accepted before are run, because a caller may await the answer.
                for message in mailbox.close() { message(worker) }
                worker.close()
                curl_multi_cleanup(multi)
            })
    }

    deinit {
        perform { $0.stop() }
        thread.withLock { $0 }?.detach()
    }

    /// Queues `body` to run on the loop thread after all earlier messages.
    ///
    /// - Returns: Whether `body` will run; `false` after `shutdown`.
    @discardableResult
    package func perform(_ body: @escaping @Sendable (Worker) -> Void) -> Bool {
        mailbox.send(body)
    }

    /// Runs `question` on the loop thread after all earlier messages, and awaits its answer.
    ///
    /// - Parameters:
    ///   - otherwise: The value to return after `shutdown`.
    ///   - question: Computes the answer on the loop thread.
    /// - Returns: The answer.
    package func ask<Value: Sendable>(
        otherwise: Value, _ question: @escaping @Sendable (Worker) -> Value
    ) async -> Value {
        await Answer.wait { answer in
            let isTaken = perform { answer.resume(returning: question($0)) }
            if !isTaken { answer.resume(returning: otherwise) }
        }
    }

    /// Starts an operation on the loop thread, and awaits its result.
    ///
    /// If the task is already cancelled, the operation starts nevertheless and is cancelled
    /// immediately, because it may have to clean up the received bytes or a paused response.
    ///
    /// - Parameters:
    ///   - otherwise: The value to return after `shutdown`, when the operation cannot start.
    ///   - begin: Starts the operation, which has to resume the `Answer` exactly once. Returns the
    ///     number for `cancel`; `nil` if there is nothing to cancel.
    ///   - cancel: Called on the loop thread when the task is cancelled; the operation then has to
    ///     end and answer soon.
    /// - Returns: The result.
    package func wait<Value: Sendable>(
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

    /// Cancels all active transfers, ends the loop thread, and waits until it has ended.
    package func shutdown() {
        perform { $0.stop() }
        let thread = thread.withLock { thread in
            defer { thread = nil }
            return thread
        }
        thread?.join()
    }
}
