package dev.railgate

import dev.railgate.example.books
import dev.railgate.example.pay
import dev.railgate.example.report
import dev.railgate.example.status
import dev.railgate.example.submit
import java.io.File
import java.math.BigDecimal
import java.time.Duration
import java.time.Instant
import kotlin.test.assertContains
import kotlin.test.assertEquals
import kotlin.test.assertFailsWith
import kotlin.test.assertFalse
import kotlin.test.assertNotEquals
import kotlin.test.assertNull
import kotlin.test.assertTrue
import kotlinx.coroutines.async
import kotlinx.coroutines.coroutineScope
import kotlinx.coroutines.flow.first
import kotlinx.coroutines.flow.map
import kotlinx.coroutines.flow.toList
import kotlinx.serialization.json.Json
import kotlinx.serialization.json.jsonArray
import kotlinx.serialization.json.jsonObject
import kotlinx.serialization.json.jsonPrimitive
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.io.TempDir

/** Every call of a gateway: lists, batches, webhooks, documents, the statement, the log, and any other by its path. */
class CallsTest {
    /** Runs a scenario with a server's client, and with the gateway on the device. */
    private fun <G> onBoth(folder: File, scenario: suspend (G) -> Unit) = test {
        val sandbox = openSandbox(folder.resolve("sandbox.db").path, SandboxOptions())
        @Suppress("UNCHECKED_CAST")
        for (gateway in listOf<Gateway>(connect(), sandbox)) gateway.use { scenario(it as G) }
    }

    private fun settling(folder: File, scenario: suspend (Gateway) -> Unit) = onBoth(folder, scenario)

    @Test
    fun `every filter selects, and lists are read page after page`(@TempDir folder: File) = settling(folder) { gateway ->
        val made = List(5) { gateway.create(request("${it + 1}", "f-$it")) }
        gateway.create(request("7", "f-failed", to = "sim:decline-recipient_not_found"))
        for (reference in made.map { it.reference } + "f-failed") gateway.settled(reference)
        suspend fun found(filter: SettlementFilter) = gateway.allSettlements(filter.copy(limit = 2u)).map { it.reference }.toList()
        val everything = listOf("f-failed", "f-4", "f-3", "f-2", "f-1", "f-0")
        assertEquals(everything, gateway.allSettlements().map { it.reference }.toList())
        assertEquals(listOf("f-failed"), found(SettlementFilter(statuses = listOf(SettlementStatus.FAILED))))
        assertEquals(everything, found(SettlementFilter(statuses = listOf(SettlementStatus.FAILED, SettlementStatus.COMPLETED))))
        assertEquals(listOf("f-2"), found(SettlementFilter(reference = "f-2")))
        val amounts = SettlementFilter(minAmount = BigDecimal("2.5"), maxAmount = BigDecimal("4"))
        assertEquals(listOf("f-3", "f-2"), found(amounts))
        assertEquals(listOf("f-failed"), found(SettlementFilter(to = "sim:decline-recipient_not_found")))
        assertEquals(everything, found(SettlementFilter(currency = "EUR", sandbox = true, needsReview = false)))
        assertEquals(everything, found(SettlementFilter(direction = Direction.OUTGOING, provider = made[0].provider)))
        assertEquals(emptyList(), found(SettlementFilter(direction = Direction.INCOMING)))
        val earlier = made[0].createdAt - Duration.ofHours(1)
        assertEquals(everything to emptyList(), found(SettlementFilter(createdFrom = earlier)) to found(SettlementFilter(createdTo = earlier)))
    }

    @Test
    fun `a batch succeeds one by one`(@TempDir folder: File) = settling(folder) { gateway ->
        val results = gateway.createBatch(listOf(request("1", "b-0"), request("0", "b-1"), request("2", "b-2"), request("1", "b-0")))
        assertEquals(listOf(201, 422, 201, 200), results.map { it.status.toInt() })
        assertEquals(BigDecimal("1.00"), results[0].settlement?.amount)
        assertEquals("invalid_fields" to listOf("/amount"), results[1].problem!!.let { it.code to it.problems.map { each -> each.pointer } })
        assertNull(results[1].settlement)
        assertEquals(SettlementStatus.COMPLETED, gateway.settled("b-2").status)
        assertFailsWith<GatewayException> { gateway.createBatch(emptyList()) }
    }

