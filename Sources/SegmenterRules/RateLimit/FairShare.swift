/// Divides bytes among claims by max-min fairness.
///
/// No claim gets more than its demand. A claim gets less than another only if its demand is met.
/// Pure.
package enum FairShare {
    /// The claim of one transfer to bytes.
    package struct Claim: Sendable, Hashable {
        /// The group, which is a download; the claims of a group share the group's bytes.
        package var group: Int
        /// The demand in bytes; `Int64.max` for no limit.
        package var demand: Int64

        package init(group: Int, demand: Int64) {
            self.group = group
            self.demand = demand
        }
    }

    /// Divides bytes first among the groups, then within each group.
    ///
    /// - Parameters:
    ///   - total: The available bytes.
    ///   - claims: The claims in order of precedence, which decides on indivisible bytes.
    /// - Returns: The share of each claim, in the order of the claims.
    package static func divide(_ total: Int64, among claims: [Claim]) -> [Int64] {
        var groups: [Int: Int] = [:]
        var members: [[Int]] = []
        for (index, claim) in claims.enumerated() {
            let group = groups[claim.group] ?? members.count
            if group == members.count {
                groups[claim.group] = group
                members.append([])
            }
            members[group].append(index)
        }
        let wishes = members.map { indices in
            indices.reduce(Int64(0)) { sum, index in
                let (wish, isTooLarge) = sum.addingReportingOverflow(claims[index].demand)
                return isTooLarge ? .max : wish
            }
        }
        var shares = Array(repeating: Int64(0), count: claims.count)
        for (group, share) in fill(total, wishes).enumerated() {
            let parts = fill(share, members[group].map { claims[$0].demand })
            for (index, part) in zip(members[group], parts) { shares[index] = part }
        }
        return shares
    }

    /// Divides bytes, and distributes unclaimed bytes in advance.
    ///
    /// A transfer can then use its part of the unclaimed bytes as soon as data arrives.
    ///
    /// - Parameters:
    ///   - total: The bytes available to all groups; `nil` for no common limit.
    ///   - claims: The claims in order of precedence.
    ///   - most: The bytes available to each group with a separate limit. If `total` is `nil`,
    ///     every group has one.
    /// - Returns: The share of each claim, in the order of the claims.
    package static func divide(
        _ total: Int64?, among claims: [Claim], most: [Int: Int64]
    ) -> [Int64] {
        guard let total else { return own(claims, most) }
        guard !most.isEmpty else { return lent(divide(total, among: claims), of: total) }
        // The demand of a group with a separate limit cannot exceed the limit.
        let own = own(claims, most)
        let wishes = zip(claims, own).map { claim, share in
            Claim(group: claim.group, demand: most[claim.group] == nil ? claim.demand : share)
        }
        let shares = divide(total, among: wishes)
        let free = claims.indices.filter { most[claims[$0].group] == nil }
        guard !free.isEmpty else { return shares }
        let taken = shares.reduce(0, +)
        let ofFree = free.reduce(0) { $0 + shares[$1] }
        var result = shares
        for (index, share) in zip(free, lent(free.map { shares[$0] }, of: total - taken + ofFree)) {
            result[index] = share
        }
        return result
    }

    /// Divides bytes within each group that has a separate limit; the shares of other groups are 0.
    private static func own(_ claims: [Claim], _ most: [Int: Int64]) -> [Int64] {
        var shares = Array(repeating: Int64(0), count: claims.count)
        for (group, available) in most {
            let members = claims.indices.filter { claims[$0].group == group }
            let parts = lent(fill(available, members.map { claims[$0].demand }), of: available)
            for (index, part) in zip(members, parts) { shares[index] = part }
        }
        return shares
    }

    /// Adds an equal part of the unclaimed bytes to each share.
    private static func lent(_ shares: [Int64], of total: Int64) -> [Int64] {
        let spare = total - shares.reduce(0, +)
        guard spare > 0, !shares.isEmpty else { return shares }
        return shares.map { $0 + spare / Int64(shares.count) }
    }

    /// Divides bytes among demands of equal rank.
    package static func fill(_ total: Int64, _ wishes: [Int64]) -> [Int64] {
        var left = max(0, total)
        var shares = Array(repeating: Int64(0), count: wishes.count)
        // The smallest demands are served first; the bytes that they do not use remain for the
        // others.
        let order = wishes.indices.sorted { (wishes[$0], $0) < (wishes[$1], $1) }
        for (place, index) in order.enumerated() {
            let others = Int64(wishes.count - place)
            let share = left / others + (left % others > 0 ? 1 : 0)
            shares[index] = min(max(0, wishes[index]), share)
            left -= shares[index]
        }
        return shares
    }
}
