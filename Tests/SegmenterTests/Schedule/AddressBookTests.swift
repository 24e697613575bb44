import TestSupport
import Testing

@testable import Segmenter
@testable import SegmenterRules
@testable import SegmenterTransport

@Suite struct AddressBookTests {
    private typealias Load = AddressBook.Load
    private static let names = ["a", "b", "c", "d"]

    /// A book behind a reference, so that mutating calls can be made inside expectations.
    private final class Kept {
        var book: AddressBook

        init(_ count: Int = 3) {
            book = AddressBook(
                origin: "http://h:80", addresses: Array(AddressBookTests.names.prefix(count)))
        }

        func leave(_ address: String, atLeast: Double = 0, now: Double) -> Bool {
            book.leave(address, atLeast: atLeast, now: now)
        }

        /// Opens connections one after the other, and returns the loads.
        func open(_ count: Int, _ loads: [String: Load] = [:], now: Double = 0) -> [String: Load] {
            var loads = loads
            for _ in 0..<count {
                guard let address = book.choose(loads, now: now) else { break }
                loads[address, default: Load()].connections += 1
            }
            return loads
        }

        /// Runs ticks, and returns the addresses that are avoided from then on.
        func run(
            _ rates: [String: [Double]], from start: Double = 0, seconds: Double = 5,
            roundTrip: Double = 0
        ) -> [String] {
            (0...Int(seconds * 10)).flatMap { tick in
                book.step(rates, roundTrip: roundTrip, now: start + Double(tick) / 10)
                    .map(\.address)
            }
        }
    }

    @Test func spreadsConnectionsEvenly() {
        for count in 1...4 {
            for connections in 0...20 {
                let loads = Kept(count).open(connections)
                let counts = Self.names.prefix(count).map { loads[$0]?.connections ?? 0 }
                #expect(counts.reduce(0, +) == connections)
                #expect((counts.max() ?? 0) - (counts.min() ?? 0) <= 1)
            }
        }
    }

    @Test func fasterAddressGetsMoreConnections() {
        let rates = ["a": Load(rate: 1), "b": Load(rate: 3)]
        let loads = Kept(2).open(8, rates)
        #expect(loads["a"]?.connections == 2)
        #expect(loads["b"]?.connections == 6)
    }

    @Test func failedAddressIsRetriedByOneConnection() {
        let kept = Kept()
        #expect(kept.leave("b", now: 0))
        // Requests that were sent at the same time fail too.
        #expect(!kept.leave("b", now: 1))
        #expect(kept.open(6, now: 29)["b"] == nil)
        #expect(kept.open(6, now: 31)["b"]?.connections == 1)
        kept.book.served("b")
        #expect(kept.open(6, now: 31)["b"]?.connections == 2)
        // The second time lasts twice as long.
        #expect(kept.leave("b", now: 40))
        #expect(kept.open(6, now: 99)["b"] == nil)
        #expect(kept.open(6, now: 101)["b"]?.connections == 1)
    }