    @Test
    fun `a settlement and its reversals are awaited`(@TempDir folder: File) = settling(folder) { gateway ->
        gateway.create(request("20", "r-0", to = "sim:slow-30s"))
        (gateway as Simulator).setClock(null, 60_000u)
        assertEquals(SettlementStatus.COMPLETED, gateway.settled("r-0").status)
        gateway.reverse("r-0", ReversalRequest("back-1", BigDecimal("4.20")))
        val done = gateway.settled("r-0", reversals = true)
        assertEquals(BigDecimal("4.20") to 0, done.reversedAmount to done.reversingAmount.signum())
        val reversed = gateway.reversed("r-0", "back-1")
        assertEquals(ReversalStatus.COMPLETED to reversed, reversed.status to gateway.reversal("r-0", reversed.id))
        assertEquals("reversal_not_found", assertFailsWith<GatewayException.Refused> { gateway.reversal("r-0", "back-2") }.code)
        assertEquals(listOf(SettlementStatus.PARTIALLY_REVERSED), gateway.statuses("r-0").map { it.status }.toList())
    }

    @Test
    fun `the feed is followed`(@TempDir folder: File) = settling(folder) { gateway ->
        coroutineScope {
            val waiting = async { gateway.feedEvents().first { it.event.kind == EventType.SETTLEMENT_COMPLETED } }
            gateway.create(request(reference = "inv-1"))
            val last = waiting.await()
            val page = gateway.feed(0L, 200u, 1u)
            assertEquals((1L..last.position).toList() to 1u, page.data.map { it.position } to page.epoch)
            assertEquals("epoch_changed", assertFailsWith<GatewayException.Refused> { gateway.feed(0L, 2u, 2u) }.code)
        }
    }

    @Test
    fun `receipts in every form`(@TempDir folder: File) = settling(folder) { gateway ->
        gateway.create(request(reference = "inv-1"))
        gateway.settled("inv-1")
        val jws = gateway.receiptAs("inv-1", ReceiptForm.JWS).decodeToString()
        assertEquals("inv-1", verifyReceipt(jws, gateway.receiptKeys()).reference)
        assertTrue(gateway.receiptAs("inv-1", ReceiptForm.HTML).decodeToString().startsWith("<!DOCTYPE html>"))
        assertTrue(gateway.receiptAs("inv-1", ReceiptForm.SVG).decodeToString().startsWith("<svg"))
        assertTrue(gateway.receiptAs("inv-1", ReceiptForm.TEXT).isNotEmpty())
        if (gateway is GatewayClient) {
            val paper = gateway.receiptAs("inv-1", ReceiptForm.PDF)
            assertEquals("%PDF-" to "%%EOF", String(paper, 0, 5) to String(paper, Charsets.ISO_8859_1).trimEnd().takeLast(5))
        } else {
            assertEquals("not_acceptable", assertFailsWith<GatewayException.Refused> { gateway.receiptAs("inv-1", ReceiptForm.PDF) }.code)
        }
    }

    @Test
    fun `one program plays with either simulator`(@TempDir folder: File) = onBoth<Simulator>(folder) { simulator ->
        assertContains(simulator.scenarios().map { it.to }, "sim:pending")
        val gateway = simulator as Gateway
        val before = gateway.balance("EUR").available
        assertEquals(before + BigDecimal("12.50"), simulator.fund("EUR", BigDecimal("12.50")).available)
        assertEquals("balance_not_found", assertFailsWith<GatewayException.Refused> { gateway.balance("XAF") }.code)
        val made = gateway.create(request(to = "sim:pending"))
        assertEquals(SettlementStatus.COMPLETED, simulator.advance(made.reference, "completed", null).status)
    }

    @Test
    fun `the tour of the README pays, reports and shows the books`(@TempDir folder: File) = test {
        val salaries = List(3) { request("100", "salary-$it") }
        openSandbox(folder.resolve("sandbox.db").path, SandboxOptions()).use { assertEquals(BigDecimal("300.00"), pay(it, salaries)) }
        val client = connect()
        assertEquals(BigDecimal("300.00"), pay(client, salaries))
        assertTrue(report(client, "https://hooks.invalid/railgate")!!.startsWith("whsec_"))
        assertEquals(4, books(client).decodeToString().trim().lines().size)
    }

