package dev.railgate

import com.sun.net.httpserver.HttpServer
import java.math.BigDecimal
import java.net.InetAddress
import java.net.InetSocketAddress
import java.security.KeyPairGenerator
import java.time.Duration
import java.util.concurrent.Executors
import java.util.concurrent.atomic.AtomicInteger
import kotlin.test.assertEquals
import kotlin.test.assertFailsWith
import kotlin.test.assertFalse
import kotlin.test.assertNotEquals
import kotlin.test.assertTrue
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.asCoroutineDispatcher
import kotlinx.coroutines.async
import kotlinx.coroutines.cancelAndJoin
import kotlinx.coroutines.flow.toList
import kotlinx.coroutines.withContext
import org.junit.jupiter.api.Test

private const val DAY_MS = 86_400_000uL

/** The client against a real gateway. */
class ClientTest {
    @Test
    fun `enrol, settle, follow and verify the receipt`() = test {
        val client = connect()
        val before = client.balances().single { it.currency == "EUR" }
        val made = client.create(request("10.5").copy(description = "November", metadata = mapOf("order" to "42")))
        assertEquals(BigDecimal("10.50"), made.amount)
        assertEquals("November" to mapOf("order" to "42"), made.description to made.metadata)
        val seen = client.statuses(made.reference).toList()
        assertEquals(SettlementStatus.COMPLETED to true, seen.last().status to seen.last().isFinal)
        assertTrue(seen.zipWithNext().all { (a, b) -> a.version < b.version })

        val events = client.events(made.reference)
        assertEquals((1u..events.size.toUInt()).toList(), events.map { it.sequence })
        assertTrue(events.zipWithNext().all { (a, b) -> b.prev == a.hash })

        val receipt = client.receipt(made.reference)
        val keys = client.receiptKeys()
        val claims = verifyReceipt(receipt.jws, keys)
        assertEquals(made.reference to BigDecimal("10.50"), claims.reference to claims.amount)
        assertEquals(events.last().hash to receipt.settledAt, claims.trace.head to claims.settledAt)
        val (header, payload, signature) = receipt.jws.split('.')
        val forged = "$header.${payload.dropLast(2)}AA.$signature"
        assertEquals("receipt_invalid", assertFailsWith<GatewayException.NotGenuine> { verifyReceipt(forged, keys) }.code)

        val after = client.balances().single { it.currency == "EUR" }
        assertEquals(made.totalDebit, before.available - after.available)
    }

    @Test
    fun `a refusal has a code, a status and says whether to try again`() = test {
        val client = connect()
        val wanted = request()
        assertEquals(client.create(wanted).id, client.create(wanted).id)
        val refused = assertFailsWith<GatewayException.Refused> { client.create(wanted.copy(amount = BigDecimal("11"))) }
        assertEquals("reference_conflict" to false, refused.code to refused.retryable)
        assertEquals<UShort?>(409u, refused.problem.status)
        assertTrue(refused.message.startsWith("reference_conflict: "), refused.message)
    }

    @Test
    fun `reversing a part and looking at it`() = test {
        val client = connect()
        val made = client.create(request("20"))
        client.statuses(made.reference).collect { }
        val back = ReversalRequest("refund-1", BigDecimal("4.2"), ReversalReason.DUPLICATE)
        assertEquals(client.reverse(made.reference, back).reversal?.id, client.reverse(made.reference, back).reversal?.id)
        assertEquals(listOf(BigDecimal("4.20")), client.reversals(made.reference).map { it.amount })
        val tooMuch = assertFailsWith<GatewayException.Refused> { client.reverse(made.reference, ReversalRequest("refund-2", BigDecimal("19"))) }
        assertEquals("reversal_exceeds_remaining", tooMuch.code)
        assertEquals(made.id, client.reconcile(made.reference).settlement.id)
    }

    @Test
    fun `the clock is stopped, put ahead and let run, and put ahead once although the response is lost`() = test {
        val transport = Loses(OkHttpTransport(), "/simulator/clock", only = 2)
        val client = connect(transport)
        val made = client.create(request(to = "sim:returned-after-1d"))
        val stopped = client.setClock(frozen = true)
        val ahead = client.setClock(advanceMs = 2u * DAY_MS)
        assertEquals(3, transport.sent)
        assertEquals(listOf(true, true, null), listOf(stopped.frozen, ahead.frozen, ahead.advancingTo))
        assertEquals(stopped.now.plus(Duration.ofDays(2)) to ahead.now, ahead.now to client.clock().now)
        assertEquals(SettlementStatus.RETURNED, client.settlement(made.reference).status)
        assertFalse(client.setClock(frozen = false).frozen)
        assertEquals("invalid_fields", assertFailsWith<GatewayException.Refused> { client.setClock(advanceMs = 367u * DAY_MS) }.code)
    }

