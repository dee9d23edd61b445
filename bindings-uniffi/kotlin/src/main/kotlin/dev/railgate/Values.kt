package dev.railgate

import java.math.BigDecimal
import java.time.Instant

/** More digits than this before or behind the point no amount has; written out, such a number could fill the memory. */
private const val MOST_DIGITS = 64

/** The decimal as the library reads it; one that no amount can be in a form that it refuses. */
internal fun lowered(decimal: BigDecimal): String {
    val before = decimal.precision().toLong() - decimal.scale()
    return if (before > MOST_DIGITS || decimal.scale() > MOST_DIGITS) decimal.toString() else decimal.toPlainString()
}

/** The moment in milliseconds since 1970; one that is too far away for that is the farthest. */
internal fun lowered(moment: Instant): Long = try {
    moment.toEpochMilli()
} catch (_: ArithmeticException) {
    if (moment.epochSecond < 0) Long.MIN_VALUE else Long.MAX_VALUE
}
