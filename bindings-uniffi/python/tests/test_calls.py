"""Every call of a gateway: lists, batches, webhooks, documents, the statement, the log, and any other by its path."""

import asyncio
import inspect
import json
from datetime import datetime, timedelta, timezone
from decimal import Decimal

import pytest
import railgate
from conftest import new_signer, request, run

REFUSED = railgate.GatewayError.Refused


async def open_sandbox(folder):
    return await railgate.open_sandbox(str(folder / "sandbox.db"), railgate.SandboxOptions())


def on_both(connect, folder, scenario):
    """Runs a scenario with a server's client, and with the gateway on the device."""

    async def both():
        for gateway in [await connect(), await open_sandbox(folder)]:
            assert isinstance(gateway, railgate.Gateway) and isinstance(gateway, railgate.Simulator)
            await scenario(gateway)

    run(both())


def test_both_gateways_have_the_same_calls():
    for shared in [railgate.Gateway, railgate.Simulator]:
        for name in [name for name in vars(shared) if not name.startswith("_")]:
            parameters = list(inspect.signature(getattr(shared, name)).parameters)
            for gateway in [railgate.GatewayClient, railgate.SandboxGateway]:
                assert list(inspect.signature(getattr(gateway, name)).parameters) == parameters, name


def test_every_filter_selects_and_lists_are_read_page_after_page(connect, tmp_path):
    async def scenario(gateway):
        made = [await gateway.create(request(f"{n + 1}", f"f-{n}")) for n in range(5)]
        await gateway.create(request("7", "f-failed", to="sim:decline-recipient_not_found"))
        for each in [*made, await gateway.settlement("f-failed")]:
            await gateway.settled(each.reference)

        async def found(**filter):
            listed = gateway.all_settlements(railgate.SettlementFilter(limit=2, **filter))
            return [settlement.reference async for settlement in listed]

        everything = ["f-failed", "f-4", "f-3", "f-2", "f-1", "f-0"]
        assert await found() == everything
        assert [s.reference async for s in gateway.all_settlements()] == everything
        status = railgate.SettlementStatus
        assert await found(statuses=[status.FAILED]) == ["f-failed"]
        assert await found(statuses=[status.FAILED, status.COMPLETED]) == everything
        assert await found(reference="f-2") == ["f-2"]
        assert await found(min_amount=Decimal("2.5"), max_amount=Decimal("4")) == ["f-3", "f-2"]
        assert await found(to="sim:decline-recipient_not_found") == ["f-failed"]
        assert await found(currency="EUR", sandbox=True, needs_review=False) == everything
        assert await found(direction=railgate.Direction.OUTGOING, provider=made[0].provider) == everything
        assert await found(direction=railgate.Direction.INCOMING) == await found(provider="nobody") == []
        assert await found(created_from=made[0].created_at - timedelta(hours=1)) == everything
        assert await found(created_to=made[0].created_at - timedelta(hours=1)) == []
        assert await found(sandbox=False) == []

    on_both(connect, tmp_path, scenario)


def test_a_batch_succeeds_one_by_one(connect, tmp_path):
    async def scenario(gateway):
        wanted = [request("1", "b-0"), request("0", "b-1"), request("2", "b-2"), request("1", "b-0")]
        results = await gateway.create_batch(wanted)
        assert [result.status for result in results] == [201, 422, 201, 200]
        assert results[0].settlement.amount == Decimal("1.00") and results[0].problem is None
        problem = results[1].problem
        assert results[1].settlement is None and problem.code == "invalid_fields"
        assert [each.pointer for each in problem.problems] == ["/amount"]
        assert (await gateway.settled("b-2")).status is railgate.SettlementStatus.COMPLETED
        with pytest.raises(railgate.GatewayError):
            await gateway.create_batch([])

    on_both(connect, tmp_path, scenario)


