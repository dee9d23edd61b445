"""A backend and the phones of its users, against a real gateway."""

from decimal import Decimal

import pytest
import railgate
from conftest import new_signer, request, run


async def enrolled(url, backend, name):
    """A phone with a new key, enrolled with a code that the backend made."""
    limits = [railgate.UserLimits(currency="EUR", approval_over=Decimal("100"))]
    code = await backend.enrollment_code(name, limits)
    phone = railgate.GatewayClient(url, railgate.Environment.SANDBOX, new_signer(), railgate.UrllibTransport())
    made = await phone.enroll_device(code.code.lower(), "android", model="Pixel 9", name=f"{name}'s phone")
    assert made.device.user == name and made.device.key_id == phone.key_id()
    return phone, code


def test_a_payment_waits_until_its_user_approves_it_on_a_phone(url, connect):
    async def scenario():
        backend = await connect()
        phone, code = await enrolled(url, backend, "ada")
        assert code.link.startswith("railgate:enroll?code=") and code.qr.startswith("<svg")
        assert code.code not in repr(code), "it is a secret"
        waiting = await backend.create(request("250", user="ada"))
        assert waiting.approval.status is railgate.PaymentApprovalStatus.PENDING
        (shown,) = await phone.payment_approvals()
        assert shown == waiting
        approved = await phone.approve(shown, payee_name="Ada's shop")
        assert approved.approval.status is railgate.PaymentApprovalStatus.APPROVED
        done = await phone.settled(shown.reference)
        assert done.status is railgate.SettlementStatus.COMPLETED
        kinds = [event.kind for event in await phone.events(shown.reference)]
        assert railgate.EventType.APPROVAL_APPROVED in kinds
        # The same answer again is the same; another one is too late.
        assert (await phone.approve(shown)).status is railgate.SettlementStatus.COMPLETED
        with pytest.raises(railgate.GatewayError.Refused) as caught:
            await phone.decline(shown, "changed my mind")
        assert caught.value.problem.code == "approval_decided"

    run(scenario())


def test_a_phone_sees_its_users_payments_and_is_revoked(url, connect):
    async def scenario():
        backend = await connect()
        ada, _ = await enrolled(url, backend, "ada")
        bob, _ = await enrolled(url, backend, "bob")
        mine = await ada.create(request("10"))
        assert mine.user == "ada" and mine.approval is None
        assert [it.id for it in (await backend.settlements(railgate.SettlementFilter(user="ada"))).data] == [mine.id]
        with pytest.raises(railgate.GatewayError.Refused) as caught:
            await bob.settlement(mine.reference)
        assert caught.value.problem.code == "settlement_not_found"
        declined = await bob.decline(await bob.create(request("101")), "not now")
        assert declined.status is railgate.SettlementStatus.CANCELLED

        (device,) = await backend.devices("bob")
        assert (await bob.rename_device(device.id, "the blue one")).name == "the blue one"
        await backend.revoke_device(device.id)
        with pytest.raises(railgate.GatewayError.Refused) as caught:
            await bob.payment_approvals()
        assert caught.value.problem.code in ("token_invalid", "key_revoked")
        blocked = await backend.put_user("ada", status=railgate.UserStatus.BLOCKED)
        assert blocked.status is (await backend.user("ada")).status is railgate.UserStatus.BLOCKED
        with pytest.raises(railgate.GatewayError.Refused) as caught:
            await ada.create(request("1"))
        assert caught.value.problem.code == "user_blocked"

    run(scenario())
