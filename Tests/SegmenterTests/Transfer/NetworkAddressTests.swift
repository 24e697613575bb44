import Testing

@testable import Segmenter
@testable import SegmenterRules
@testable import SegmenterTransport

/// Tests which addresses are private, and that a restricted transfer does not connect to them.
struct NetworkAddressTests {
    static let privateOnes = [
        // IPv4: the first and the last address of each range.
        "0.0.0.0", "0.255.255.255", "10.0.0.0", "10.255.255.255", "100.64.0.0", "100.127.255.255",
        "127.0.0.0", "127.0.0.1", "127.255.255.255", "169.254.0.0", "169.254.169.254",
        "169.254.255.255", "172.16.0.0", "172.31.255.255", "192.168.0.0", "192.168.255.255",
        "224.0.0.0", "239.255.255.255", "240.0.0.0", "255.255.255.255",
        // IPv6.
        "::", "::1", "fc00::", "fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "fd00:ec2::254",
        "fe80::", "fe80::1", "febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "fec0::",
        "feff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "ff00::", "ff02::1",
        "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
        // Forms of IPv4 in IPv6.
        "::127.0.0.1", "::10.0.0.1", "::ffff:0.0.0.0", "::ffff:127.0.0.1", "::ffff:10.1.2.3",
        "::ffff:192.168.0.1", "::ffff:169.254.169.254", "::ffff:255.255.255.255",
        "::ffff:7f00:1", "64:ff9b::127.0.0.1", "64:ff9b::10.0.0.1", "64:ff9b::a00:1",
        "64:ff9b::100.64.0.1", "64:ff9b::169.254.169.254", "64:ff9b:1::8.8.8.8",
        "64:ff9b:1:ffff:ffff:ffff:ffff:ffff", "2002:7f00:1::", "2002:c0a8:101::1",
    ]

    static let publicOnes = [
        "1.0.0.0", "8.8.8.8", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0",
        "126.255.255.255", "128.0.0.0", "169.253.255.255", "169.255.0.0", "172.15.255.255",
        "172.32.0.0", "192.167.255.255", "192.169.0.0", "198.51.100.1", "223.255.255.255",
        "93.184.216.34", "2606:2800:220:1:248:1893:25c8:1946", "2001:db8::1", "fbff::1",
        "fe00::1", "fe7f:ffff::1", "::ffff:8.8.8.8", "::ffff:172.32.0.0", "::8.8.8.8",
        "64:ff9b::8.8.8.8", "64:ff9b::172.15.255.255", "64:ff9a::10.0.0.1", "64:ff9b:2::1",
        "2002:808:808::1", "1::ffff:10.0.0.1",
    ]

    @Test(arguments: privateOnes) func recognizesPrivateAddresses(text: String) throws {
        #expect(try #require(NetworkAddress(text)).isPrivate)
    }

    @Test(arguments: publicOnes) func recognizesPublicAddresses(text: String) throws {
        #expect(try #require(NetworkAddress(text)).isPrivate == false)
    }

    @Test(arguments: ["", "localhost", "1.2.3", "fe80::1%lo", "[::1]", "0x7f.1"])
    func rejectsInvalidAddresses(text: String) {
        #expect(NetworkAddress(text) == nil)
        // An address that cannot be parsed is denied.
        var judge = AddressGuard()
        #expect(!judge.allowsRequest(to: text) && judge.denied != nil)
    }

    @Test func textIsCanonical() {
        #expect(NetworkAddress("10.0.0.1")?.text == "10.0.0.1")
        #expect(NetworkAddress("0:0::7F00:1")?.text == "::127.0.0.1")
    }

    /// A host is not refused because of a private address if it also has a public one.
    @Test func deniesOnlyPrivateAddresses() {
        let (own, other) = (NetworkAddress("10.0.0.1"), NetworkAddress("8.8.8.8"))
        var judge = AddressGuard()
        #expect(!judge.allows(own) && judge.denied == "10.0.0.1")
        #expect(judge.allows(other) && judge.denied == nil)
        #expect(!judge.allows(own) && judge.denied == nil)
        // The address of the connection that sends the request decides.
        #expect(!judge.allowsRequest(to: "10.0.0.1") && judge.denied == "10.0.0.1")
    }
}
