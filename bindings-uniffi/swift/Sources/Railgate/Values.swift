import Foundation

/// Milliseconds since 1970, clamped to the years 1 to 9999, which RFC 3339 can express. NaN becomes the earliest.
func milliseconds(of date: Date) -> Int64 {
    let (first, last) = (-62_135_596_800_000.0, 253_402_300_799_999.0)
    let ms = (date.timeIntervalSince1970 * 1000).rounded()
    return Int64(ms > first ? min(ms, last) : first)
}

func date(ofMilliseconds ms: Int64) -> Date {
    Date(timeIntervalSince1970: TimeInterval(ms) / 1000)
}

/// The decimal as text for the interface, independent of the device's language.
func text(of decimal: Decimal) -> String {
    NSDecimalNumber(decimal: decimal).description(withLocale: Locale(identifier: "en_US_POSIX"))
}