def test_a_settlement_and_its_reversals_are_awaited(connect, tmp_path):
    async def scenario(gateway):
        made = await gateway.create(request("20", "r-0", to="sim:slow-30s"))
        waiting = asyncio.ensure_future(gateway.settled(made.reference))
        await gateway.set_clock(advance_ms=60_000)
        assert (await waiting).status is railgate.SettlementStatus.COMPLETED
        back = railgate.ReversalRequest(reference="back-1", amount=Decimal("4.20"))
        await gateway.reverse("r-0", back)
        done = await gateway.settled("r-0", reversals=True)
        assert (done.reversed_amount, done.reversing_amount) == (Decimal("4.20"), 0)
        reversed = await gateway.reversed("r-0", "back-1")
        assert reversed.status is railgate.ReversalStatus.COMPLETED
        assert reversed == await gateway.reversal("r-0", reversed.id)
        with pytest.raises(REFUSED) as caught:
            await gateway.reversal("r-0", "back-2")
        assert caught.value.problem.code == "reversal_not_found"
        statuses = [status.status async for status in gateway.follow("r-0")]
        assert statuses == [railgate.SettlementStatus.PARTIALLY_REVERSED]

    on_both(connect, tmp_path, scenario)


def test_the_feed_is_followed(connect, tmp_path):
    async def scenario(gateway):
        async def completed():
            seen = []
            async for events in gateway.follow_feed():
                seen += events
                if seen[-1].event.kind is railgate.EventType.SETTLEMENT_COMPLETED:
                    return seen

        waiting = asyncio.ensure_future(completed())
        await gateway.create(request(reference="inv-1"))
        seen = await waiting
        assert [each.position for each in seen] == list(range(1, len(seen) + 1))
        page = await gateway.feed(0, 2, epoch=1)
        assert page.data == seen[:2] and page.epoch == 1
        with pytest.raises(REFUSED) as caught:
            await gateway.feed(0, 2, epoch=2)
        assert caught.value.problem.code == "epoch_changed"

    on_both(connect, tmp_path, scenario)


def test_receipts_in_every_form(connect, tmp_path):
    form = railgate.ReceiptForm

    async def scenario(gateway):
        await gateway.create(request(reference="inv-1"))
        await gateway.settled("inv-1")
        jws = (await gateway.receipt_as("inv-1", form.JWS)).decode()
        assert railgate.verify_receipt(jws, await gateway.receipt_keys()).reference == "inv-1"
        starts = {form.HTML: b"<!DOCTYPE html>", form.SVG: b"<svg", form.TEXT: b""}
        for kind, start in starts.items():
            drawn = await gateway.receipt_as("inv-1", kind)
            assert drawn.startswith(start) and len(drawn) > 100
        if isinstance(gateway, railgate.GatewayClient):
            paper = await gateway.receipt_as("inv-1", form.PDF)
            assert paper.startswith(b"%PDF-") and paper.rstrip().endswith(b"%%EOF")
        else:
            with pytest.raises(REFUSED) as caught:
                await gateway.receipt_as("inv-1", form.PDF)
            assert caught.value.problem.code == "not_acceptable"

    on_both(connect, tmp_path, scenario)


def test_balances_scenarios_and_what_is_not_there(connect, tmp_path):
    async def scenario(gateway):
        assert (await gateway.balance("EUR")).currency == "EUR"
        with pytest.raises(REFUSED) as caught:
            await gateway.balance("XAF")
        assert caught.value.problem.code == "balance_not_found"
        assert "sim:pending" in [each.to for each in await gateway.scenarios()]

    on_both(connect, tmp_path, scenario)


def test_an_export_is_one_file(connect):
    async def scenario():
        client = await connect()
        made = [await client.create(request("10.5", f"x-{n}")) for n in range(3)]
        everything = railgate.SettlementFilter()
        lines = (await client.export(everything, railgate.ExportForm.ND_JSON)).decode().splitlines()
        records = [json.loads(line, parse_float=Decimal) for line in lines]
        assert [record["reference"] for record in records] == ["x-2", "x-1", "x-0"]
        assert {record["amount"] for record in records} == {made[0].amount} == {Decimal("10.50")}
        table = await client.export(railgate.SettlementFilter(reference="x-1"), railgate.ExportForm.CSV)
        header, row = table.decode().splitlines()
        assert header.startswith("id,reference,status,") and ",x-1," in row and ",10.50," in row

    run(scenario())


