"""The client against a real gateway."""

import asyncio
import os
import threading
from datetime import datetime, timedelta, timezone
from decimal import Decimal

import pytest
import railgate
from conftest import new_signer, request, run
from lies import Loses


async def settled(client, reference):
    return [status async for status in client.follow(reference)]


def test_enrol_settle_follow_and_verify_the_receipt(connect):
    async def scenario():
        client = await connect()
        before = {b.currency: b for b in await client.balances()}["EUR"]
        made = await client.create(request(amount="10.5", description="November", metadata={"order": "42"}))
        assert (made.amount, str(made.amount), made.currency) == (Decimal("10.50"), "10.50", "EUR")
        assert made.metadata == {"order": "42"} and made.description == "November"
        assert abs((datetime.now(timezone.utc) - made.created_at).total_seconds()) < 3600
        seen = await settled(client, made.reference)
        assert seen[-1].status is railgate.SettlementStatus.COMPLETED and seen[-1].is_final
        assert [s.version for s in seen] == sorted({s.version for s in seen})

        events = await client.events(made.reference)
        assert [e.sequence for e in events] == list(range(1, len(events) + 1))
        assert events[-1].kind is railgate.EventType.SETTLEMENT_COMPLETED
        assert all(later.prev == earlier.hash for earlier, later in zip(events, events[1:]))

        receipt = await client.receipt(made.reference)
        keys = await client.receipt_keys()
        claims = railgate.verify_receipt(receipt.jws, keys)
        assert (claims.reference, claims.amount, claims.currency) == (made.reference, Decimal("10.50"), "EUR")
        assert claims.trace.head == events[-1].hash and claims.settled_at == receipt.settled_at
        header, payload, signature = receipt.jws.split(".")
        with pytest.raises(railgate.GatewayError.NotGenuine):
            railgate.verify_receipt(f"{header}.{payload[:-2]}AA.{signature}", keys)

        after = {b.currency: b for b in await client.balances()}["EUR"]
        assert before.available - after.available == made.total_debit

    run(scenario())


def test_a_create_sent_again_is_the_same_settlement(connect):
    async def scenario():
        client = await connect()
        wanted = request()
        made, again = await client.create(wanted), await client.create(wanted)
        assert made.id == again.id
        with pytest.raises(railgate.GatewayError.Refused) as caught:
            await client.create(request("11", wanted.reference))
        problem = caught.value.problem
        assert (problem.code, problem.status, problem.retryable) == ("reference_conflict", 409, False)

    run(scenario())


def test_reversing_a_part_and_looking_at_it(connect):
    async def scenario():
        client = await connect()
        made = await client.create(request(amount="20"))
        await settled(client, made.reference)
        back = railgate.ReversalRequest(
            reference="refund-1", amount=Decimal("4.2"), reason=railgate.ReversalReason.DUPLICATE
        )
        first, again = await client.reverse(made.reference, back), await client.reverse(made.reference, back)
        assert first.reversal.id == again.reversal.id
        assert [r.amount for r in await client.reversals(made.reference)] == [Decimal("4.20")]
        too_much = railgate.ReversalRequest(reference="refund-2", amount=Decimal("19"))
        with pytest.raises(railgate.GatewayError.Refused) as caught:
            await client.reverse(made.reference, too_much)
        assert caught.value.problem.code == "reversal_exceeds_remaining"
        assert (await client.reconcile(made.reference)).settlement.id == made.id

    run(scenario())


def test_the_simulator_does_what_its_client_says(connect):
    async def scenario():
        client = await connect()
        assert "sim:pending" in [scenario.to for scenario in await client.scenarios()]
        assert (await client.fund("CHF", Decimal("12.50"))).available == Decimal("12.50")
        made = await client.create(request(to="sim:pending"))
        done = await client.advance(made.reference, "completed")
        assert done.status is railgate.SettlementStatus.COMPLETED
        with pytest.raises(railgate.GatewayError.Refused) as caught:
            await client.advance(made.reference, "failed", "account_closed")
        assert caught.value.problem.code == "invalid_state"
        ordered = await client.set_faults(railgate.SandboxFaults(rate=0.25, seed=7))
        assert ordered == await client.faults() and (ordered.rate, ordered.seed) == (0.25, 7)
        await client.set_faults(railgate.SandboxFaults())
        await client.create(request(to="sim:pending"))
        assert await client.reset() == 1
        assert (await client.faults()).rate == 0

    run(scenario())


