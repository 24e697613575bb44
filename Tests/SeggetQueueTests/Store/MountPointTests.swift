import Testing

@testable import SeggetQueue

struct MountPointTests {
    private static let table = """
        22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
        30 22 0:30 / /home rw - nfs4 host:/home rw
        31 30 0:31 / /home/me/my\\040cloud rw master:1 - fuse.rclone remote: rw
        32 22 0:32 / /mnt rw - tmpfs none rw
        33 32 0:33 / /mnt rw - lustre host:/fs rw
        short line

        """

    static let rows = [
        ("/etc", "/", "ext4"), ("/home", "/home", "nfs4"), ("/home/me/q", "/home", "nfs4"),
        ("/homes", "/", "ext4"), ("/home/me/my cloud/q", "/home/me/my cloud", "fuse.rclone"),
        ("/mnt/a", "/mnt", "lustre"),
    ]

    @Test(arguments: rows) func findsTheMountOfAPath(path: String, place: String, type: String) {
        let mount = MountPoint(of: path, in: Self.table)
        #expect(mount?.path == place && mount?.type == type)
    }

    @Test func findsNoneInAnEmptyTable() { #expect(MountPoint(of: "/etc", in: "") == nil) }
}