def test_the_statement_and_money_that_an_operator_moved(connect):
    async def scenario():
        client = await connect()
        for n in range(3):
            await client.create(request("5", f"s-{n}"))
            await client.settled(f"s-{n}")
        # Lines follow the payments that cause them within moments.
        while True:
            lines = [line async for line in client.all_entries("EUR", railgate.StatementFilter(limit=2))]
            if lines and lines[0].reference == "s-2":
                break
        paid = [line for line in lines if line.kind == "payment"]
        assert [line.reference for line in paid] == ["s-2", "s-1", "s-0"] and {line.amount for line in paid} == {-5}
        assert [line.number for line in lines] == sorted((line.number for line in lines), reverse=True)
        assert lines[0].balance == (await client.balance("EUR")).ledger
        page = await client.statement("EUR", railgate.StatementFilter(limit=2))
        assert page.data == lines[:2] and page.has_more
        earlier = datetime.now(timezone.utc) - timedelta(days=1)
        assert (await client.statement("EUR", railgate.StatementFilter(until=earlier))).data == []
        with pytest.raises(REFUSED) as caught:
            await client.movement("wire-1")
        assert caught.value.problem.code == "movement_not_found"
        with pytest.raises(railgate.GatewayError.Invalid):
            await client.movement("../EUR")

    run(scenario())


def test_a_webhook_is_made_changed_tested_and_removed(connect):
    async def scenario():
        client = await connect()
        webhooks = client.webhooks()
        wanted = railgate.NewWebhook(url="https://hooks.invalid/railgate", events=["settlement.completed"], description="till")
        made = await webhooks.create(wanted)
        assert made.secret.startswith("whsec_") and made.status is railgate.WebhookStatus.ENABLED and not made.all_events
        assert made.secret not in repr(made)
        assert [each.id for each in await webhooks.list()] == [made.id]
        assert (await webhooks.get(made.id)).secret is None

        changed = await webhooks.update(made.id, railgate.WebhookChange(events=[], description="", enabled=False))
        assert changed.all_events and changed.description is None and changed.status is railgate.WebhookStatus.DISABLED
        assert changed.url == made.url
        assert (await webhooks.enable(made.id)).status is railgate.WebhookStatus.ENABLED
        rotated = await webhooks.rotate(made.id, grace_s=60)
        assert rotated.secret.startswith("whsec_") and rotated.secret != made.secret

        tested = await webhooks.test(made.id, "settlement.failed")
        assert not tested.delivered and tested.response.status is None and tested.response.error
        assert (tested.delivery.kind, tested.delivery.cause) == ("settlement.failed", railgate.DeliveryCause.TEST)
        assert json.loads(tested.delivery.payload)["type"] == "settlement.failed"

        await client.create(request(reference="w-0"))
        await client.settled("w-0")
        since = datetime.now(timezone.utc) - timedelta(hours=1)
        # Events are numbered within moments.
        while (replay := await webhooks.replay(made.id, railgate.ReplayRequest(since=since))).queued == 0:
            pass
        assert replay.next_after is None
        delivered = [each async for each in webhooks.all_deliveries(made.id, railgate.DeliveryFilter(limit=2))]
        assert len(delivered) > 2 and railgate.DeliveryCause.REPLAY in {each.cause for each in delivered}
        first = await webhooks.delivery(made.id, delivered[0].id)
        again = await webhooks.redeliver(made.id, first.id)
        assert (again.message_id, again.cause) == (first.message_id, railgate.DeliveryCause.REDELIVERY)
        failed = await webhooks.deliveries(made.id, railgate.DeliveryFilter(status=railgate.DeliveryStatus.DELIVERED))
        assert failed.data == []

        await webhooks.remove(made.id)
        for gone in [webhooks.get(made.id), webhooks.test(made.id), webhooks.deliveries(made.id, railgate.DeliveryFilter())]:
            with pytest.raises(REFUSED) as caught:
                await gone
            assert caught.value.problem.code == "webhook_not_found"
        with pytest.raises(railgate.GatewayError.Invalid):
            await webhooks.get("whk_/../..")
        with pytest.raises(REFUSED) as caught:
            await webhooks.create(railgate.NewWebhook(url="http://shop.example.com/hooks"))
        assert [each.pointer for each in caught.value.problem.problems] == ["/url"]

    run(scenario())


