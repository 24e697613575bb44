import Testing

@testable import Assembler

@Suite struct RemoteIdentityTests {
    private static let monday = "Mon, 01 Jan 2024 00:00:00 GMT"
    private static let tuesday = "Tue, 02 Jan 2024 00:00:00 GMT"

    private static func identity(
        _ size: Int64? = 9, _ etag: String? = nil, modified: String? = nil, strong: Bool = false,
        coding: String? = nil
    ) -> RemoteIdentity {
        RemoteIdentity(
            size: size, etag: etag, lastModified: modified, lastModifiedIsStrong: strong,
            coding: coding)
    }

    private static let strongDate = identity(modified: monday, strong: true)
    private static let weakDate = identity(modified: monday)

    @Test(
        arguments: [
            ("\"a\"", "\"a\""), ("\"\"", "\"\""), ("W/\"a\"", nil), ("w/\"a\"", nil), ("a", nil),
            ("\"", nil), ("\"a", nil), ("a\"", nil), ("", nil), (nil, nil),
            ("\"a\", \"b\"", nil), ("\"a, b\"", "\"a, b\""), ("\"\"\"", nil),
        ] as [(String?, String?)])
    func recognisesStrongEntityTags(etag: String?, strong: String?) {
        #expect(Self.identity(9, etag).strongETag == strong)
    }

    /// An ETag without quotes proves nothing and is not sent in conditions, but may contradict like
    /// a weak one.
    @Test(
        arguments: [
            ("\"a\"", "\"a\""), ("W/\"a\"", "W/\"a\""), ("w/\"a\"", nil), ("a-1-2", nil),
            ("W/a", nil), ("\"a", nil), ("W/", nil), ("\"a\", \"b\"", nil), (nil, nil),
        ] as [(String?, String?)])
    func choosesTagsForConditions(etag: String?, wellFormed: String?) {
        #expect(Self.identity(9, etag).wellFormedETag == wellFormed)
    }

    @Test func usesTheStrongestValidator() {
        let both = Self.identity(9, "\"a\"", modified: Self.monday, strong: true)
        #expect((both.strongValidator, both.kind) == ("\"a\"", "etag"))
        let weakTag = Self.identity(9, "W/\"a\"", modified: Self.monday, strong: true)
        #expect((weakTag.strongValidator, weakTag.kind) == (Self.monday, "last-modified"))
        #expect((Self.weakDate.strongValidator, Self.weakDate.kind) == (nil, "none"))
        let noDate = Self.identity(9, nil, modified: nil, strong: true)
        #expect((noDate.strongValidator, noDate.kind) == (nil, "none"))
    }

    @Test(
        arguments: [
            // Strong ETags.
            (identity(9, "\"a\""), identity(9, "\"a\""), nil),
            (identity(9, "\"a\""), identity(9, "\"b\""), .etagChanged(was: "\"a\"", now: "\"b\"")),
            (identity(9, "\"a\""), identity(9, nil), .etagChanged(was: "\"a\"", now: nil)),
            (
                identity(9, "\"a\""), identity(9, "W/\"a\""),
                .etagChanged(was: "\"a\"", now: "W/\"a\"")
            ),
            (identity(9, nil), identity(9, "\"a\""), .noValidator),
            // The same ETag with another date: the ETag may be out of date.
            (
                identity(9, "\"a\"", modified: monday, strong: true),
                identity(9, "\"a\"", modified: tuesday, strong: true),
                .lastModifiedChanged(was: monday, now: tuesday)
            ),
            // A missing date is ignored if there is an ETag. A date identifies the version if the
            // ETag is missing.
            (identity(9, "\"a\"", modified: monday), identity(9, "\"a\""), nil),
            (
                identity(9, "\"a\"", modified: monday, strong: true),
                identity(9, nil, modified: monday, strong: true), nil
            ),
            // Weak ETags prove nothing, but may contradict.
            (identity(9, "W/\"a\""), identity(9, "W/\"a\""), .noValidator),
            (
                identity(9, "W/\"a\""), identity(9, "W/\"b\""),
                .etagChanged(was: "W/\"a\"", now: "W/\"b\"")
            ),
            (
                identity(9, "W/\"a\"", modified: monday, strong: true),
                identity(9, "W/\"a\"", modified: monday, strong: true), nil
            ),
            (
                identity(9, "W/\"a\"", modified: monday), identity(9, nil, modified: monday),
                .etagChanged(was: "W/\"a\"", now: nil)
            ),
            (
                identity(9, "W/\"a\"", modified: monday), identity(9, "W/\"a\"", modified: tuesday),
                .lastModifiedChanged(was: monday, now: tuesday)
            ),
            // The same holds for ETags without quotes.
            (identity(9, "a-1"), identity(9, "a-1"), .noValidator),
            (identity(9, "a-1"), identity(9, "a-2"), .etagChanged(was: "a-1", now: "a-2")),
            (identity(9, "a-1"), identity(9, "\"a-1\""), .etagChanged(was: "a-1", now: "\"a-1\"")),
            (
                identity(9, "a-1", modified: monday, strong: true),
                identity(9, "a-1", modified: monday, strong: true), nil
            ),
            (
                identity(9, "a-1", modified: monday), identity(9, "a-1", modified: tuesday),
                .lastModifiedChanged(was: monday, now: tuesday)
            ),
            // Dates.
            (strongDate, strongDate, nil),
            (strongDate, weakDate, .noValidator), (weakDate, strongDate, .noValidator),
            (weakDate, weakDate, .noValidator), (strongDate, identity(9), .noValidator),
            (
                strongDate, identity(modified: tuesday, strong: true),
                .lastModifiedChanged(was: monday, now: tuesday)
            ),
            (identity(9), identity(9), .noValidator),
            // Validators belong to one content coding.
            (identity(9, "\"a\"", coding: "gzip"), identity(9, "\"a\"", coding: "gzip"), nil),
            (
                identity(9, "\"a\"", coding: "gzip"), identity(9, "\"a\""),
                .codingChanged(was: "gzip", now: nil)
            ),
            // Sizes are compared first.
            (identity(9, "\"a\""), identity(10, "\"a\""), .sizeChanged(was: 9, now: 10)),
            (identity(9, "\"a\""), identity(10, "\"b\""), .sizeChanged(was: 9, now: 10)),
            (identity(9, "\"a\""), identity(nil, "\"a\""), .sizeChanged(was: 9, now: nil)),
            (identity(nil, "\"a\""), identity(9, "\"a\""), .sizeChanged(was: nil, now: 9)),
            (identity(nil, "\"a\""), identity(nil, "\"a\""), .noRanges),
        ] as [(RemoteIdentity, RemoteIdentity, StartOverReason?)])
    func reportsObstaclesToResuming(
        mine: RemoteIdentity, offered: RemoteIdentity, obstacle: StartOverReason?
    ) {
        #expect(mine.obstacle(toContinuingWith: offered) == obstacle)
    }
}
