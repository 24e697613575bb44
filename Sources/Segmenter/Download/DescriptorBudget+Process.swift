import Glibc

extension DescriptorBudget {
    /// That of this process.
    static var current: DescriptorBudget {
        var limit = rlimit()
        let isKnown = getrlimit(Int32(RLIMIT_NOFILE.rawValue), &limit) == 0
        return DescriptorBudget(limit: isKnown ? UInt64(limit.rlim_cur) : .max)
    }
}