def test_the_log_proves_a_settlement(connect):
    async def scenario():
        client = await connect()
        await client.create(request(reference="p-0"))
        await client.settled("p-0")
        proof, last = await client.proof("p-0"), (await client.events("p-0"))[-1]
        assert (proof.event_hash, proof.sequence, proof.reference) == (last.hash, last.sequence, "p-0")
        assert proof.leaf_index < proof.tree_size and proof.proof.startswith("c2sp.org/tlog-proof@v1\n")
        origin = (await client.log_checkpoint()).splitlines()[0]
        assert proof.checkpoint.splitlines()[0] == origin
        assert (await client.log_keys()).startswith(origin + "+")
        width = min(proof.tree_size, 256)
        tile = await client.log_tile(f"0/000.p/{width}" if width < 256 else "0/000")
        assert len(tile) == 32 * width
        with pytest.raises(railgate.GatewayError.Invalid):
            await client.log_tile("../keys")

    run(scenario())


def test_any_call_by_its_path(connect):
    async def scenario():
        client = await connect()
        answer = await client.raw("GET", "/api/v1/balances/EUR")
        assert answer.status == 200 and json.loads(answer.body)["currency"] == "EUR"
        assert "application/json" in [header.value for header in answer.headers if header.name.lower() == "content-type"]
        body = json.dumps({"currency": "EUR", "amount": "1"}).encode()
        key = {"Idempotency-Key": "fund-1"}
        first, again = [await client.raw("post", "/api/v1/simulator/fund", body, key) for _ in range(2)]
        assert first.status == again.status and first.body == again.body
        # A refusal is a response like any other.
        refused = await client.raw("GET", "/api/v1/operator/overview")
        assert refused.status >= 400 and json.loads(refused.body)["code"]
        csv = await client.raw("GET", "/api/v1/gateway/settlements/export", headers={"accept": "text/csv"})
        assert csv.body.startswith(b"id,reference,")
        with pytest.raises(railgate.GatewayError.Invalid):
            await client.raw("GET", "no path")

    run(scenario())


def test_errors_say_what_is_wrong_and_where(connect, url):
    async def scenario():
        client = await connect()
        bad = request("0", "no good", to="nobody")
        with pytest.raises(railgate.GatewayError.Invalid) as caught:
            await client.create(bad)
        assert "/amount" in str(caught.value) and "2 more" in str(caught.value), caught.value
        assert caught.value.problem.not_sent
        with pytest.raises(REFUSED) as caught:
            await client.settlement("not-there")
        assert not caught.value.problem.not_sent

        class Nobody(railgate.UrllibTransport):
            async def pause(self, ms):
                pass

        nobody = railgate.GatewayClient("http://127.0.0.1:1", railgate.Environment.SANDBOX, new_signer(), Nobody())
        with pytest.raises(railgate.GatewayError.Unanswered) as caught:
            await nobody.enroll("Test")
        assert caught.value.problem.not_sent and "http://127.0.0.1:1/api/v1/" in str(caught.value)
        assert "connection refused" in str(caught.value), caught.value
        # The address of the interface is understood as that of the gateway.
        signer = new_signer()
        there = railgate.GatewayClient(f"{url}/api/v1/", railgate.Environment.SANDBOX, signer, railgate.UrllibTransport())
        assert (await there.enroll("Test")).client_id.startswith("cli_")

    run(scenario())
