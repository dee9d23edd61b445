package dev.railgate

import dev.railgate.example.subscribe
import dev.railgate.example.waiting
import java.math.BigDecimal
import java.net.URI
import java.util.UUID
import kotlin.test.Test
import kotlin.test.assertEquals
import kotlin.test.assertFailsWith
import kotlin.test.assertNull
import kotlin.test.assertTrue
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.flow.first
import kotlinx.coroutines.withContext

private fun environment(name: String): String = System.getenv(name) ?: error("$name is not set")

private val storyUrl = environment("RAILGATE_STORY_URL")
private val provider = environment("RAILGATE_STORY_PROVIDER")

private fun client() = GatewayClient(storyUrl, Environment.SANDBOX, newSigner(), OkHttpTransport())

/** An app on a user's phone. */
private class Phone {
    val gateway = client()
    private val endpoint = "${environment("RAILGATE_STORY_PUSH")}/p/${UUID.randomUUID()}"
    // As after a restart of the app, which keeps its keys.
    private val keys = PushKeys(PushKeys().secret())

    suspend fun enroll(code: String) {
        gateway.enrollDevice(code, "android", appVersion = "3.2.0")
        subscribe(gateway, endpoint, keys)
    }

    /** The next push of this kind, decrypted, and the payment that it asks to approve. */
    suspend fun told(kind: NotificationKind): Pair<PushMessage, Settlement?> {
        while (true) {
            // The part of whatever hands pushes to the app.
            val message = withContext(Dispatchers.IO) { URI(endpoint).toURL().readBytes() }
            val push = keys.decrypt(message)
            if (push.kind == kind) return push to waiting(gateway, keys, message)
        }
    }
}

/** The story of a payment: a backend, the phones of its users, and a partner's provider, which the Rust test has set up. */
class StoryTest {
    /** A payment that a user approves on a new phone. */
    private suspend fun approved(backend: GatewayClient, n: Int) {
        val limits = listOf(UserLimits("EUR", max = BigDecimal("5000"), approvalOver = BigDecimal("100")))
        val phone = Phone().apply { enroll(backend.enrollmentCode("user-$n", limits).code) }
        val wanted = SettlementRequest(
            BigDecimal("250"), "EUR", "msisdn:+254700000001", "rent-$n", provider = provider, user = "user-$n",
        )
        val waiting = backend.create(wanted)
        assertEquals(PaymentApprovalStatus.PENDING, waiting.approval?.status)

        val (push, shown) = phone.told(NotificationKind.APPROVAL_REQUESTED)
        assertEquals(waiting, shown)
        assertEquals(BigDecimal("250.00") to waiting.to, push.amount to push.to)
        phone.gateway.approve(shown!!)
        val done = phone.gateway.settled(waiting.reference)
        assertEquals(SettlementStatus.COMPLETED to provider, done.status to done.provider)
        assertEquals(waiting.id, phone.told(NotificationKind.PAYMENT_COMPLETED).first.settlementId)

        inbox(phone, push)
        assertTrue(phone.gateway.sendQuality() > 5u)
    }

    /** The inbox has what was pushed, and what was read stays read. */
    private suspend fun inbox(phone: Phone, push: PushMessage) {
        val page = phone.gateway.notifications(NotificationFilter(unread = true, limit = 10u))
        val listed = page.data.single { it.id == push.notificationId }
        assertEquals(push.kind to push.title, listed.kind to listed.title)
        assertEquals(page.data.size.toULong(), page.unreadCount)
        val oldest = page.data.last().id
        assertEquals(page.data[page.data.size - 2].id, phone.gateway.notificationsAsTheyCome(oldest).first().id)
        assertEquals(page.unreadCount - 1u, phone.gateway.markRead(oldest))
        assertEquals(0u, phone.gateway.markAllRead())
        assertEquals("full", phone.gateway.preferences().detail)
        val own = phone.gateway.pushSubscriptions().data.single()
        assertTrue(own.thisDevice)
        assertNull(own.failingSince)
        phone.gateway.unsubscribePush(own.id)
        assertEquals(emptyList(), phone.gateway.pushSubscriptions().data)
    }

    @Test
    fun `phones approve payments that go through a partner's bundle`() = test {
        val backend = client().apply { enroll("Shop") }
        repeat(5) { approved(backend, it) }
        val summary = backend.qualitySummary(QualityQuery("approval.answer", by = listOf("provider", "network")))
        val group = summary.groups.single()
        assertEquals(Triple(provider, NetworkKind.CELLULAR, 5L), Triple(group.provider, group.network, group.count))
        assertEquals(QualityUnit.MILLISECONDS to 0.0, group.unit to group.failureRate)
        assertTrue(BigDecimal.ZERO < group.min && group.min <= group.max)
        val taken = backend.reportQuality(
            listOf(
                QualityPoint("report.export", 2.5, QualityUnit.SECONDS, os = "linux"),
                QualityPoint("report.export", 1.0, QualityUnit.SECONDS, os = "Ada's server"),
            ),
        )
        assertEquals(1uL to listOf(1uL), taken.accepted to taken.refused.map { it.index })
        val forged = assertFailsWith<GatewayException.NotGenuine> { PushKeys().decrypt("something else".toByteArray()) }
        assertEquals("push_invalid", forged.code)
    }
}