    @Test
    fun `checks, lists and what is not there`() = test {
        val client = connect()
        val check = client.check(request(to = "sim:close-match"))
        assertEquals(true to PayeeMatch.CLOSE_MATCH, check.ok to check.payee.payeeMatch)
        val made = List(3) { client.create(request()) }
        val page = client.settlements(SettlementFilter(limit = 2u))
        val rest = client.settlements(SettlementFilter(limit = 2u, cursor = page.nextCursor))
        assertEquals(made.reversed().map { it.id }, (page.data + rest.data).map { it.id })
        assertFalse(rest.hasMore)
        assertEquals("settlement_not_found", assertFailsWith<GatewayException.Refused> { client.settlement("not-there") }.code)
        assertFailsWith<GatewayException.Invalid> { client.settlement("not/there") }
    }

    @Test
    fun `a session is kept between two runs`() = test {
        val signer = newSigner()
        val client = connect(signer = signer)
        val made = client.create(request())
        assertEquals(made.id, over(signer, client.session(), OkHttpTransport()).settlement(made.reference).id)
        // Without it a new token is fetched: the key alone is enough.
        val bare = GatewayClient(url, Environment.SANDBOX, signer, OkHttpTransport())
        assertEquals(made.id, bare.settlement(made.reference).id)
        val stranger = GatewayClient(url, Environment.SANDBOX, newSigner(), OkHttpTransport())
        assertFailsWith<GatewayException.Refused> { stranger.balances() }
    }

    @Test
    fun `a key takes the place of another`() = test {
        val client = connect()
        val made = client.create(request())
        val signer = newSigner()
        val added = client.addKey(signer, "till \"2\"")
        assertEquals(added, client.addKey(signer, "till \"2\""), "once more changes nothing")
        assertEquals(KeyStatus.ACTIVE to "till \"2\"", added.status to added.label)
        assertEquals(listOf(client.keyId(), added.keyId), client.keys().map { it.keyId })

        val second = GatewayClient(url, Environment.SANDBOX, signer, OkHttpTransport())
        second.revokeKey(client.keyId())
        assertEquals(KeyStatus.REVOKED, second.keys().first().status)
        assertEquals(made.id, second.settlement(made.reference).id)
        assertFailsWith<GatewayException.Refused> { client.settlement(made.reference) }
        assertEquals("key_exists", assertFailsWith<GatewayException.Refused> { connect().addKey(signer, null) }.code)
        assertFailsWith<GatewayException.Invalid> { second.revokeKey("../tokens") }
    }

    @Test
    fun `live access waits for an operator`() = test {
        val signer = newSigner()
        val asked = connect().enrollLive(signer)
        assertEquals(KeyStatus.PENDING, asked.status)
        val live = GatewayClient(url, Environment.LIVE, signer, OkHttpTransport())
        assertEquals(asked.keyId, live.keyId())
        assertEquals("enrollment_pending", assertFailsWith<GatewayException.Refused> { live.balances() }.code)
    }

    @Test
    fun `the feed of all settlements has no gaps`() = test {
        val client = connect()
        repeat(2) { client.statuses(client.create(request()).reference).collect { } }
        val seen = mutableListOf<FeedEvent>()
        while (seen.count { it.event.kind == EventType.SETTLEMENT_COMPLETED } < 2) {
            val page = client.feed(seen.lastOrNull()?.position ?: 0L, 3u)
            seen += page.data
        }
        assertEquals((1L..seen.size).toList(), seen.map { it.position })
    }

    @Test
    fun `keys sign in DER as key stores do, and one that does not is a typed error`() = test {
        val keys = newKeys()
        val made = KeyStoreSigner(keys.private, keys.public).sign(ByteArray(8))
        assertEquals(0x30, made[0], "a SEQUENCE of DER")
        assertNotEquals(64, made.size)
        open class Failing(private val how: () -> ByteArray) : Signer {
            override fun publicKey(): ByteArray = keys.public.encoded
            override suspend fun sign(message: ByteArray) = how()
        }
        val failing = listOf(
            Failing { throw SignerException.Unavailable("the screen is locked") },
            Failing { throw IllegalStateException("unexpected") },
            Failing { throw NotImplementedError("not even an exception") },
            Failing { "no signature".toByteArray() },
            KeyStoreSigner(KeyPairGenerator.getInstance("Ed25519").generateKeyPair().private, keys.public),
        )
        for (signer in failing) assertFailsWith<GatewayException.Unsigned> { connect(signer = signer) }
        val mute = object : Signer {
            override fun publicKey(): ByteArray = throw NotImplementedError("no key at all")
            override suspend fun sign(message: ByteArray) = message
        }
        assertFailsWith<GatewayException.Unsigned> { GatewayClient(url, Environment.SANDBOX, mute, OkHttpTransport()) }
    }