def test_the_clock_is_stopped_put_ahead_and_let_run_and_put_ahead_once_although_the_response_is_lost(connect):
    async def scenario():
        transport = Loses(railgate.UrllibTransport(), "/simulator/clock", only=2)
        client = await connect(transport)
        made = await client.create(request(to="sim:returned-after-1d"))
        stopped = await client.set_clock(frozen=True)
        ahead = await client.set_clock(advance_ms=2 * 86_400_000)
        assert transport.sent == 3
        assert stopped.frozen and ahead.frozen and ahead.advancing_to is None
        assert ahead.now - stopped.now == timedelta(days=2) and (await client.clock()).now == ahead.now
        assert (await client.settlement(made.reference)).status is railgate.SettlementStatus.RETURNED
        assert not (await client.set_clock(frozen=False)).frozen
        with pytest.raises(railgate.GatewayError.Refused) as caught:
            await client.set_clock(advance_ms=367 * 86_400_000)
        assert caught.value.problem.code == "invalid_fields"

    run(scenario())


def test_checks_lists_and_what_is_not_there(connect):
    async def scenario():
        client = await connect()
        check = await client.check(request(to="sim:close-match"))
        assert check.ok and check.payee.payee_match is railgate.PayeeMatch.CLOSE_MATCH
        made = [await client.create(request()) for _ in range(3)]
        page = await client.settlements(railgate.SettlementFilter(limit=2))
        rest = await client.settlements(railgate.SettlementFilter(limit=2, cursor=page.next_cursor))
        assert [s.id for s in page.data + rest.data] == [s.id for s in reversed(made)] and not rest.has_more
        with pytest.raises(railgate.GatewayError.Refused) as caught:
            await client.settlement("not-there")
        assert caught.value.problem.code == "settlement_not_found"
        with pytest.raises(railgate.GatewayError.Invalid):
            await client.settlement("not/there")

    run(scenario())


def test_a_session_is_kept_between_two_runs(connect, url):
    async def scenario():
        signer = new_signer()
        client = await connect(signer=signer)
        made = await client.create(request())
        kept = client.session()
        again = railgate.GatewayClient(url, railgate.Environment.SANDBOX, signer, railgate.UrllibTransport(), kept)
        assert (await again.settlement(made.reference)).id == made.id
        # Without it a new token is fetched: the key alone is enough.
        bare = railgate.GatewayClient(url, railgate.Environment.SANDBOX, signer, railgate.UrllibTransport())
        assert (await bare.settlement(made.reference)).id == made.id
        with pytest.raises(railgate.GatewayError.Refused):
            stranger = railgate.GatewayClient(url, railgate.Environment.SANDBOX, new_signer(), railgate.UrllibTransport())
            await stranger.balances()

    run(scenario())


def test_a_key_that_does_not_sign_is_a_typed_error(url):
    class Locked(railgate.Signer):
        def public_key(self):
            return new_signer().public_key()

        async def sign(self, message):
            raise railgate.SignerError.Unavailable(detail="the screen is locked")

    class Broken(Locked):
        async def sign(self, message):
            return b"no signature"

    async def scenario():
        for signer in [Locked(), Broken()]:
            client = railgate.GatewayClient(url, railgate.Environment.SANDBOX, signer, railgate.UrllibTransport())
            with pytest.raises(railgate.GatewayError.Unsigned):
                await client.enroll("Test")

    run(scenario())


def test_a_transport_or_a_key_that_is_cancelled_is_a_typed_error(url):
    class Cancelled(railgate.UrllibTransport):
        async def send(self, request):
            raise asyncio.CancelledError

    class Unsure(railgate.Signer):
        def public_key(self):
            return new_signer().public_key()

        async def sign(self, message):
            raise asyncio.CancelledError

    async def scenario():
        client = railgate.GatewayClient(url, railgate.Environment.SANDBOX, new_signer(), Cancelled())
        with pytest.raises(railgate.GatewayError.Unanswered):
            await client.enroll("Test")
        client = railgate.GatewayClient(url, railgate.Environment.SANDBOX, Unsure(), railgate.UrllibTransport())
        with pytest.raises(railgate.GatewayError.Unsigned):
            await client.enroll("Test")

    run(scenario())


