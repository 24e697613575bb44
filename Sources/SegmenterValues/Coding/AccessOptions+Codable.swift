extension AccessOptions: CodableOptions {
    static let fields: [OptionField<Self>] = [
        .secret("credentials", \.credentials),
        .init("scheme", \.scheme),
        .init("uses_netrc", \.usesNetrc),
        .init(optional: "netrc_file", \.netrcFile),
        .secret("bearer_token", \.bearerToken),
        .init(optional: "cookie_file", \.cookieFile),
        .init("keeps_cookies", \.keepsCookies),
        .secret("cookies", \.cookies),
        .init(optional: "user_agent", \.userAgent),
        .init(optional: "referer", \.referer) { withoutUser($0) },
        .init(optional: "proxy", \.proxy) { withoutUser($0) },
        .init(optional: "no_proxy", \.noProxy),
        .init("address_family", \.addressFamily),
        .init("max_redirects", \.maxRedirects),
        .init(optional: "interface", \.interface),
        .init("resolve", \.resolve),
        .init("denies_private", \.deniesPrivate),
        .init("is_insecure", \.isInsecure),
        .init(optional: "pinned_public_key", \.pinnedPublicKey),
        .init(optional: "client_certificate", \.clientCertificate),
        .init(optional: "client_key", \.clientKey),
        .secret("client_key_password", \.clientKeyPassword),
        .init("minimum_tls", \.minimumTLS),
        .init("allows_downgrade", \.allowsDowngrade),
        .init("crosses_origins", \.crossesOrigins),
    ]

    /// Decodes stored options.
    public init(from decoder: any Decoder) throws { try self.init(stored: decoder) }

    /// Encodes the options.
    public func encode(to encoder: any Encoder) throws { try store(in: encoder) }
}

extension AccessOptions.Scheme {
    /// Decodes a stored word, or `auto` as the command line spells it.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let word = try container.decode(String.self)
        guard let scheme = word == "auto" ? .automatic : Self(rawValue: word) else {
            throw DecodingError.dataCorruptedError(
                in: container, debugDescription: "no scheme of authentication")
        }
        self = scheme
    }
}

extension AccessOptions.Credentials: CodableOptions {
    static let fields: [OptionField<Self>] = [
        .init("user", \.user), .secret("password", \.password),
    ]

    init() { self.init(user: "", password: nil) }

    /// Decodes stored credentials.
    public init(from decoder: any Decoder) throws { try self.init(stored: decoder) }

    /// Encodes the credentials.
    public func encode(to encoder: any Encoder) throws { try store(in: encoder) }
}
