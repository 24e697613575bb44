import FoundationEssentials
import NIOCore
import SeggetQueue

/// Sends the changes of a queue to the clients that listen, at most four times a second.
///
/// Used on the event loop's thread only. Other threads build the events and write them as JSON,
/// once for all listeners with the same filter and state.
final class EventHub {
    /// A call of a listener.
    enum Delivery {
        /// The next bytes of the stream; the listener calls ``taken(_:)`` when the client has taken
        /// them.
        case bytes(ByteBuffer)
        /// The last call: the queue has failed.
        case failure(QueueError)
        /// The last call: the server is shutting down.
        case end
    }

    private let source: EventSource
    private let loop: any EventLoop
    private let clock = ContinuousClock()
    private let start: ContinuousClock.Instant
    private var audience = Audience(epoch: String(UInt64.random(in: .min ... .max), radix: 16))
    private var deliveries: [Int: (Delivery) -> Void] = [:]
    /// The number of the hub's observer at the queue; `nil` before the first listener.
    private var observer: EventLoopFuture<UInt64>?
    private var isBusy = false
    private var timer: Scheduled<Void>?
    private var whenOver: EventLoopPromise<Void>?

    init(feed: any QueueFeed, on loop: any EventLoop) {
        (source, self.loop, start) = (EventSource(feed: feed), loop, clock.now)
    }

    /// Milliseconds since the hub was created, from 1.
    private var now: Int64 { Int64((clock.now - start) / .milliseconds(1)) + 1 }

    /// Adds a listener.
    ///
    /// - Parameters:
    ///   - filter: Selects the reported tasks.
    ///   - lastID: The id of the client's last event, on another connection.
    ///   - deliver: Receives the events.
    /// - Returns: The number that identifies the listener; `nil` if the server is shutting down.
    func add(
        _ filter: TaskFilter, after lastID: String?, _ deliver: @escaping (Delivery) -> Void
    ) -> Int? {
        guard whenOver == nil else { return nil }
        if observer == nil { observe() }
        let number = audience.add(filter, after: lastID)
        deliveries[number] = deliver
        goOn()
        return number
    }

    /// Records that a listener has taken its last event.
    func taken(_ number: Int) {
        audience.taken(number)
        goOn()
    }

    /// Removes a listener.
    func remove(_ number: Int) {
        audience.remove(number)
        deliveries[number] = nil
    }

    /// Ends all streams.
    ///
    /// - Parameter time: The longest time to wait for the queue.
    /// - Returns: A future that succeeds when no work remains.
    func close(within time: Duration) -> EventLoopFuture<Void> {
        if let whenOver { return whenOver.futureResult }
        let promise = loop.makePromise(of: Void.self)
        whenOver = promise
        timer?.cancel()
        let end = loop.assumeIsolated().scheduleTask(in: TimeAmount(time)) { promise.succeed() }
        promise.futureResult.assumeIsolated().whenComplete { _ in end.cancel() }
        finish(.end)
        if !isBusy { endObserving() }
        return promise.futureResult
    }

    private func finish(_ delivery: Delivery) {
        let all = deliveries
        deliveries = [:]
        for number in all.keys { audience.remove(number) }
        for deliver in all.values { deliver(delivery) }
    }

    private func observe() {
        let this = NIOLoopBound(self, eventLoop: loop)
        let (feed, loop) = (source.feed, loop)
        observer = loop.makeFutureWithTask {
            await feed.observe { loop.execute { this.value.ring() } }
        }
    }

    private func endObserving() {
        guard let whenOver else { return }
        guard let observer else { return whenOver.succeed() }
        let feed = source.feed
        observer.flatMap { [loop] number in
            loop.makeFutureWithTask { await feed.stopObserving(number) }
        }.cascade(to: whenOver)
    }

    private func ring() {
        audience.ring()
        goOn()
    }

    // MARK: Rounds

    /// Starts the next step, unless one is in progress.
    private func goOn() {
        guard !isBusy, whenOver == nil else { return }
        timer?.cancel()
        timer = nil
        switch audience.step(at: now) {
        case .rest: break
        case .wait(let milliseconds):
            timer = loop.assumeIsolated().scheduleTask(in: .milliseconds(milliseconds)) { [self] in
                goOn()
            }
        case .round(let asksQueue): asksQueue ? ask() : tell(isRound: false)
        }
    }

    /// Asks the queue for changes, then sends them.
    private func ask() {
        guard let observer else { return }
        isBusy = true
        audience.beginRound(at: now)
        let (feed, loop) = (source.feed, loop)
        observer.flatMap { number in
            loop.makeFutureWithTask {
                await Result { () async throws(QueueError) in try await feed.changes(number) }
            }
        }.assumeIsolated().whenSuccess { [self] result in
            switch result {
            case .success(let changes):
                audience.note(changes.touched, changes.view)
                tell(isRound: true)
            case .failure(let error):
                finish(.failure(error))
                roundEnded()
            }
        }
    }

    /// Sends events to the listeners that are ready.
    private func tell(isRound: Bool) {
        let questions = audience.takeQuestions(isRound: isRound)
        isBusy = true
        let source = source
        loop.makeFutureWithTask {
            var answers: [Result<EventSource.Answer, QueueError>] = []
            for question in questions {
                answers.append(
                    await Result { () async throws(QueueError) in
                        try await source.answer(question)
                    })
            }
            return answers
        }.assumeIsolated().whenSuccess { [self] answers in
            for (question, answer) in zip(questions, answers) { deliver(answer, to: question) }
            roundEnded()
        }
    }

    private func deliver(
        _ answer: Result<EventSource.Answer, QueueError>, to question: Audience.Question
    ) {
        switch answer {
        case .success(let answer):
            let told = audience.answer(question, answer.known, isTold: answer.bytes != nil)
            guard let bytes = answer.bytes else { return }
            let buffer = ByteBuffer(bytes: bytes)
            for number in told { deliveries[number]?(.bytes(buffer)) }
        case .failure(let error):
            for number in question.listeners {
                let deliver = deliveries[number]
                remove(number)
                deliver?(.failure(error))
            }
        }
    }

    private func roundEnded() {
        isBusy = false
        if whenOver == nil { goOn() } else { endObserving() }
    }
}

extension Result where Success: Sendable {
    /// Creates the result of a call.
    fileprivate init(_ body: () async throws(Failure) -> Success) async {
        do { self = .success(try await body()) } catch { self = .failure(error) }
    }
}
