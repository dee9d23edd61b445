package dev.railgate

import java.io.File
import java.math.BigDecimal
import java.time.Instant
import kotlin.test.assertEquals
import kotlin.test.assertFailsWith
import kotlin.test.assertTrue
import kotlinx.coroutines.async
import kotlinx.coroutines.awaitAll
import kotlinx.coroutines.flow.first
import kotlinx.coroutines.flow.takeWhile
import kotlinx.coroutines.flow.toList
import kotlinx.serialization.json.Json
import kotlinx.serialization.json.JsonObject
import kotlinx.serialization.json.jsonArray
import kotlinx.serialization.json.jsonObject
import kotlinx.serialization.json.jsonPrimitive
import kotlinx.serialization.json.long
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.io.TempDir
import org.junit.jupiter.params.ParameterizedTest
import org.junit.jupiter.params.provider.MethodSource

/** The gateway on the device. */
class SandboxTest {
    /** Its answers are the same as on every platform, byte for byte. */
    @ParameterizedTest
    @MethodSource("scenarios")
    fun `a scenario is answered to the byte`(scenario: File, @TempDir folder: File) = test {
        val play = Json.parseToJsonElement(scenario.readText()).jsonObject
        var now = Instant.ofEpochMilli(play.getValue("start_ms").jsonPrimitive.long)
        suspend fun open(seed: String) = openSandbox(folder.resolve("sandbox.db").path, SandboxOptions(seed = hex(seed), now = now))
        var sandbox = open(play.text("seed"))
        play.getValue("steps").jsonArray.map { it.jsonObject }.forEachIndexed { number, step ->
            when {
                "advance_ms" in step -> now = now.plusMillis(step.getValue("advance_ms").jsonPrimitive.long)
                "restart" in step -> {
                    sandbox.close()
                    sandbox = open(step.text("restart"))
                }
                "work" in step -> {
                    val worked = sandbox.work(now)
                    assertEquals(step.text("answer"), """{"due":${worked.due?.toEpochMilli()},"done":${worked.done}}""", "step $number")
                }
                else -> assertEquals(step.text("answer"), sandbox.call(step.text("call"), now), "step $number")
            }
        }
        sandbox.close()
    }

    @Test
    fun `a payment waits for its user without any network`(@TempDir folder: File) = test {
        openSandbox(folder.resolve("sandbox.db").path, SandboxOptions()).use { sandbox ->
            val made = sandbox.enrollmentCode("customer-17", listOf(UserLimits("EUR", approvalOver = BigDecimal("100"))))
            assertTrue(made.code in made.link && "<svg" in made.qr)
            val phone = sandbox.enrollDevice(made.code, "android", name = "Ada's phone")
            val watch = sandbox.enrollDevice(sandbox.enrollmentCode("customer-17").code, "wear")
            assertEquals("device_code_invalid", assertFailsWith<GatewayException.Refused> { sandbox.enrollDevice(made.code, "ios") }.code)
            assertEquals(listOf(phone.id, watch.id), sandbox.devices("customer-17").map { it.id })
            sandbox.create(SettlementRequest(BigDecimal("250"), "EUR", "sim:ok", "rent", user = "customer-17"))
            val (onPhone, onWatch) = sandbox.onDevice(phone.id) to sandbox.onDevice(watch.id)
            val waiting = onPhone.paymentApprovals().single()
            assertEquals("rent" to SettlementStatus.ACCEPTED, waiting.reference to waiting.status)
            onPhone.approve(waiting)
            val late = assertFailsWith<GatewayException.Refused> { onWatch.decline(waiting) }
            assertTrue("approved on the device Ada's phone" in late.problem.detail, late.problem.detail)
            assertEquals(SettlementStatus.COMPLETED, sandbox.settled("rent").status)
            val shoes = onWatch.create(request("120", "shoes"))
            assertEquals(SettlementStatus.CANCELLED, onPhone.decline(shoes, "too dear").status)
            sandbox.create(request("10.50", "own"))
            assertEquals(listOf("shoes", "rent"), onPhone.settlements(SettlementFilter()).data.map { it.reference })
            sandbox.revokeDevice(watch.id)
            sandbox.putUser("customer-17", status = UserStatus.BLOCKED)
            assertEquals("key_revoked", assertFailsWith<GatewayException.Refused> { onWatch.paymentApprovals() }.code)
            assertEquals("user_blocked", assertFailsWith<GatewayException.Refused> { onPhone.paymentApprovals() }.code)
        }
    }