    @Test
    fun `an export is one file`() = test {
        val client = connect()
        repeat(3) { client.create(request("10.5", "x-$it")) }
        val lines = client.export(SettlementFilter(), ExportForm.ND_JSON).decodeToString().trim().lines()
        assertEquals(listOf("x-2", "x-1", "x-0"), lines.map { Json.parseToJsonElement(it).jsonObject.getValue("reference").jsonPrimitive.content })
        val (header, row) = client.export(SettlementFilter(reference = "x-1"), ExportForm.CSV).decodeToString().trim().lines()
        assertTrue(header.startsWith("id,reference,status,") && ",x-1," in row && ",10.50," in row, row)
    }

    @Test
    fun `the statement and money that an operator moved`() = test {
        val client = connect()
        repeat(3) {
            client.create(request("5", "s-$it"))
            client.settled("s-$it")
        }
        // Lines follow the payments that cause them within moments.
        var lines: List<StatementEntry>
        do lines = client.allEntries("EUR", StatementFilter(limit = 2u)).toList() while (lines.firstOrNull()?.reference != "s-2")
        val paid = lines.filter { it.kind == "payment" }
        assertEquals(listOf("s-2" to BigDecimal("-5.00"), "s-1" to BigDecimal("-5.00"), "s-0" to BigDecimal("-5.00")), paid.map { it.reference to it.amount })
        assertEquals(client.balance("EUR").ledger, lines[0].balance)
        val earlier = Instant.now() - Duration.ofDays(1)
        assertEquals(emptyList(), client.statement("EUR", StatementFilter(until = earlier)).data)
        assertEquals("movement_not_found", assertFailsWith<GatewayException.Refused> { client.movement("wire-1") }.code)
        assertFailsWith<GatewayException.Invalid> { client.movement("../EUR") }
    }

    @Test
    fun `a webhook is made, changed, tested and removed`() = test {
        val client = connect()
        val webhooks = client.webhooks()
        val made = webhooks.create(NewWebhook("https://hooks.invalid/railgate", listOf("settlement.completed"), "till"))
        assertTrue(made.secret!!.startsWith("whsec_") && made.status == WebhookStatus.ENABLED && !made.allEvents)
        assertEquals(listOf(made.id) to null, webhooks.list().map { it.id } to webhooks.get(made.id).secret)
        val changed = webhooks.update(made.id, WebhookChange(events = emptyList(), description = "", enabled = false))
        assertEquals(listOf(true, null, WebhookStatus.DISABLED, made.url), listOf(changed.allEvents, changed.description, changed.status, changed.url))
        assertEquals(WebhookStatus.ENABLED, webhooks.enable(made.id).status)
        assertNotEquals(made.secret, webhooks.rotate(made.id, 60u).secret)

        val tested = webhooks.test(made.id, "settlement.failed")
        assertFalse(tested.delivered)
        assertEquals(null to true, tested.response.status to !tested.response.error.isNullOrEmpty())
        assertEquals("settlement.failed" to DeliveryCause.TEST, tested.delivery.kind to tested.delivery.cause)

        client.create(request(reference = "w-0"))
        client.settled("w-0")
        val since = Instant.now() - Duration.ofHours(1)
        // Events are numbered within moments.
        while (webhooks.replay(made.id, ReplayRequest(since)).queued == 0uL) Unit
        val deliveries = webhooks.allDeliveries(made.id, DeliveryFilter(limit = 2u)).toList()
        assertContains(deliveries.map { it.cause }, DeliveryCause.REPLAY)
        val first = webhooks.delivery(made.id, deliveries[0].id)
        val again = webhooks.redeliver(made.id, first.id)
        assertEquals(first.messageId to DeliveryCause.REDELIVERY, again.messageId to again.cause)
        assertEquals(emptyList(), webhooks.deliveries(made.id, DeliveryFilter(DeliveryStatus.DELIVERED)).data)

        webhooks.remove(made.id)
        assertEquals("webhook_not_found", assertFailsWith<GatewayException.Refused> { webhooks.get(made.id) }.code)
        assertFailsWith<GatewayException.Invalid> { webhooks.get("whk_/../..") }
        val refused = assertFailsWith<GatewayException.Refused> { webhooks.create(NewWebhook("http://shop.example.com/hooks")) }
        assertEquals(listOf("/url"), refused.problem.problems.map { it.pointer })
    }

