package dev.railgate.bench

import dev.railgate.*
import java.math.BigDecimal
import java.nio.file.Files
import kotlinx.coroutines.coroutineScope
import kotlinx.coroutines.joinAll
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking

private const val WARM_UP_NS = 2_000_000_000L
private const val MEASURED_NS = 5_000_000_000L

private fun request(reference: String) = SettlementRequest(BigDecimal("10.50"), "EUR", "sim:ok", reference)

/** Measures calls a second at the given concurrency. */
private suspend fun rate(atOnce: Int, call: suspend (String) -> Unit): Long {
    suspend fun calls(name: String, forNs: Long): Double {
        val start = System.nanoTime()
        val counts = LongArray(atOnce)
        coroutineScope {
            (0 until atOnce).map { lane ->
                launch { while (System.nanoTime() - start < forNs) call("$name-$lane-${counts[lane]++}") }
            }.joinAll()
        }
        return counts.sum() * 1e9 / (System.nanoTime() - start)
    }
    calls("warm-$atOnce", WARM_UP_NS)
    return calls("run-$atOnce", MEASURED_NS).toLong()
}

/** Calls a second of the gateway on the device, over SQLite. */
fun main() = runBlocking {
    val folder = Files.createTempDirectory("railgate-bench").toFile()
    try {
        openSandbox(folder.resolve("sandbox.db").path, SandboxOptions()).use { sandbox ->
            sandbox.fund("EUR", BigDecimal("900000000"))
            val now = java.time.Instant.now()
            println("| Kotlin | validate | ${rate(1) { validateSettlement(request(it), now) }} |")
            println("| Kotlin | check | ${rate(1) { sandbox.check(request(it)) }} |")
            println("| Kotlin | create, one at a time | ${rate(1) { sandbox.create(request(it)) }} |")
            println("| Kotlin | create, 32 at once | ${rate(32) { sandbox.create(request(it)) }} |")
        }
    } finally {
        folder.deleteRecursively()
    }
}
