import Assembler

extension Source {
    /// What follows from a reply whose body is not the file's.
    enum Refusal: Hashable {
        /// What `HEAD` had said is not what `GET` says.
        case contradictsProbe
        /// The bytes are asked for again, as after any failure.
        case again
        /// They are asked for again at once, on a new connection: that may lead to another server.
        case againElsewhere
        /// They are asked for again at once, without `If-Range`.
        case againWithoutIfRange
        /// Nothing more of this server's is used before a sample of what is there has been compared.
        case doubt
        /// The URL that was given is resolved again.
        case resolve
        /// The server is not used any more.
        case drop(MirrorFault)
    }

    /// Decides after a reply that broke the contract.
    ///
    /// - Parameters:
    ///   - breach: How.
    ///   - request: What was asked for.
    ///   - setup: What is fetched, and how.
    ///   - hasBytes: Whether there are bytes of the file that a later run can build on.
    /// - Returns: What follows.
    mutating func refused(
        _ breach: ContractBreach, to request: Slot.Request, _ setup: FetchMachine.Setup,
        hasBytes: Bool
    ) -> Refusal {
        if breach == .wholeFileForRange || breach == .rangeRefused {
            // Some servers answer 200 to If-Range although nothing has changed.
            if breach == .wholeFileForRange, request.sentIfRange { return .againWithoutIfRange }
            // Without ranges nothing can be continued: that is not believed at once.
            let times = trust.ignoredRange()
            let isBelieved = times >= FetchMachine.patience || accepted == 0 && !hasBytes
            return isBelieved ? .drop(.rangesIgnored) : .again
        }
        let isDoubt = breach.isDoubt(of: mirror.identity)
        if !isDoubt { trust.lied() }
        if dates.doubted != nil, request.missedSample {
            // A sample was asked for and did not come from where the date is another one.
            if dates.miss(), hasJoined { standing = .proven }
            return .againElsewhere
        }
        if isDoubt, !setup.isOneStream { return doubt(breach) }
        guard breach.isAnotherVersion else { return .again }
        return trust.sawAnotherVersion(hasContradicted: setup.hasContradicted)
            ? .drop(.changed(breach)) : .againElsewhere
    }

    /// A reply had the same strong tag and another date.
    private mutating func doubt(_ breach: ContractBreach) -> Refusal {
        guard case .otherLastModified(_, let date?) = breach, dates.mayDoubt else {
            return .drop(.changed(breach))
        }
        if dates.doubt(date) { standing = .unproven }
        return .doubt
    }

    /// What of the date that is doubted is another version: a sample differs, or nothing is there that
    /// could show it.
    var changedByDate: MirrorFault {
        .changed(
            .otherLastModified(expected: mirror.identity.lastModified, got: dates.doubted))
    }

    /// Decides after an error status.
    ///
    /// - Parameters:
    ///   - status: The status.
    ///   - isOneStream: Whether one reply is to bring the whole file.
    ///   - isAboveLimit: Whether 403 may be the answer to a request over the server's limit.
    ///   - date: In seconds since 1970.
    /// - Returns: What follows.
    mutating func refused(
        _ status: Int, isOneStream: Bool, isAboveLimit: Bool, date: Double
    ) -> Refusal {
        let isLost = isRefusal(status) || isGone(status)
        if isLost { link.refused() }
        if isOneStream { return .again }
        if status == 403, isAboveLimit, !link.isOver(date: date) { return .again }
        if isLost || (300..<400).contains(status) { return .resolve }
        guard isTransient(status) else {
            return .drop(.failed(.transfer(.status(status), attempts: 1)))
        }
        return .again
    }
}
