import Glibc
import SegmenterRules
import SegmenterTransport

extension DescriptorBudget {
    /// The budget for the current limit of this process (`RLIMIT_NOFILE` of getrlimit(2)).
    static var current: DescriptorBudget {
        var limit = rlimit()
        let isKnown = getrlimit(Int32(RLIMIT_NOFILE.rawValue), &limit) == 0
        return DescriptorBudget(limit: isKnown ? UInt64(limit.rlim_cur) : .max)
    }
}
