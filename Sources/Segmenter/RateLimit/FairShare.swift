/// Divides bytes among those who want some: nobody gets more than wanted, and nobody gets less than
/// another unless all wishes of his are met (max-min fairness).
///
/// Pure.
enum FairShare {
    /// Who wants how much.
    struct Claim: Sendable, Hashable {
        /// Claims of one group share what the group gets: a download is a group.
        var group: Int
        /// Bytes that are wanted, `Int64.max` for as many as there are.
        var demand: Int64
    }

    /// Divides first among the groups, then within each.
    ///
    /// - Parameters:
    ///   - total: Bytes there are.
    ///   - claims: In order of precedence, which counts for bytes that cannot be divided.
    /// - Returns: What each claim gets, in the order of the claims.
    static func divide(_ total: Int64, among claims: [Claim]) -> [Int64] {
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

    /// Divides what may be taken now: wishes first, then what nobody wishes, so that it is there when it is.
    ///
    /// - Parameters:
    ///   - total: Bytes there are for all; `nil` for no such limit.
    ///   - claims: In order of precedence.
    ///   - most: Bytes there are for a group, where it has a limit of its own. Where `total` is `nil`,
    ///     every group has one.
    /// - Returns: What each claim gets, in the order of the claims.
    static func divide(
        _ total: Int64?, among claims: [Claim], most: [Int: Int64]
    ) -> [Int64] {
        guard let total else { return own(claims, most) }
        guard !most.isEmpty else { return lent(divide(total, among: claims), of: total) }
        // What its own limit gives a group is what it wishes of all there is.
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

    /// Divides within each group that has a limit of its own; others get nothing.
    private static func own(_ claims: [Claim], _ most: [Int: Int64]) -> [Int64] {
        var shares = Array(repeating: Int64(0), count: claims.count)
        for (group, available) in most {
            let members = claims.indices.filter { claims[$0].group == group }
            let parts = lent(fill(available, members.map { claims[$0].demand }), of: available)
            for (index, part) in zip(members, parts) { shares[index] = part }
        }
        return shares
    }

    /// Lends all an equal part of what nobody wishes.
    private static func lent(_ shares: [Int64], of total: Int64) -> [Int64] {
        let spare = total - shares.reduce(0, +)
        guard spare > 0, !shares.isEmpty else { return shares }
        return shares.map { $0 + spare / Int64(shares.count) }
    }

    /// Divides among equals.
    static func fill(_ total: Int64, _ wishes: [Int64]) -> [Int64] {
        var left = max(0, total)
        var shares = Array(repeating: Int64(0), count: wishes.count)
        // The modest first: what they leave is the others'.
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
