package dev.railgate

import java.io.File
import java.math.BigDecimal
import java.time.Instant
import kotlin.test.assertEquals
import kotlin.test.assertFailsWith
import kotlin.test.assertTrue
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.async
import kotlinx.coroutines.cancelAndJoin
import kotlinx.coroutines.flow.first
import kotlinx.coroutines.flow.onEach
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.io.TempDir
import org.junit.jupiter.params.ParameterizedTest
import org.junit.jupiter.params.provider.CsvSource
import org.junit.jupiter.params.provider.ValueSource

/** With a network that lies, is unavailable or kills the process, nothing is lost and nothing is paid twice. */
class NetworkTest {
    private fun fileIn(folder: File) = folder.resolve("outbox.db").path

    @ParameterizedTest
    @ValueSource(ints = [0, 1, 2, 3])
    fun `a create over a liar is right or in doubt`(seed: Int) = test {
        val signer = newSigner()
        val honest = connect(signer = signer)
        val liar = Liar(OkHttpTransport(), seed)
        val client = over(signer, honest.session(), liar)
        val known = (0 until 12).associate { number ->
            val wanted = request("${number + 1}", "lie-$number")
            val made = try {
                client.create(wanted)
            } catch (_: GatewayException.Unanswered) {
                // Unknown; a repetition over a better network finds out.
                honest.create(wanted)
            }
            assertEquals(wanted.reference to 0, made.reference to made.amount.compareTo(wanted.amount))
            made.reference to made.id
        }
        assertEquals(12, known.size)
        assertEquals(known, allOf(honest).mapValues { it.value.id })
        assertTrue(liar.told.size > 4, liar.told.toString())
    }

    @ParameterizedTest
    @ValueSource(ints = [100, 101, 102])
    fun `an outbox over a liar delivers each once`(seed: Int, @TempDir folder: File) = test {
        val signer = newSigner()
        val honest = connect(signer = signer)
        val outbox = openOutbox(fileIn(folder), over(signer, honest.session(), Liar(OkHttpTransport(), seed)))
        outbox.use {
            repeat(8) { outbox.put(request("${it + 1}", "out-$it")) }
            while (outbox.entries().any { it.state != OutboxState.DELIVERED }) {
                assertTrue(outbox.entries().none { it.state == OutboxState.REFUSED }, "nothing was refused")
                outbox.flush()
            }
            val there = allOf(honest)
            assertEquals(there.mapValues { it.value.id }, outbox.entries().associate { it.reference to it.settlement!!.id })
            assertEquals(List(8) { BigDecimal("${it + 1}.00") }, there.values.map { it.amount }.sorted())
        }
    }

    @Test
    fun `what is created without network is sent once when it returns, and the app sees it`(@TempDir folder: File) = test {
        val signer = newSigner()
        val honest = connect(signer = signer)
        val network = Offline(OkHttpTransport())
        openOutbox(fileIn(folder), over(signer, honest.session(), network)).use { outbox ->
            val put = outbox.put(request(reference = "shop-1"))
            assertEquals(OutboxState.QUEUED, put.state)
            assertEquals(put, outbox.put(request(reference = "shop-1")))
            val taken = assertFailsWith<GatewayException.Invalid> { outbox.put(request("11", "shop-1")) }
            assertEquals("reference_conflict", taken.code)
            outbox.flush()
            val waiting = outbox.entry("shop-1")!!
            assertEquals(OutboxState.QUEUED, waiting.state)
            // More than one if the disk is so slow that the next attempt is due before this one is stored.
            assertTrue(waiting.tries >= 1u, waiting.toString())
            assertTrue("not_connected" in waiting.problem!!)
            outbox.put(request(reference = "shop-2"))
            assertEquals(OutboxState.WITHDRAWN, outbox.withdraw("shop-2").state)

            network.online = true
            val running = async { outbox.run() }
            outbox.wake()
            val seen = mutableListOf<OutboxState>()
            val changes = outbox.changes().onEach { if (it.reference == "shop-1") seen += it.state }
            assertEquals("shop-1", changes.first { it.settlement?.status == SettlementStatus.COMPLETED }.reference)
            assertEquals(OutboxState.DELIVERED, seen.last())
            running.cancelAndJoin()
            assertEquals(setOf("shop-1"), allOf(honest).keys)
            assertEquals("invalid_state", assertFailsWith<GatewayException.Invalid> { outbox.withdraw("shop-1") }.code)
            outbox.remove("shop-1")
            assertEquals(listOf("shop-2"), outbox.entries().map { it.reference })
            assertEquals(1uL, outbox.prune(Instant.now().plusSeconds(3600)))
            assertEquals(emptyList(), outbox.entries())
        }
    }

