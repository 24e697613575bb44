extension TaskStatus {
    /// The state of a task as one word: the one that the database stores, and that all surfaces
    /// show.
    ///
    /// A worker of a later version may use other words.
    public struct Word: RawRepresentable, Sendable, Hashable, Codable, CodingKeyRepresentable {
        /// The text in JSON and in the database.
        public var rawValue: String

        /// Creates a word from its text, which may be unknown to this version.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// It waits for a slot.
        public static let waiting = Word(rawValue: "waiting")
        /// It is being downloaded.
        public static let running = Word(rawValue: "running")
        /// It waits for its next try.
        public static let retrying = Word(rawValue: "retrying")
        /// Its network is unreachable.
        public static let waitingForNetwork = Word(rawValue: "waiting_for_network")
        /// All bytes have arrived; the file is being verified and published.
        public static let verifying = Word(rawValue: "verifying")
        /// The user paused it.
        public static let paused = Word(rawValue: "paused")
        /// Its file is complete and verified.
        public static let completed = Word(rawValue: "completed")
        /// It failed, and is not retried.
        public static let failed = Word(rawValue: "failed")
        /// The user cancelled it.
        public static let cancelled = Word(rawValue: "cancelled")

        /// All words of this version.
        public static let all = [
            waiting, running, retrying, waitingForNetwork, verifying, paused, completed, failed,
            cancelled,
        ]
        /// The states of tasks that have a slot.
        public static let withSlot = [running, verifying]
        /// The states of tasks that have a download, in a slot or until the network is back.
        public static let downloading = [running, verifying, waitingForNetwork]
        /// The states of tasks that have ended.
        public static let ended = [completed, failed, cancelled]

        /// Reads the word of a state that a user or a client has given; `nil` for any other text.
        ///
        /// `held`, which versions before 0.3 used, is `paused`.
        public init?(given text: String) {
            self.init(rawValue: text == "held" ? "paused" : text)
            guard Self.all.contains(self) else { return nil }
        }

        /// Whether a task in this state has ended.
        public var isEnded: Bool { Self.ended.contains(self) }

        /// The word as a person reads it: with spaces.
        package var text: String { rawValue.replacing("_", with: " ") }
    }
}

extension TaskStatus.Word: ExpressibleByStringLiteral, CustomStringConvertible {
    /// Creates a word from its text.
    public init(stringLiteral word: String) { self.init(rawValue: word) }

    /// The text in JSON.
    public var description: String { rawValue }
}

extension [TaskStatus.Word: Int] {
    /// Returns the number of tasks in some states.
    package func total(in states: [TaskStatus.Word]) -> Int {
        states.reduce(0) { $0 + (self[$1] ?? 0) }
    }
}
