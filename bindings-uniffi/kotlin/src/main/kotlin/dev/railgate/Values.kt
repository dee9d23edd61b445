package dev.railgate

import java.math.BigDecimal
import java.time.Instant

/** No amount has more digits than this before or after the point; written out, a number with more could exhaust the memory. */
private const val MOST_DIGITS = 64

/** The decimal as text for the library; one that cannot be an amount, in a form that the library refuses. */
internal fun lowered(decimal: BigDecimal): String {
    val before = decimal.precision().toLong() - decimal.scale()
    return if (before > MOST_DIGITS || decimal.scale() > MOST_DIGITS) decimal.toString() else decimal.toPlainString()
}

/** The moment in milliseconds since 1970, clamped to the range of `Long`. */
internal fun lowered(moment: Instant): Long = try {
    moment.toEpochMilli()
} catch (_: ArithmeticException) {
    if (moment.epochSecond < 0) Long.MIN_VALUE else Long.MAX_VALUE
}
