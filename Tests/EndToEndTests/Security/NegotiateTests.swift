import Foundation
import TestSupport
import Testing

/// `--negotiate`: Kerberos authentication with a ticket from `kinit`.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct NegotiateTests {
    @Test func authenticatesWithTicket() throws {
        let (stage, sandbox) = (try KerberosStage(), try Sandbox())
        func run(_ arguments: [String], _ more: [String: String] = [:]) throws
            -> Run.Outcome
        {
            try Run(
                arguments, in: sandbox.path,
                environment: stage.environment.merging(more) { $1 }
            ).wait()
        }
        let early = try run([stage.url, "--negotiate"])
        #expect(
            early.end == .exit(77) && early.errorOutput.contains("kinit"), "\(early.errorOutput)")
        try stage.getTicket()
        let without = try run([stage.url])
        #expect(without.end == .exit(77), "\(without.errorOutput)")
        #expect(without.errorOutput.contains("`--negotiate`"), "\(without.errorOutput)")
        let outcome = try run([stage.url, "--negotiate"])
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        #expect(try stage.content.firstDifference(at: sandbox.path("f.bin")) == nil)
        let asked = try stage.requests()
        #expect(asked.contains("me@TEST 206 /f.bin"), "\(asked)")
        // The configuration file may set it, but not the environment, a list or `add`.
        let config = try sandbox.write("config", "negotiate\n")
        let configured = try run(["probe", stage.url, "--config", config])
        #expect(configured.end == .exit(0), "\(configured.errorOutput)")
        #expect(try run(["probe", stage.url], ["SEGGET_NEGOTIATE": "1"]).end == .exit(77))
        let list = try sandbox.write("list", "\(stage.url)\n out=g\n")
        #expect(try run(["-i", list, "--negotiate"]).end == .exit(77))
        try sandbox.write("list", "\(stage.url)\n negotiate=true\n")
        #expect(try run(["-i", list]).end == .exit(64))
        #expect(
            try run(["add", "--queue", sandbox.path("q"), stage.url, "--negotiate"]).end
                == .exit(64))
    }

    /// The redirect's target is a server of the same Kerberos realm.
    @Test func redirectTargetReceivesNoTicket() throws {
        let (stage, sandbox) = (try KerberosStage(), try Sandbox())
        try stage.getTicket()
        let redirector = try Origin { [url = stage.url] _ in .redirect(url) }
        for options in [["--negotiate"], ["--negotiate", "--header-cross-origin"]] {
            let outcome = try Run(
                [redirector.url("/f.bin")] + options, in: sandbox.path,
                environment: stage.environment
            ).wait()
            #expect(outcome.end == .exit(77), "\(outcome.errorOutput)")
        }
        let asked = try stage.requests()
        #expect(asked.allSatisfy { $0.hasPrefix("- 401") }, "\(asked)")
    }

    @Test(arguments: [["--user", "me:x"], ["--netrc-file", "/dev/null"]])
    func refusesOtherCredentials(options: [String]) throws {
        let sandbox = try Sandbox()
        let outcome = try Run(
            ["http://127.0.0.1:1/f", "--negotiate"] + options, in: sandbox.path
        ).wait()
        #expect(outcome.end == .exit(64), "\(outcome.errorOutput)")
    }
}
