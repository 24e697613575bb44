import Foundation
import TestSupport
import Testing

@testable import SeggetQueue

/// Tests the questions to the machine and the meaning of its answers.
@Suite(.timeLimit(.minutes(5)))
struct MachineWatchTests {
    private let home: Sandbox
    private var watch = MachineWatch()

    init() throws {
        home = try Sandbox()
        watch.powerSupplies = home.path("power")
        watch.busctl = home.path("busctl")
        try FileManager.default.createDirectory(
            atPath: watch.powerSupplies, withIntermediateDirectories: false)
    }

    private func supply(_ name: String, _ values: [String: String]) throws {
        try FileManager.default.createDirectory(
            atPath: "\(watch.powerSupplies)/\(name)", withIntermediateDirectories: false)
        for (key, value) in values { try home.write("power/\(name)/\(key)", value + "\n") }
    }

    @Test(arguments: [
        ("Discharging", "0", true), ("Discharging", "1", false), ("Charging", "1", false),
        ("Charging", "0", false), ("Full", "0", false), ("Not charging", "0", false),
        ("Discharging", nil, true),
    ])
    func readsBatteryAndCharger(status: String, online: String?, isOnBattery: Bool) throws {
        try supply("BAT0", ["type": "Battery", "status": status])
        if let online { try supply("AC", ["type": "Mains", "online": online]) }
        #expect(watch.look([.battery]).isOnBattery == isOnBattery)
        #expect(watch.look([]).isOnBattery == nil)
    }

    @Test func readsTwoBatteries() throws {
        try supply("BAT0", ["type": "Battery", "status": "Full"])
        try supply("BAT1", ["type": "Battery", "status": "Discharging"])
        #expect(watch.look([.battery]).isOnBattery == true)
        try supply("ucsi", ["type": "USB", "online": "1"])
        #expect(watch.look([.battery]).isOnBattery == false)
    }

    @Test func ignoresBatteryOfMouse() throws {
        try supply("mouse", ["type": "Battery", "status": "Discharging", "scope": "Device"])
        #expect(watch.look([.battery]).isOnBattery == nil)
    }

    @Test func reportsNothingWithoutSources() {
        var watch = MachineWatch()
        (watch.powerSupplies, watch.busctl) = ("/nonexistent", "segget-no-such-program")
        #expect(watch.look([.battery, .metered]) == MachineFacts())
    }

    private func busctl(_ script: String) throws {
        try home.write("busctl", "#!/bin/sh\n\(script)\n")
        chmod(watch.busctl, 0o700)
    }

    @Test(arguments: [
        ("u 1", true), ("u 3", true), ("u 2", false), ("u 4", false), ("u 0", nil), ("", nil),
        ("s \"yes\"", nil),
    ])
    func readsNetworkManager(answer: String, isMetered: Bool?) throws {
        try busctl("echo \"$*\" >'\(home.path("asked"))'; echo '\(answer)'")
        #expect(watch.look([.metered]).isMetered == isMetered)
        let asked = try String(decoding: home.read("asked"), as: UTF8.self)
        let name = "org.freedesktop.NetworkManager"
        #expect(asked == "get-property \(name) /org/freedesktop/NetworkManager \(name) Metered\n")
    }

    @Test func failedOrSlowProgramGivesNoAnswer() throws {
        try busctl("echo u 1; exit 1")
        #expect(watch.look([.metered]).isMetered == nil)
        try busctl("echo u 1; kill -9 $$")
        #expect(watch.look([.metered]).isMetered == nil)
        let answer = ProgramOutput.of(["sh", "-c", "echo u 1; sleep 1000"], within: 1)
        #expect(answer == nil)
    }
}
