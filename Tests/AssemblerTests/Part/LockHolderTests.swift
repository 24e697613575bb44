import TestSupport
import Testing

@testable import Assembler

struct LockHolderTests {
    static let own = LockHolder(
        host: "a", boot: "b1", namespace: "pid:[1]", pid: 100, started: 5)

    private static func with(_ change: (inout LockHolder) -> Void) -> LockHolder {
        var holder = own
        holder.pid = 200
        change(&holder)
        return holder
    }

    struct Row: Sendable {
        let name: String
        let found: LockHolder?
        var own = LockHolderTests.own
        let life: ProcessLife
        let isTakenOver: Bool
    }

    static let rows = [
        Row(name: "its process has gone", found: with { _ in }, life: .none, isTakenOver: true),
        Row(name: "it lives", found: with { _ in }, life: .since(5), isTakenOver: false),
        Row(name: "another has its PID", found: with { _ in }, life: .since(6), isTakenOver: true),
        Row(name: "unknown start now", found: with { _ in }, life: .since(nil), isTakenOver: false),
        Row(
            name: "unknown start then", found: with { $0.started = nil }, life: .since(6),
            isTakenOver: false),
        Row(name: "other host", found: with { $0.host = "z" }, life: .none, isTakenOver: false),
        Row(name: "other boot", found: with { $0.boot = "b2" }, life: .none, isTakenOver: false),
        Row(
            name: "other namespace", found: with { $0.namespace = "pid:[2]" }, life: .none,
            isTakenOver: false),
        Row(
            name: "boot unknown", found: with { $0.boot = "" },
            own: with { $0.boot = "" }, life: .none, isTakenOver: false),
        Row(
            name: "namespace unknown", found: with { $0.namespace = "" },
            own: with { $0.namespace = "" }, life: .none, isTakenOver: false),
        Row(name: "says nothing", found: nil, life: .none, isTakenOver: false),
        Row(name: "this process itself", found: own, life: .since(5), isTakenOver: false),
    ]

    @Test(arguments: rows) func takesOverOnlyFromEndedProcess(row: Row) {
        let decision = LockDecision(found: row.found, own: row.own) { _ in row.life }
        #expect(decision == (row.isTakenOver ? .takeOver : .held(row.found)), "\(row.name)")
    }

    @Test func readsWhatItWrites() {
        #expect(LockHolder(Self.own.text) == Self.own)
        let bare = LockHolder(host: "", boot: "", namespace: "", pid: 1, started: nil)
        #expect(LockHolder(bare.text) == bare)
    }

    /// A process may be killed while it writes the file.
    @Test func rejectsTruncatedText() {
        for count in 0..<Self.own.text.count {
            #expect(LockHolder(String(Self.own.text.prefix(count))) == nil)
        }
        #expect(LockHolder(Self.own.text + "x") == nil)
    }

    @Test func recognisesThisProcess() {
        let own = LockHolder.current()
        #expect(!own.host.isEmpty && !own.boot.isEmpty && !own.namespace.isEmpty)
        #expect(LockHolder.life(of: own.pid) == .since(own.started))
        #expect(own.started != nil)
    }

    @Test func recognisesEndedProcess() throws {
        let child = try Run("/bin/true")
        _ = try child.wait()
        #expect(LockHolder.life(of: child.pid) == .none)
    }
}
