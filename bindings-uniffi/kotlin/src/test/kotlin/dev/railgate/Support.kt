package dev.railgate

import java.io.File
import java.math.BigDecimal
import java.security.KeyPairGenerator
import java.security.spec.ECGenParameterSpec
import java.util.UUID
import java.util.concurrent.TimeUnit
import kotlin.concurrent.thread
import kotlin.test.assertEquals
import kotlin.test.assertTrue
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.withTimeout

/** A timeout against hangs, not a measure of how long anything takes. */
private const val AT_MOST_S = 300L

/** The gateway that the Rust test started. */
val url: String = System.getenv("RAILGATE_TEST_URL") ?: error("RAILGATE_TEST_URL is not set")

fun <T> await(block: suspend CoroutineScope.() -> T): T = runBlocking { withTimeout(AT_MOST_S * 1_000, block) }

/** Runs a test's body; returns no value, because JUnit ignores tests that return one. */
fun test(block: suspend CoroutineScope.() -> Unit): Unit = await(block)

/** Runs [work] on several threads at once and fails with the first exception of any of them. */
fun onThreads(count: Int, work: suspend CoroutineScope.(Int) -> Unit) {
    val outcomes = arrayOfNulls<Result<Unit>>(count)
    val threads = (0 until count).map { thread { outcomes[it] = runCatching { await { work(it) } } } }
    threads.forEach { it.join() }
    outcomes.forEach { it!!.getOrThrow() }
}

fun newKeys() = KeyPairGenerator.getInstance("EC").apply { initialize(ECGenParameterSpec("secp256r1")) }.generateKeyPair()!!

fun newSigner(): Signer = newKeys().let { KeyStoreSigner(it.private, it.public) }

fun request(amount: String = "10.50", reference: String = "t-${UUID.randomUUID()}", to: String = "sim:ok") =
    SettlementRequest(BigDecimal(amount), "EUR", to, reference)

suspend fun connect(transport: HttpTransport = OkHttpTransport(), signer: Signer = newSigner()): GatewayClient =
    GatewayClient(url, Environment.SANDBOX, signer, transport).also { it.enroll("Test") }

fun over(signer: Signer, session: String, transport: HttpTransport) =
    GatewayClient(url, Environment.SANDBOX, signer, transport, session)

/** All settlements of the client at the gateway, by reference. */
suspend fun allOf(client: GatewayClient): Map<String, Settlement> =
    client.settlements(SettlementFilter(limit = 200u)).also { assertTrue(!it.hasMore) }.data.associateBy { it.reference }

/** How a process ended, and what it printed. */
class Ended(val code: Int, val printed: String)

/** Runs a `main` of this class path in a separate process, and kills it if it does not end. */
fun runJava(mainClass: String, vararg arguments: String): Ended {
    val java = File(System.getProperty("java.home"), "bin/java").path
    val output = File.createTempFile("railgate", ".out").apply { deleteOnExit() }
    val command = listOf(java, "-cp", System.getProperty("java.class.path"), mainClass) + arguments
    val process = ProcessBuilder(command).redirectErrorStream(true).redirectOutput(output).start()
    try {
        assertTrue(process.waitFor(AT_MOST_S, TimeUnit.SECONDS), "$mainClass has not come to an end:\n${output.readText()}")
    } finally {
        process.destroyForcibly()
    }
    return Ended(process.exitValue(), output.readText())
}