    @Test
    fun `the log proves a settlement`() = test {
        val client = connect()
        client.create(request(reference = "p-0"))
        client.settled("p-0")
        val proof = client.proof("p-0")
        val last = client.events("p-0").last()
        assertEquals(last.hash to last.sequence, proof.eventHash to proof.sequence)
        val origin = client.logCheckpoint().lines().first()
        assertTrue(client.logKeys().startsWith("$origin+") && proof.checkpoint.startsWith("$origin\n"))
        val width = minOf(proof.treeSize, 256uL)
        assertEquals(32 * width.toInt(), client.logTile(if (width < 256uL) "0/000.p/$width" else "0/000").size)
        assertFailsWith<GatewayException.Invalid> { client.logTile("../keys") }
    }

    @Test
    fun `any call by its path`() = test {
        val client = connect()
        val answer = client.raw("GET", "/api/v1/balances/EUR")
        assertEquals(200 to "EUR", answer.status.toInt() to Json.parseToJsonElement(answer.body.decodeToString()).jsonObject["currency"]?.jsonPrimitive?.content)
        val body = """{"currency": "EUR", "amount": "1"}""".toByteArray()
        val twice = List(2) { client.raw("POST", "/api/v1/simulator/fund", body, mapOf("Idempotency-Key" to "fund-1")) }
        assertEquals(twice[0].body.decodeToString(), twice[1].body.decodeToString())
        assertTrue(client.raw("GET", "/api/v1/operator/overview").status >= 400u, "a refusal is a response like any other")
        val csv = client.raw("GET", "/api/v1/gateway/settlements/export", headers = mapOf("accept" to "text/csv"))
        assertTrue(csv.body.decodeToString().startsWith("id,reference,"))
        assertFailsWith<GatewayException.Invalid> { client.raw("GET", "no path") }
    }

    @Test
    fun `a partner's bundle is checked, submitted and followed`() = test {
        fun bundle(version: String) =
            """{"manifest": {"id": "acme", "version": "$version", "name": "Acme Pay", "rail": "adapter", "namespaces": ["msisdn"],
                "currencies": ["KES"], "contacts": [{"role": "technical", "email": "integration@acme.example"}],
                "sandbox": {"base_url": "https://sandbox.acme.example/railgate", "test": {"to": "msisdn:+254700000001"}}}}""".toByteArray()
        val partner = connect()
        val problem = assertFailsWith<IllegalStateException> { submit(partner, bundle("one")) }.message!!
        val pointers = Json.parseToJsonElement(problem).jsonObject.getValue("errors").jsonArray.map { it.jsonObject.getValue("pointer").jsonPrimitive.content }
        assertEquals(listOf("/manifest/version"), pointers)
        assertContains(partner.raw("GET", "/api/v1/bundles").body.decodeToString(), "\"data\":[]")
        val path = submit(partner, bundle("1.0.0"))
        assertEquals("submitted", Json.parseToJsonElement(status(partner, path)).jsonObject.getValue("status").jsonPrimitive.content)
        assertContains(partner.raw("GET", "$path/timeline").body.decodeToString(), "\"bundle.submitted\"")
    }

    @Test
    fun `errors say what is wrong and where`() = test {
        val invalid = assertFailsWith<GatewayException.Invalid> { connect().create(request("0", "no good", "nobody")) }
        assertTrue("/amount" in invalid.message && "2 more" in invalid.message && invalid.notSent, invalid.message)
        val hasty = object : HttpTransport {
            val inner = OkHttpTransport()
            override suspend fun send(request: HttpRequest) = inner.send(request)
            override suspend fun pause(ms: ULong) = Unit
        }
        val nobody = GatewayClient("http://127.0.0.1:1", Environment.SANDBOX, newSigner(), hasty)
        val lost = assertFailsWith<GatewayException.Unanswered> { nobody.enroll("Test") }
        assertTrue(lost.notSent && "http://127.0.0.1:1/api/v1/" in lost.message && "connection refused" in lost.message, lost.message)
        // The address of the interface is understood as that of the gateway.
        GatewayClient("$url/api/v1", Environment.SANDBOX, newSigner(), OkHttpTransport()).use { assertTrue(it.enroll("Test").clientId.isNotEmpty()) }
    }
}