def test_an_invitation_enrols_one_client():
    url, invitation = os.environ["RAILGATE_TEST_INVITING"], os.environ["RAILGATE_TEST_INVITATION"]

    def stranger():
        return railgate.GatewayClient(url, railgate.Environment.SANDBOX, new_signer(), railgate.UrllibTransport())

    async def scenario():
        client = stranger()
        with pytest.raises(railgate.GatewayError.Refused) as caught:
            await client.enroll("Uninvited")
        assert caught.value.problem.code == "invitation_invalid"
        assert (await client.enroll("Invited", invitation)).client_id.startswith("cli_")
        with pytest.raises(railgate.GatewayError.Refused):
            await stranger().enroll("Second", invitation=invitation)

    run(scenario())


def test_httpx_carries_it_too(connect):
    async def scenario():
        transport = railgate.HttpxTransport()
        client = await connect(transport)
        made = await client.create(request())
        assert (await settled(client, made.reference))[-1].is_final
        await transport.close()

    run(scenario())


def test_the_event_loop_goes_on_while_a_call_waits(connect):
    async def scenario():
        client = await connect()
        made = await client.create(request(to="sim:pending"))
        follower = client.follow(made.reference)
        # The gateway delays the response while nothing changes.
        waiting = asyncio.ensure_future(drain(follower))
        for _ in range(100):
            await asyncio.sleep(0)
        assert (await client.settlement(made.reference)).id == made.id
        assert not waiting.done()
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        # A cancelled call leaves no lock.
        assert (await client.settlement(made.reference)).id == made.id

    async def drain(follower):
        async for _ in follower:
            pass

    run(scenario())


def test_thirty_two_threads_on_one_client(connect):
    client = run(connect())
    failures = []

    def thread(number):
        async def work():
            for n in range(3):
                made = await client.create(request("1", f"thread-{number}-{n}"))
                assert (await client.settlement(made.id)).reference == made.reference

        try:
            run(work())
        except Exception as error:
            failures.append(error)

    threads = [threading.Thread(target=thread, args=(n,)) for n in range(32)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert failures == []

    async def count():
        page = await client.settlements(railgate.SettlementFilter(limit=200))
        assert len(page.data) == 96 and {s.amount for s in page.data} == {Decimal("1.00")}

    run(count())


def test_a_key_takes_the_place_of_another(connect, url):
    async def scenario():
        client = await connect()
        made = await client.create(request())
        signer = new_signer()
        added = await client.add_key(signer, 'till "2"')
        assert added == await client.add_key(signer, 'till "2"'), "once more changes nothing"
        assert (added.status, added.label) == (railgate.KeyStatus.ACTIVE, 'till "2"')
        assert [key.key_id for key in await client.keys()] == [client.key_id(), added.key_id]

        second = railgate.GatewayClient(url, railgate.Environment.SANDBOX, signer, railgate.UrllibTransport())
        assert second.key_id() == added.key_id
        await second.revoke_key(client.key_id())
        assert (await second.keys())[0].status is railgate.KeyStatus.REVOKED
        assert (await second.settlement(made.reference)).id == made.id
        with pytest.raises(railgate.GatewayError.Refused):
            await client.settlement(made.reference)

        others = await connect()
        with pytest.raises(railgate.GatewayError.Refused) as caught:
            await others.add_key(signer, None)
        assert caught.value.problem.code == "key_exists"
        for bad in ("", "../tokens", "a b"):
            with pytest.raises(railgate.GatewayError.Invalid):
                await others.revoke_key(bad)

    run(scenario())


def test_live_access_waits_for_an_operator(connect, url):
    async def scenario():
        client = await connect()
        signer = new_signer()
        asked, again = await client.enroll_live(signer), await client.enroll_live(signer)
        assert asked == again and asked.status is railgate.KeyStatus.PENDING
        live = railgate.GatewayClient(url, railgate.Environment.LIVE, signer, railgate.UrllibTransport())
        assert live.key_id() == asked.key_id
        with pytest.raises(railgate.GatewayError.Refused) as caught:
            await live.balances()
        assert caught.value.problem.code == "enrollment_pending"

    run(scenario())


def test_the_feed_of_all_settlements(connect):
    async def scenario():
        client = await connect()
        for n in range(2):
            await settled(client, (await client.create(request())).reference)
        place, seen = 0, []
        while True:
            page = await client.feed(place, 3)
            seen += page.data
            place = page.next_after
            if not page.has_more and sum(event.event.kind is railgate.EventType.SETTLEMENT_COMPLETED for event in seen) == 2:
                break
        assert [event.position for event in seen] == list(range(1, len(seen) + 1))

    run(scenario())
