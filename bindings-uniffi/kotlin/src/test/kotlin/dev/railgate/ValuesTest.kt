package dev.railgate

import java.math.BigDecimal
import java.time.Duration
import java.time.Instant
import java.util.Base64
import javax.crypto.Mac
import javax.crypto.spec.SecretKeySpec
import kotlin.test.assertEquals
import kotlin.test.assertFailsWith
import kotlin.test.assertFalse
import org.junit.jupiter.api.Test

/** Tests without a gateway: exact values, validation, webhooks, errors. */
class ValuesTest {
    private val now = Instant.parse("2026-11-21T10:38:17.042Z")

    private fun problemsOf(request: SettlementRequest) =
        assertFailsWith<GatewayException.Invalid> { validateSettlement(request, now) }.problem.problems

    @Test
    fun `a good request passes whatever form its decimal has`() {
        for (amount in listOf("10.50", "10.5", "1E+1", "0.01", "999999999999.99")) validateSettlement(request(amount), now)
    }

    @Test
    fun `every problem is told at once`() {
        val problems = problemsOf(SettlementRequest(BigDecimal("10.505"), "EUR", "nowhere", "a b"))
        assertEquals(setOf("/amount", "/to", "/reference"), problems.map { it.pointer }.toSet())
        assertEquals("amount_scale", problems.single { it.pointer == "/amount" }.code)
    }

    @Test
    fun `a payer reads what to change`() {
        val (amount, to) = problemsOf(SettlementRequest(BigDecimal("10.505"), "EUR", "sim:declined", "r"))
        assertEquals(mapOf("max" to "2"), amount.params)
        assertEquals(mapOf("nearest" to "sim:decline-other"), to.params)
        assertEquals("Saisissez au plus 2 décimales.", payerMessage(amount, "fr-CM"))
        assertEquals("Enter at most 2 decimals.", payerMessage(amount, "en"))
    }

    @Test
    fun `what no amount can be is a typed error, however large`() {
        for (amount in listOf("1E+30", "1".repeat(40), "1E+2000000000", "1E-2000000000", "-1")) problemsOf(request(amount))
    }

    @Test
    fun `times are moments, exact to the millisecond`() {
        validateSettlement(request().copy(expiresAt = now.plusMillis(1)), now)
        assertEquals(listOf("/expires_at"), problemsOf(request().copy(expiresAt = now)).map { it.pointer })
        // These cannot be serialised, whichever field they are in.
        for (never in listOf(Instant.MIN, Instant.MAX)) problemsOf(request().copy(expiresAt = never))
    }

    @Test
    fun `an error says what it is in words`() {
        val bad = assertFailsWith<GatewayException> { validateSettlement(request(reference = "a b"), now) }
        assertEquals("${bad.code}: ${bad.problem.detail}", bad.message)
        assertEquals("invalid_fields", bad.code)
        assertFalse(bad.retryable)
        assertEquals("no network", TransportException.NotSent("no network").message)
        assertEquals("locked", SignerException.Unavailable("locked").message)
    }

    private val secret = "whsec_" + Base64.getEncoder().encodeToString(ByteArray(32) { it.toByte() })
    private val body = """{"type":"settlement.completed","timestamp":"2026-11-21T10:38:16.042Z","data":{"sequence":5,"amount":10.50}}"""

    /** Signs as Standard Webhooks specifies. */
    private fun signed(body: String = this.body, at: Instant = now): Map<String, String> {
        val mac = Mac.getInstance("HmacSHA256").apply { init(SecretKeySpec(ByteArray(32) { it.toByte() }, "HmacSHA256")) }
        val signature = Base64.getEncoder().encodeToString(mac.doFinal("evt_1.${at.epochSecond}.$body".toByteArray()))
        return mapOf("Webhook-Id" to "evt_1", "webhook-timestamp" to "${at.epochSecond}", "webhook-signature" to "v1,$signature")
    }

    @Test
    fun `a genuine webhook is told`() {
        val other = "whsec_" + Base64.getEncoder().encodeToString(ByteArray(32))
        val message = WebhookVerifier(listOf(other, secret)).use { it.verify(signed(), body.toByteArray(), now) }
        assertEquals("evt_1" to "settlement.completed", message.id to message.kind)
        assertEquals(Duration.ofSeconds(1), Duration.between(message.at, now))
        assertEquals("""{"sequence":5,"amount":10.50}""", message.data)
    }

    @Test
    fun `any other webhook is not genuine`() {
        val verifier = WebhookVerifier(listOf(secret))
        fun codeOf(headers: Map<String, String>, body: String = this.body) =
            assertFailsWith<GatewayException.NotGenuine> { verifier.verify(headers, body.toByteArray(), now) }.code
        assertEquals("webhook_signature_invalid", codeOf(signed(), "$body "))
        assertEquals("webhook_signature_invalid", codeOf(signed() + ("Webhook-Id" to "evt_2")))
        assertEquals("webhook_too_old", codeOf(signed(at = now.minusSeconds(301))))
        assertEquals("webhook_too_new", codeOf(signed(at = now.plusSeconds(302))))
        assertEquals("webhook_malformed", codeOf(emptyMap()))
        assertEquals("webhook_malformed", codeOf(signed("{}"), "{}"))
        assertFailsWith<GatewayException.Invalid> { WebhookVerifier(listOf("whsec_!")) }
    }
}
