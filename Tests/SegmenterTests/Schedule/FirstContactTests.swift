import Testing

@testable import Segmenter
@testable import SegmenterRules
@testable import SegmenterTransport

@Suite struct FirstContactTests {
    private static func steps(
        _ troubles: [FirstContact.Trouble], contact: FirstContact = FirstContact(),
        isGivenUp: Bool = false, random: Double = 0
    ) -> [FirstContact.Decision] {
        var contact = contact
        return troubles.map { contact.step(after: $0, isGivenUp: isGivenUp, random: random) }
    }

    private static let bounded =
        [0.75, 1.5].map { FirstContact.Decision.again(after: $0) } + [.giveUp]

    @Test func givesUpAfterThreeImmediateFailures() {
        #expect(Self.steps([.passing, .passing, .passing]) == Self.bounded)
        // Responses with `Retry-After` and timeouts do not count.
        #expect(
            Self.steps([.passing, .other, .passing, .other, .passing])
                == [Self.bounded[0], .asEver, Self.bounded[1], .asEver, .giveUp])
    }

    @Test func totalWaitIsAtMostFiveSeconds() {
        let longest = Self.steps([.passing, .passing], random: 1.0.nextDown)
        let waits = longest.map { step in if case .again(let wait) = step { wait } else { 99.0 } }
        #expect(waits.reduce(0, +) <= 5)
        #expect(waits[0] < waits[1])
    }

    @Test func unknownNameIsFinal() {
        for isBounded in [true, false] {
            let contact = FirstContact(isBounded: isBounded)
            #expect(Self.steps([.unknownName], contact: contact) == [.giveUp])
            #expect(Self.steps([.other, .unknownName], contact: contact) == [.asEver, .giveUp])
        }
    }

    @Test func unresponsiveNameServerIsTriedTwice() {
        #expect(Self.steps([.silentNameServer, .silentNameServer]) == [Self.bounded[0], .giveUp])
        #expect(Self.steps([.silentNameServer], contact: .init(isMute: true)) == [.giveUp])
        #expect(Self.steps([.passing, .silentNameServer]) == [Self.bounded[0], .giveUp])
    }

    @Test(arguments: [FirstContact.Trouble.passing, .silentNameServer, .other])
    func givenRetriesRemoveBound(trouble: FirstContact.Trouble) {
        let contact = FirstContact(isBounded: false)
        let troubles = Array(repeating: trouble, count: 20)
        #expect(
            Self.steps(troubles, contact: contact, isGivenUp: true).allSatisfy { $0 == .asEver })
    }

    @Test func givenUpHostIsTriedOnce() {
        #expect(Self.steps([.passing], isGivenUp: true) == [.giveUp])
        #expect(Self.steps([.other], isGivenUp: true) == [.asEver])
    }

    /// libcurl's error codes as numbered in libcurl-errors(3).
    @Test(
        arguments: [
            (.network(code: 6, message: ""), nil, .passing),
            (.network(code: 7, message: ""), nil, .passing),
            (.network(code: 35, message: ""), nil, .passing),
            (.network(code: 52, message: ""), nil, .passing),
            (.network(code: 55, message: ""), nil, .passing),
            (.network(code: 56, message: ""), nil, .passing),
            (.network(code: 28, message: "Resolving timed out after 1 ms"), nil, .silentNameServer),
            (.network(code: 28, message: "Connection timed out"), nil, .other),
            (.network(code: 0, message: "no response"), nil, .other),
            (.proxy(code: 5, message: ""), nil, .passing),
            (.proxy(code: 7, message: ""), nil, .passing),
            (.proxy(code: 56, message: ""), nil, .passing),
            (.proxy(code: 97, message: ""), nil, .passing),
            (.status(500), nil, .passing), (.status(520), nil, .passing),
            (.status(502), nil, .passing), (.status(503), nil, .passing),
            (.status(504), nil, .passing),
            (.status(503), 1, .other), (.status(502), 60, .other), (.status(429), nil, .other),
            (.status(408), nil, .other), (.stalled(for: .seconds(1)), nil, .other),
            (.truncated(missing: 1), nil, .other), (.breach(.headTooLong), nil, .other),
        ] as [(TransferFailure, Double?, FirstContact.Trouble)])
    func classifiesFailures(
        failure: TransferFailure, retryAfter: Double?, trouble: FirstContact.Trouble
    ) {
        #expect(FirstContact.Trouble(failure, retryAfter: retryAfter) == trouble)
        let isName = [.network(code: 6, message: ""), .proxy(code: 5, message: "")]
            .contains(failure)
        #expect(
            FirstContact.Trouble(failure, retryAfter: retryAfter, isUnknownName: true)
                == (isName ? .unknownName : trouble))
        #expect(
            FirstContact.Trouble(failure, retryAfter: retryAfter, isUnknownName: false) == trouble)
    }

    /// The return values of getaddrinfo(3).
    @Test(
        arguments: [
            (0, .known), (-2, .unknown), (-5, .unknown), (-9, .unknown), (-3, .noAnswer),
            (-4, .noAnswer), (-10, .noAnswer), (-11, .noAnswer),
        ] as [(Int32, NameVerdict)])
    func classifiesResolverCodes(code: Int32, verdict: NameVerdict) {
        #expect(NameVerdict(code: code) == verdict)
    }

    @Test func unresolvedNameIsHostOrProxy() {
        let unresolved = TransferFailure.network(code: 6, message: "Could not resolve host: b")
        #expect(unresolved.unresolvedName(host: "a.test") == "a.test")
        let proxy = TransferFailure.proxy(code: 5, message: "Could not resolve proxy: p.test")
        #expect(proxy.unresolvedName(host: "a.test") == "p.test")
        #expect(TransferFailure.proxy(code: 5, message: "").unresolvedName(host: "a") == nil)
        #expect(TransferFailure.network(code: 7, message: "x: y").unresolvedName(host: "a") == nil)
        #expect(TransferFailure.status(503).unresolvedName(host: "a") == nil)
    }

    @Test func givenUpHostsAreForgottenLater() {
        var hosts = HostContacts()
        hosts.gaveUp("a", now: 10)
        #expect(hosts.isGivenUp("a", now: 14.9))
        #expect(!hosts.isGivenUp("b", now: 10))
        // Giving up because of an earlier record does not renew that record.
        hosts.gaveUp("a", now: 14)
        #expect(!hosts.isGivenUp("a", now: 15))
        hosts.gaveUp("a", now: 15)
        #expect(hosts.isGivenUp("a", now: 16))
        hosts.served("a")
        #expect(!hosts.isGivenUp("a", now: 16))
        #expect(hosts.served == ["a"])
    }
}
