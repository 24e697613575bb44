extension Source {
    /// The consequence of a response whose body must not be used.
    package enum Refusal: Hashable {
        /// The responses to `HEAD` and to `GET` differ.
        case contradictsProbe
        /// Request the bytes again, as after any failure.
        case again
        /// Request them again immediately, on a new connection, which may reach another server.
        case againElsewhere
        /// Request them again immediately, without `If-Range`.
        case againWithoutIfRange
        /// Use no more bytes of this server until a sample was compared with the bytes on the disk.
        case doubt
        /// Request them again immediately, at the URL that has replaced that of the request.
        case againAtNewURL
        /// Resolve the original URL again.
        case resolve
        /// Stop using the server.
        case drop(MirrorFault)
    }

    /// Decides about a response that failed its check.
    ///
    /// - Parameters:
    ///   - breach: The reason.
    ///   - request: The request.
    ///   - setup: The setup of the fetch.
    ///   - hasBytes: Whether bytes of the file exist that a later run can resume from.
    /// - Returns: The consequence.
    package mutating func refused(
        _ breach: ContractBreach, to request: Slot.Request, _ setup: FetchMachine.Setup,
        hasBytes: Bool
    ) -> Refusal {
        if breach == .wholeFileForRange || breach == .rangeRefused {
            // Some servers respond 200 to `If-Range` although the file has not changed.
            if breach == .wholeFileForRange, request.sentIfRange { return .againWithoutIfRange }
            // Without ranges nothing can be resumed, so a single such response is not believed.
            let times = trust.ignoredRange()
            let isBelieved = times >= FetchMachine.patience || accepted == 0 && !hasBytes
            return isBelieved ? .drop(.rangesIgnored) : .again
        }
        let isDoubt = breach.isDoubt(of: mirror.identity)
        if !isDoubt { trust.lied() }
        if dates.doubted != nil, request.missedSample {
            // The response to the sample request had another date than the doubted one.
            if dates.miss(), hasJoined { standing = .proven }
            return .againElsewhere
        }
        if isDoubt, !setup.isOneStream { return doubt(breach) }
        guard breach.isAnotherVersion else { return .again }
        return trust.sawAnotherVersion(hasContradicted: setup.hasContradicted)
            ? .drop(.changed(breach)) : .againElsewhere
    }

    /// Decides about a response with the same strong ETag and another date.
    private mutating func doubt(_ breach: ContractBreach) -> Refusal {
        guard case .otherLastModified(_, let date?) = breach, dates.mayDoubt else {
            return .drop(.changed(breach))
        }
        if dates.doubt(date) { standing = .unproven }
        return .doubt
    }

    /// The fault of a server whose doubted date means another version: the sample differs, or no
    /// bytes exist to compare.
    var changedByDate: MirrorFault {
        .changed(
            .otherLastModified(expected: mirror.identity.lastModified, got: dates.doubted))
    }

    /// Decides about an error status.
    ///
    /// - Parameters:
    ///   - status: The status code.
    ///   - request: The request.
    ///   - isOneStream: Whether one request at a time delivers the file, and is not replaced.
    ///   - isAboveLimit: Whether a 403 may mean that the request exceeded the server's limit.
    ///   - date: The time, in seconds since 1970.
    /// - Returns: The consequence.
    package mutating func refused(
        _ status: Int, to request: Slot.Request, isOneStream: Bool, isAboveLimit: Bool,
        date: Double
    ) -> Refusal {
        let isLost = isRefusal(status) || isGone(status)
        let isReplaced = request.url.map { $0.text != url.text } ?? false
        if isLost, !isReplaced { link.refused() }
        if isOneStream { return .again }
        if isLost, isReplaced { return .againAtNewURL }
        if status == 403, isAboveLimit, !link.isOver(date: date) { return .again }
        if isLost || (300..<400).contains(status) { return .resolve }
        guard isTransient(status) else {
            return .drop(.failed(.transfer(.status(status), attempts: 1)))
        }
        return .again
    }
}
