extension NamingOptions: CodableOptions {
    static let fields: [OptionField<Self>] = [
        .init("uses_url", \.usesURL), .init("numbers_taken", \.numbersTaken),
    ]

    /// Decodes stored options.
    public init(from decoder: any Decoder) throws { try self.init(stored: decoder) }

    /// Encodes the options.
    public func encode(to encoder: any Encoder) throws { try store(in: encoder) }
}

extension StreamOptions: CodableOptions {
    static let fields: [OptionField<Self>] = [.init("window", \.window)]

    /// Decodes stored options.
    public init(from decoder: any Decoder) throws { try self.init(stored: decoder) }

    /// Encodes the options.
    public func encode(to encoder: any Encoder) throws { try store(in: encoder) }
}

extension LimitOptions: CodableOptions {
    static let fields: [OptionField<Self>] = [
        .init(optional: "max_size", \.maxSize), .init(optional: "max_time", \.maxTime.stored),
        .init(optional: "rate", \.rate), .init(optional: "min_rate", \.minRate),
        .init("min_rate_period", \.minRatePeriod.stored),
    ]

    /// Decodes stored options.
    public init(from decoder: any Decoder) throws { try self.init(stored: decoder) }

    /// Encodes the options.
    public func encode(to encoder: any Encoder) throws { try store(in: encoder) }
}

extension FileOptions: CodableOptions {
    static let fields: [OptionField<Self>] = [
        .init("allocation", \.allocation), .init("remote_time", \.remoteTime),
        .init("attributes", \.attributes), .init("keep_manifest", \.keepManifest),
        .init("timestamping", \.timestamping), .init("missing_folders", \.missingFolders),
        .init("skips_existing", \.skipsExisting), .init("refuses_html", \.refusesHTML),
        .init(optional: "umask", \.umask),
    ]

    /// Decodes stored options.
    public init(from decoder: any Decoder) throws { try self.init(stored: decoder) }

    /// Encodes the options.
    public func encode(to encoder: any Encoder) throws { try store(in: encoder) }
}

extension ConnectionCount: Codable {
    /// Decodes `"auto"`, `"auto:8"`, or a number.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let number = try? container.decode(Int.self) {
            self = .fixed(number)
        } else if let count = Self(try container.decode(String.self)) {
            self = count
        } else {
            throw DecodingError.dataCorruptedError(
                in: container, debugDescription: "neither `auto` nor a number")
        }
    }

    /// Encodes `"auto"`, `"auto:8"`, or the number.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .automatic, .upTo: try container.encode(description)
        case .fixed(let number): try container.encode(number)
        }
    }
}