    @Test
    fun `settle, follow and verify without any network`(@TempDir folder: File) = test {
        val path = folder.resolve("sandbox.db").path
        openSandbox(path, SandboxOptions()).use { sandbox ->
            val made = sandbox.create(request("10.5", "inv-1"))
            assertEquals(BigDecimal("10.50"), made.amount)
            val before = sandbox.feedEvents().takeWhile { it.event.kind != EventType.SETTLEMENT_COMPLETED }.toList()
            assertEquals((1L..before.size).toList(), before.map { it.position })
            assertEquals(SettlementStatus.COMPLETED, sandbox.status("inv-1").status)
            val claims = verifyReceipt(sandbox.receipt("inv-1").jws, sandbox.receiptKeys())
            assertEquals("inv-1" to BigDecimal("10.50"), claims.reference to claims.amount)
            val bad = assertFailsWith<GatewayException.Invalid> { sandbox.create(request(reference = "a b")) }
            assertEquals(listOf("/reference"), bad.problem.problems.map { it.pointer })
            assertFailsWith<GatewayException.Storage> { openSandbox(path, SandboxOptions()) }
        }
        openSandbox(path, SandboxOptions()).use { assertEquals("inv-1", it.settlement("inv-1").reference) }
    }

    @Test
    fun `who waits for an event is told when it happens`(@TempDir folder: File) = test {
        openSandbox(folder.resolve("sandbox.db").path, SandboxOptions()).use { sandbox ->
            val waiting = async { sandbox.feedEvents().first { it.event.kind == EventType.SETTLEMENT_COMPLETED } }
            sandbox.create(request(reference = "later"))
            assertEquals("later", waiting.await().event.reference)
        }
    }

    @Test
    fun `thirty-two threads on one gateway`(@TempDir folder: File) {
        val sandbox = await { openSandbox(folder.resolve("sandbox.db").path, SandboxOptions()) }
        val before = await { sandbox.balances() }.single { it.currency == "EUR" }.available
        onThreads(32) { thread -> List(3) { async { sandbox.create(request("1", "th-$thread-$it")) } }.awaitAll() }
        val page = await { sandbox.settlements(SettlementFilter(limit = 200u)) }
        assertEquals(96 to setOf(SettlementStatus.COMPLETED), page.data.size to page.data.map { it.status }.toSet())
        val after = await { sandbox.balances() }.single { it.currency == "EUR" }.available
        assertEquals(0, (before - after).compareTo(BigDecimal(96)))
        sandbox.close()
        assertFailsWith<IllegalStateException> { await { sandbox.balances() } }
    }

    @Test
    fun `the example does what it says`() {
        val ended = runJava("dev.railgate.example.SettleKt", url)
        assertTrue(ended.code == 0 && ended.printed.endsWith("receipt 25.00 EUR COMPLETED\n"), ended.printed)
    }

    private fun JsonObject.text(name: String) = getValue(name).jsonPrimitive.content

    private fun hex(text: String) = text.chunked(2).map { it.toInt(16).toByte() }.toByteArray()

    companion object {
        @JvmStatic
        fun scenarios(): List<File> {
            val files = File(System.getenv("RAILGATE_SCENARIOS")).listFiles { file -> file.extension == "json" }!!.sorted()
            return files.also { assertTrue(it.size >= 12, "${it.size} scenarios") }
        }
    }
}