    @Test
    fun `sending that is cancelled in mid-flight is in doubt, and found out later`(@TempDir folder: File) = test {
        val signer = newSigner()
        val honest = connect(signer = signer)
        var silent = true
        val carried = CompletableDeferred<Unit>()
        val network = Silent(OkHttpTransport(), { silent && isCreate(it) }) { carried.complete(Unit) }
        openOutbox(fileIn(folder), over(signer, honest.session(), network)).use { outbox ->
            outbox.put(request(reference = "shop-1"))
            val sending = async { outbox.flush() }
            carried.await()
            assertEquals(OutboxState.SENDING, outbox.entry("shop-1")!!.state)
            sending.cancelAndJoin()
            silent = false
            while (outbox.entry("shop-1")!!.state != OutboxState.DELIVERED) outbox.flush()
            val found = outbox.entry("shop-1")!!
            assertTrue(found.tries > 1u, "it was asked for again")
            assertEquals(mapOf("shop-1" to found.settlement!!.id), allOf(honest).mapValues { it.value.id })
        }
    }

    @Test
    fun `an enrolment whose answer is lost is found again`() = test {
        val signer = newSigner()
        val network = OkHttpTransport()
        val loses = object : HttpTransport by network {
            override suspend fun send(request: HttpRequest): HttpResponse {
                val answer = network.send(request)
                return if (request.url.endsWith("/auth/enrollments")) throw TransportException.NoAnswer("lost") else answer
            }
        }
        assertFailsWith<GatewayException.Unanswered> { connect(loses, signer) }
        val client = GatewayClient(url, Environment.SANDBOX, signer, network)
        val found = client.enroll("Test")
        assertEquals(found.clientId to null, client.enroll("Test").let { it.clientId to it.webhookSecret })
        assertEquals(found.clientId, client.create(request()).clientId)
    }

    @Test
    fun `a refusal is told and nothing is paid`(@TempDir folder: File) = test {
        val client = connect()
        openOutbox(fileIn(folder), client).use { outbox ->
            outbox.put(request("99999999999", "too-much"))
            outbox.flush()
            val refused = outbox.entry("too-much")!!
            assertEquals(OutboxState.REFUSED, refused.state)
            assertEquals(null to null, refused.nextAt to refused.settlement)
            assertTrue(""""code":"""" in refused.problem!!)
        }
        assertEquals(emptyMap(), allOf(client))
    }

    @Test
    fun `an outbox is opened once and by its owner alone`(@TempDir folder: File) = test {
        suspend fun refusedFor(path: String, client: GatewayClient) =
            assertFailsWith<GatewayException.Storage> { openOutbox(path, client) }.code
        val client = connect()
        val outbox = openOutbox(fileIn(folder), client)
        assertEquals("storage_in_use", refusedFor(fileIn(folder), client))
        outbox.close()
        assertEquals("storage_owner", refusedFor(fileIn(folder), connect()))
        val other = folder.resolve("other").apply { writeText("no database at all, but long enough".repeat(50)) }
        assertEquals("storage_corrupt", refusedFor(other.path, client))
        val nobody = GatewayClient(url, Environment.SANDBOX, newSigner(), OkHttpTransport())
        assertEquals("not_enrolled", assertFailsWith<GatewayException.Invalid> { openOutbox(fileIn(folder), nobody) }.code)
    }

    @ParameterizedTest
    @CsvSource("1,before", "1,after", "3,before", "3,after")
    fun `a process that is killed in mid-outbox loses and repeats nothing`(at: Int, moment: String, @TempDir folder: File) = test {
        val keys = newKeys()
        val client = connect(signer = KeyStoreSigner(keys.private, keys.public))
        keep(folder, keys, client.session())
        fun child(at: Int) = runJava("dev.railgate.OutboxChildKt", folder.path, "$at", moment)
        repeat(2) { child(at).let { assertEquals(128 + 9, it.code, it.printed) } }
        val ended = child(1_000)
        assertEquals(0, ended.code, ended.printed)
        val there = allOf(client)
        assertEquals((0 until ENTRIES).map { "pay-$it" }.toSet(), there.keys)
        assertEquals(there.values.map { it.id }.sorted(), ended.printed.trim().split(' '))
    }
}
