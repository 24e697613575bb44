import Testing

@testable import Segmenter
@testable import SegmenterRules
@testable import SegmenterTransport

@Suite struct BatchListTests {
    private func item(_ name: String) -> BatchItem { BatchItem(name, to: .folder(".")) }

    @Test func appendsAddedItems() {
        let list = BatchList(2, isOpen: true) { [item("a"), item("b")][$0] }
        #expect(list.count == 2 && !list.ends(after: 2))
        #expect(list.add([item("c"), item("d")]) == 2..<4)
        #expect(list.add([]) == 4..<4)
        #expect(list.add([item("e")]) == 4..<5)
        #expect((0..<list.count).map { list[$0].url } == ["a", "b", "c", "d", "e"])
        #expect(!list.ends(after: 5))
        list.close()
        #expect(list.ends(after: 5) && !list.ends(after: 4))
        #expect(list.add([item("f")]) == nil && list.count == 5)
    }

    @Test func startsEmpty() {
        let list = BatchList(0, isOpen: true) { _ in item("none") }
        #expect(list.count == 0 && !list.ends(after: 0))
        #expect(list.add([item("a")]) == 0..<1)
        #expect(list[0].url == "a")
    }

    @Test func closedListRejectsItems() {
        let list = BatchList(1) { _ in item("a") }
        #expect(list.ends(after: 1) && !list.ends(after: 0))
        #expect(list.add([item("b")]) == nil && list.count == 1)
    }

    @Test(.timeLimit(.minutes(5))) func addsItemsConcurrently() async {
        let list = BatchList(1, isOpen: true) { _ in item("first") }
        let places = await withTaskGroup(of: Int?.self) { group in
            for number in 0..<100 {
                group.addTask {
                    list.add([BatchItem("\(number)", to: .folder("."))])?.lowerBound
                }
            }
            return await group.reduce(into: [Int?]()) { $0.append($1) }
        }
        #expect(Set(places) == Set((1...100).map { $0 }))
        #expect(Set((1...100).map { list[$0].url }) == Set((0..<100).map { "\($0)" }))
    }
}