    @Test
    fun `whatever a transport throws is a typed error`() = test {
        for (thrown in listOf(IllegalStateException("odd"), NotImplementedError("odd"), TransportException.NoAnswer("odd"))) {
            val transport = object : HttpTransport {
                override suspend fun send(request: HttpRequest): HttpResponse = throw thrown
                override suspend fun pause(ms: ULong) = Unit
            }
            val lost = assertFailsWith<GatewayException.Unanswered> { connect(transport) }
            assertTrue("odd" in lost.message && lost.retryable, lost.message)
        }
    }

    @Test
    fun `the caller's dispatcher goes on while a call waits`() = test {
        val one = Executors.newSingleThreadExecutor { Thread(it).apply { isDaemon = true } }.asCoroutineDispatcher()
        one.use {
            withContext(one) {
                val open = CompletableDeferred<Unit>()
                // Sends nothing until another coroutine has had a turn on the only thread.
                val gate = object : HttpTransport {
                    val inner = OkHttpTransport()
                    override suspend fun send(request: HttpRequest) = open.await().let { inner.send(request) }
                    override suspend fun pause(ms: ULong) = inner.pause(ms)
                }
                val enrolled = async { connect(gate) }
                async { open.complete(Unit) }.await()
                val client = enrolled.await()
                val made = client.create(request(to = "sim:pending"))
                // The gateway delays responses while nothing changes; many of them must not block other calls.
                val followers = List(16) { async { client.statuses(made.reference).toList() } }
                assertEquals(made.id, client.settlement(made.reference).id)
                followers.forEach { it.cancelAndJoin() }
            }
        }
    }

    @Test
    fun `a call that is cancelled has left, and the same reference finds out`() = test {
        val signer = newSigner()
        val honest = connect(signer = signer)
        val carried = CompletableDeferred<Unit>()
        val silent = over(signer, honest.session(), Silent(OkHttpTransport(), ::isCreate) { carried.complete(Unit) })
        val wanted = request()
        val waiting = async { silent.create(wanted) }
        carried.await()
        waiting.cancelAndJoin()
        assertTrue(waiting.isCancelled)
        val found = honest.create(wanted)
        assertEquals(mapOf(wanted.reference to found.id), allOf(honest).mapValues { it.value.id })
        // It leaves no lock and no leak: the same client keeps working.
        assertEquals(found.id, silent.settlement(wanted.reference).id)
    }

    @Test
    fun `thirty-two threads on one client`() {
        val client = await { connect() }
        onThreads(32) { thread ->
            repeat(2) {
                val made = client.create(request("1", "th-$thread-$it"))
                assertEquals(made.reference, client.settlement(made.id).reference)
            }
        }
        assertEquals(64, await { allOf(client) }.size)
    }

    @Test
    fun `the transport sends once, whatever it is told`() = test {
        val asked = AtomicInteger()
        val server = HttpServer.create(InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0)
        server.createContext("/") { exchange ->
            asked.incrementAndGet()
            val path = exchange.requestURI.path
            if (path == "/503") exchange.responseHeaders["Retry-After"] = listOf("0")
            if (path == "/307") exchange.responseHeaders["Location"] = listOf("/200")
            exchange.sendResponseHeaders(path.drop(1).toInt(), -1)
            exchange.close()
        }
        server.start()
        try {
            for (status in listOf(200, 307, 401, 408, 421, 503)) {
                asked.set(0)
                val request = HttpRequest("POST", "http://127.0.0.1:${server.address.port}/$status", emptyList(), "x".toByteArray(), 30_000u)
                assertEquals(status to 1, OkHttpTransport().send(request).status.toInt() to asked.get())
            }
        } finally {
            server.stop(0)
        }
        val nobody = HttpRequest("GET", "http://127.0.0.1:${server.address.port}/200", emptyList(), ByteArray(0), 30_000u)
        assertFailsWith<TransportException.NotSent> { OkHttpTransport().send(nobody) }
        assertFailsWith<TransportException.NotSent> { OkHttpTransport().send(nobody.copy(url = "no address")) }
    }
}
