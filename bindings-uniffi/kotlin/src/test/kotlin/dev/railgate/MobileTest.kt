package dev.railgate

import java.math.BigDecimal
import kotlin.test.assertEquals
import kotlin.test.assertFailsWith
import kotlin.test.assertTrue
import org.junit.jupiter.api.Test

/** A backend and the phones of its users, against a real gateway. */
class MobileTest {
    /** A phone with a new key, enrolled with a code that the backend made. */
    private suspend fun enrolled(backend: GatewayClient, user: String): GatewayClient {
        val code = backend.enrollmentCode(user, listOf(UserLimits("EUR", approvalOver = BigDecimal("100"))))
        assertTrue(code.link.startsWith("railgate:enroll?code=") && code.qr.startsWith("<svg"))
        val phone = GatewayClient(url, Environment.SANDBOX, newSigner(), OkHttpTransport())
        val made = phone.enrollDevice(code.code.lowercase(), "android", model = "Pixel 9", name = "phone of $user")
        assertEquals(user to phone.keyId(), made.device.user to made.device.keyId)
        return phone
    }

    @Test
    fun `a payment waits until its user approves it on a phone`() = test {
        val backend = connect()
        val phone = enrolled(backend, "ada")
        val waiting = backend.create(request("250").copy(user = "ada"))
        assertEquals(PaymentApprovalStatus.PENDING, waiting.approval?.status)
        val shown = phone.paymentApprovals().single()
        assertEquals(waiting, shown)
        assertEquals(PaymentApprovalStatus.APPROVED, phone.approve(shown, "Ada's shop").approval?.status)
        assertEquals(SettlementStatus.COMPLETED, phone.settled(shown.reference).status)
        assertTrue(phone.events(shown.reference).any { it.kind == EventType.APPROVAL_APPROVED })
        // The same answer again is the same; another one is too late.
        assertEquals(SettlementStatus.COMPLETED, phone.approve(shown).status)
        assertEquals("approval_decided", assertFailsWith<GatewayException.Refused> { phone.decline(shown, "changed my mind") }.code)
    }

    @Test
    fun `a phone sees its user's payments and is revoked`() = test {
        val backend = connect()
        val ada = enrolled(backend, "ada")
        val bob = enrolled(backend, "bob")
        val mine = ada.create(request("10"))
        assertEquals("ada" to null, mine.user to mine.approval)
        assertEquals(listOf(mine.id), backend.settlements(SettlementFilter(user = "ada")).data.map { it.id })
        val hidden = assertFailsWith<GatewayException.Refused> { bob.settlement(mine.reference) }
        assertEquals("settlement_not_found", hidden.code)
        assertEquals(SettlementStatus.CANCELLED, bob.decline(bob.create(request("101")), "not now").status)

        val device = backend.devices("bob").single()
        assertEquals("the blue one", bob.renameDevice(device.id, "the blue one").name)
        backend.revokeDevice(device.id)
        val refused = assertFailsWith<GatewayException.Refused> { bob.paymentApprovals() }
        assertTrue(refused.code in listOf("token_invalid", "key_revoked"), refused.code)
        assertEquals(UserStatus.BLOCKED, backend.putUser("ada", status = UserStatus.BLOCKED).status)
        assertEquals(UserStatus.BLOCKED, backend.user("ada").status)
        assertEquals("user_blocked", assertFailsWith<GatewayException.Refused> { ada.create(request("1")) }.code)
    }
}
