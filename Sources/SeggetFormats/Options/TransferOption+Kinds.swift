import Assembler
import Segmenter

// Rows by kind of value: how they parse and show values.
extension TransferOption {
    typealias Path<Value> = any WritableKeyPath<DownloadOptions, Value> & Sendable

    static func flag(
        _ key: String, _ path: @escaping @autoclosure @Sendable () -> Path<Bool>,
        _ names: [OptionName], _ places: Places,
        _ effect: Effect = .atOnce, help: String
    ) -> TransferOption {
        TransferOption(
            key, .flag, names, places, effect, help: help,
            read: { options, text in
                guard let isOn = Bool(text) else { return false }
                options[keyPath: path()] = isOn
                return true
            },
            texts: { ["\($0[keyPath: path()])"] })
    }

    static func integer(
        _ key: String, _ range: ClosedRange<Int>,
        _ path: @escaping @autoclosure @Sendable () -> Path<Int?>, _ names: [OptionName],
        _ places: Places, help: String
    ) -> TransferOption {
        TransferOption(
            key, .integer(range), names, places, help: help,
            read: { options, text in
                guard let number = Int(text), range.contains(number) else { return false }
                options[keyPath: path()] = number
                return true
            },
            texts: { $0[keyPath: path()].map { ["\($0)"] } ?? [] })
    }

    static func integer(
        _ key: String, _ range: ClosedRange<Int>,
        _ path: @escaping @autoclosure @Sendable () -> Path<Int>, _ names: [OptionName],
        _ places: Places, help: String
    ) -> TransferOption {
        TransferOption(
            key, .integer(range), names, places, help: help,
            read: { options, text in
                guard let number = Int(text), range.contains(number) else { return false }
                options[keyPath: path()] = number
                return true
            },
            texts: { ["\($0[keyPath: path()])"] })
    }

    static func seconds(
        _ key: String, _ range: ClosedRange<Double>,
        _ path: @escaping @autoclosure @Sendable () -> Path<Duration?>,
        _ names: [OptionName], _ places: Places, help: String
    ) -> TransferOption {
        TransferOption(
            key, .seconds(range), names, places, help: help,
            read: { options, text in
                guard let number = Double(text), range.contains(number) else { return false }
                options[keyPath: path()] = .seconds(number)
                return true
            },
            texts: { $0[keyPath: path()].map { [number($0.inSeconds)] } ?? [] })
    }

    static func bytes(
        _ key: String, atLeast least: Int64, atMost most: Int64 = OptionKind.mostBytes,
        _ path: @escaping @autoclosure @Sendable () -> Path<Int64?>, _ names: [OptionName],
        _ places: Places, help: String
    ) -> TransferOption {
        TransferOption(
            key, .bytes(least...most), names, places, help: help,
            read: { options, text in
                guard let size = Quantity(text).map({ Int64($0.bytes) }),
                    (least...most).contains(size)
                else { return false }
                options[keyPath: path()] = size
                return true
            },
            texts: { $0[keyPath: path()].map { ["\($0)"] } ?? [] })
    }

    static func rate(
        _ key: String, _ path: @escaping @autoclosure @Sendable () -> Path<Double?>,
        _ names: [OptionName], _ places: Places, help: String
    ) -> TransferOption {
        TransferOption(
            key, .rate, names, places, help: help,
            read: { options, text in
                guard let rate = Rate(text) else { return false }
                options[keyPath: path()] = rate.bytesPerSecond > 0 ? rate.bytesPerSecond : nil
                return true
            },
            texts: { [number($0[keyPath: path()] ?? 0)] })
    }

    static func choice<Value: RawRepresentable<String> & Sendable>(
        _ key: String, _ words: [(word: String, value: Value)],
        _ path: @escaping @autoclosure @Sendable () -> Path<Value>,
        _ names: [OptionName], _ places: Places, _ effect: Effect = .atOnce, help: String
    ) -> TransferOption {
        TransferOption(
            key, .choice(words.map(\.word)), names, places, effect, help: help,
            read: { options, text in
                guard let value = words.first(where: { $0.word == text })?.value else {
                    return false
                }
                options[keyPath: path()] = value
                return true
            },
            texts: { options in
                let value = options[keyPath: path()].rawValue
                return words.first { $0.value.rawValue == value }.map { [$0.word] } ?? [value]
            })
    }

    /// Creates a row for a text of the access options, which check the form of their values.
    static func text(
        _ key: String, _ expected: String,
        _ path: @escaping @autoclosure @Sendable () -> Path<String?>, _ names: [OptionName],
        _ places: Places, isSecret: Bool = false, canBeEmpty: Bool = false, help: String
    ) -> TransferOption {
        TransferOption(
            key, .text(expected), names, places, isSecret: isSecret, help: help,
            read: { options, text in
                guard canBeEmpty || !text.isEmpty else { return false }
                return change(&options) { $0[keyPath: path()] = text }
            },
            texts: { $0[keyPath: path()].map { [$0] } ?? [] })
    }

    static func file(
        _ key: String, _ path: @escaping @autoclosure @Sendable () -> Path<String?>,
        _ names: [OptionName], _ places: Places,
        _ effect: Effect = .atOnce, help: String
    ) -> TransferOption {
        TransferOption(
            key, .path, names, places, effect, help: help,
            read: { options, text in
                guard !text.isEmpty, !PathText.isURL(text) else { return false }
                return change(&options) { $0[keyPath: path()] = text }
            },
            texts: { $0[keyPath: path()].map { [$0] } ?? [] })
    }

    /// Creates a row for a value that only segget sets.
    static func hidden(
        _ key: String, _ kind: OptionKind, _ places: Places = .socket, _ effect: Effect = .never,
        help: String, texts: @escaping @Sendable (DownloadOptions) -> [String] = { _ in [] }
    ) -> TransferOption {
        TransferOption(
            key, kind, [], places, effect, help: help, read: { _, _ in true }, texts: texts)
    }

    /// Changes options, unless a value of the access options would then be malformed.
    ///
    /// - Returns: Whether the options were changed.
    static func change(
        _ options: inout DownloadOptions, _ set: (inout DownloadOptions) -> Void
    ) -> Bool {
        var changed = options
        set(&changed)
        guard (try? changed.access.checkValues()) != nil else { return false }
        options = changed
        return true
    }

    /// Returns a number as text; whole numbers have no fraction.
    static func number(_ number: Double) -> String {
        Int64(exactly: number).map { "\($0)" } ?? "\(number)"
    }
}

extension DownloadOptions {
    // Optional views of required values, because the rows use optional values.
    var storedConnectTimeout: Duration? {
        get { connectTimeout }
        set { connectTimeout = newValue ?? DownloadOptions().connectTimeout }
    }

    var storedStallTimeout: Duration? {
        get { stallTimeout }
        set { stallTimeout = newValue ?? DownloadOptions().stallTimeout }
    }

    var storedRetryWait: Duration? {
        get { retryWait }
        set { retryWait = newValue ?? .zero }
    }

    var storedMinRatePeriod: Duration? {
        get { limits.minRatePeriod }
        set { limits.minRatePeriod = newValue ?? LimitOptions().minRatePeriod }
    }

    var storedWindow: Int64? {
        get { stream.window }
        set { stream.window = newValue ?? StreamOptions().window }
    }
}