    @Test func respectsRetryAfter() {
        let kept = Kept()
        _ = kept.leave("b", atLeast: 500, now: 0)
        #expect(
            kept.book.choose(["a": Load(connections: 9), "c": Load(connections: 9)], now: 499)
                != "b")
        #expect(
            kept.book.choose(["a": Load(connections: 9), "c": Load(connections: 9)], now: 501)
                == "b")
    }

    @Test func prefersAddressOtherThanLast() {
        let kept = Kept(2)
        let loads = ["b": Load(connections: 5)]
        #expect(kept.book.choose(loads, instead: "a", now: 0) == "b")
        _ = kept.leave("b", now: 0)
        #expect(kept.book.choose(loads, instead: "a", now: 0) == "a")
    }

    @Test func triesAllIfNoneIsGood() {
        let kept = Kept()
        for name in Self.names { _ = kept.leave(name, now: 0) }
        #expect(!kept.book.hasOther(than: "a"))
        #expect(Set(kept.open(3, now: 1).keys) == ["a", "b", "c"])
        kept.book.served("c")
        #expect(kept.book.hasOther(than: "a"))
        #expect(kept.open(3, now: 1) == ["c": Load(connections: 3)])
    }

    /// An address that served between its failures is avoided for longer each time.
    ///
    /// If the other address fails, the first one is used anyway, in rotation.
    @Test func rotatesIfNoneIsGood() {
        let kept = Kept(2)
        for now in 0..<5 {
            if now > 0 { kept.book.served("a") }
            _ = kept.leave("a", now: Double(now))
        }
        _ = kept.leave("b", now: 10)
        #expect(kept.book.choose([:], instead: "b", now: 10) == "a")
        _ = kept.leave("a", now: 11)
        #expect(kept.book.choose([:], instead: "a", now: 11) == "b")
        // An address that asked to receive no requests is last.
        _ = kept.leave("a", atLeast: 60, now: 12)
        _ = kept.leave("b", now: 13)
        #expect(kept.book.choose([:], instead: "b", now: 14) == "b")
        #expect(kept.book.choose([:], instead: "b", now: 73) == "a")
    }

    @Test func slowAddressIsAvoided() {
        let kept = Kept()
        let slow = ["a": [9.0, 9], "b": [2.0, 2.5], "c": [8.0]]
        #expect(kept.run(slow, seconds: 0.4) == [])
        #expect(kept.run(slow, from: 0.5) == ["b"])
        // Received bytes do not show that a slow address has become fast.
        kept.book.served("b")
        #expect(!kept.book.isGood("b"))
        #expect(kept.run(["a": [9], "b": [9]], from: 20) == [])
        #expect(!kept.book.isGood("b"))
        #expect(kept.run(["a": [9], "b": [9]], from: 40) == [])
        #expect(kept.book.isGood("b"))
    }

    @Test func longRoundTripDelaysJudgement() {
        let kept = Kept(2)
        #expect(kept.run(["a": [9], "b": [1]], seconds: 2.3, roundTrip: 0.2) == [])
        #expect(kept.run(["a": [9], "b": [1]], from: 2.4, roundTrip: 0.2) == ["b"])
    }

    @Test(arguments: [
        ["a": [9.0], "b": [3.1]], ["a": [9.0]], ["a": [1.0, 9.0], "b": [9.0, 1]], [:],
        // Most are slow, for an unknown reason.
        ["a": [9.0], "b": [1.0], "c": [1.0], "d": [1.0]],
    ])
    func othersAreNotAvoided(rates: [String: [Double]]) {
        let kept = Kept(4)
        #expect(kept.run(rates) == [])
    }

    /// In any state, a good address is chosen if there is one.
    ///
    /// An address that is due has at most one connection. Slowness never makes the book avoid all
    /// good addresses.
    @Test func goodAddressIsChosenIfAny() {
        forEachSeed(300) { seed, random in
            let count = Int.random(in: 1...4, using: &random)
            let names = Array(Self.names.prefix(count))
            var book = Kept(count).book
            var now = 0.0
            for _ in 0..<60 {
                now += .random(in: 0...40, using: &random)
                let name = names.randomElement(using: &random) ?? ""
                switch Int.random(in: 0...3, using: &random) {
                case 0: _ = book.leave(name, now: now)
                case 1: book.served(name)
                case 2:
                    let wasGood = names.contains(where: book.isGood)
                    var rates: [String: [Double]] = [:]
                    for name in names {
                        rates[name] = [.random(in: 0.1...10, using: &random)]
                    }
                    for _ in 0..<8 {
                        _ = book.step(rates, roundTrip: 0, now: now)
                        now += 0.1
                    }
                    #expect(!wasGood || names.contains(where: book.isGood), "seed \(seed)")
                default: break
                }
                var loads: [String: Load] = [:]
                for name in names {
                    loads[name] = Load(
                        connections: .random(in: 0...3, using: &random),
                        rate: Bool.random(using: &random)
                            ? .random(in: 0...10, using: &random) : nil)
                }
                let chosen = book.choose(
                    loads, instead: names.randomElement(using: &random), now: now)
                #expect(chosen.map(names.contains) == true, "seed \(seed)")
                guard let chosen, !book.isGood(chosen) else { continue }
                let hasGood = names.contains(where: book.isGood)
                #expect(!hasGood || loads[chosen]?.connections == 0, "seed \(seed)")
            }
        }
    }
}
