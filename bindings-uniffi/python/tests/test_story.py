"""The story of a payment: a backend, the phones of its users, and a partner's provider, which the Rust test has set up."""

import asyncio
import os
import urllib.request
import uuid
from decimal import Decimal

import pytest
import railgate
from conftest import new_signer, run
from test_readme import PHONE

URL = os.environ["RAILGATE_STORY_URL"]
PUSH = os.environ["RAILGATE_STORY_PUSH"]
PROVIDER = os.environ["RAILGATE_STORY_PROVIDER"]
# What the README shows of an app.
SHOWN = {"railgate": railgate}
exec(compile(PHONE, "README.md", "exec"), SHOWN)


def client():
    return railgate.GatewayClient(URL, railgate.Environment.SANDBOX, new_signer(), railgate.UrllibTransport())


class Phone:
    """An app on a user's phone."""

    @classmethod
    async def enrolled(cls, code):
        self = cls()
        self.gateway = client()
        await self.gateway.enroll_device(code, "android", app_version="3.2.0")
        # As after a restart of the app, which keeps its keys.
        self.keys, self.endpoint = railgate.PushKeys(railgate.PushKeys().secret()), f"{PUSH}/p/{uuid.uuid4()}"
        await SHOWN["subscribe"](self.gateway, self.endpoint, self.keys)
        return self

    async def told(self, kind):
        """The next push of this kind, decrypted, and the payment that it asks to approve."""
        while True:
            # The part of whatever hands pushes to the app.
            message = await asyncio.to_thread(lambda: urllib.request.urlopen(self.endpoint).read())
            push = self.keys.decrypt(message)
            if push.kind is kind:
                return push, await SHOWN["waiting"](self.gateway, self.keys, message)


async def approved(backend, n):
    """A payment that a user approves on a new phone."""
    limits = [railgate.UserLimits(currency="EUR", max=Decimal("5000"), approval_over=Decimal("100"))]
    code = await backend.enrollment_code(f"user-{n}", limits)
    phone = await Phone.enrolled(code.code)
    waiting = await backend.create(railgate.SettlementRequest(
        amount=Decimal("250"), currency="EUR", to="msisdn:+254700000001", reference=f"rent-{n}", provider=PROVIDER, user=f"user-{n}"))
    assert waiting.approval.status is railgate.PaymentApprovalStatus.PENDING

    push, shown = await phone.told(railgate.NotificationKind.APPROVAL_REQUESTED)
    assert (shown, push.amount, push.to) == (waiting, Decimal("250.00"), waiting.to)
    await phone.gateway.approve(shown)
    done = await phone.gateway.settled(waiting.reference)
    assert (done.status, done.provider) == (railgate.SettlementStatus.COMPLETED, PROVIDER)
    completed, _ = await phone.told(railgate.NotificationKind.PAYMENT_COMPLETED)
    assert completed.settlement_id == waiting.id

    await inbox(phone, push)
    assert await phone.gateway.send_quality() > 5


async def inbox(phone, push):
    """The inbox has what was pushed, and what was read stays read."""
    page = await phone.gateway.notifications(railgate.NotificationFilter(unread=True, limit=10))
    listed = {notification.id: notification for notification in page.data}
    assert (listed[push.notification_id].kind, listed[push.notification_id].title) == (push.kind, push.title)
    assert page.unread_count == len(page.data)
    first = page.data[-1].id
    async for notifications in phone.gateway.follow_notifications(first):
        assert [it.id for it in notifications] == [it.id for it in reversed(page.data[:-1])]
        break
    assert await phone.gateway.mark_read(first) == page.unread_count - 1
    assert await phone.gateway.mark_all_read() == 0
    assert (await phone.gateway.preferences()).detail == "full"
    (own,) = (await phone.gateway.push_subscriptions()).data
    assert own.this_device and own.failing_since is None
    await phone.gateway.unsubscribe_push(own.id)
    assert (await phone.gateway.push_subscriptions()).data == []


def test_phones_approve_payments_that_go_through_a_partners_bundle():
    async def scenario():
        backend = client()
        await backend.enroll("Shop")
        for n in range(5):
            await approved(backend, n)
        summary = await backend.quality_summary(railgate.QualityQuery(metric="approval.answer", by=["provider", "network"]))
        (group,) = summary.groups
        assert (group.provider, group.network, group.count) == (PROVIDER, railgate.NetworkKind.CELLULAR, 5)
        assert (group.unit, group.failure_rate) == (railgate.QualityUnit.MILLISECONDS, 0) and 0 < group.min <= group.p95 <= group.max
        exported = {"metric": "report.export", "unit": railgate.QualityUnit.SECONDS}
        points = [railgate.QualityPoint(value=2.5, os="linux", **exported), railgate.QualityPoint(value=1.0, os="Ada's server", **exported)]
        taken = await backend.report_quality(points)
        assert (taken.accepted, [refusal.index for refusal in taken.refused]) == (1, [1])
        with pytest.raises(railgate.GatewayError.NotGenuine) as caught:
            railgate.PushKeys().decrypt(b"something else")
        assert caught.value.problem.code == "push_invalid"

    run(scenario())
