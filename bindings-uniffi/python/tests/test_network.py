"""With a network that lies, is unavailable or kills the process, nothing is lost and nothing is paid twice."""

import asyncio
import pathlib
import subprocess
import sys
from datetime import datetime, timedelta, timezone
from decimal import Decimal

import pytest
import railgate
from conftest import AT_MOST_S, new_signer, request, run
from cryptography.hazmat.primitives import serialization as forms
from lies import Liar, Loses, Offline
from outbox_child import ENTRIES

State = railgate.OutboxState


async def all_of(client):
    page = await client.settlements(railgate.SettlementFilter(limit=200))
    assert not page.has_more
    return {settlement.reference: settlement for settlement in page.data}


def over(url, signer, session, transport):
    return railgate.GatewayClient(url, railgate.Environment.SANDBOX, signer, transport, session)


@pytest.mark.parametrize("seed", range(4))
def test_a_create_over_a_liar_is_right_or_in_doubt(connect, url, seed):
    async def scenario():
        signer = new_signer()
        honest = await connect(signer=signer)
        liar = Liar(railgate.UrllibTransport(), seed)
        client = over(url, signer, honest.session(), liar)
        known = {}
        for n in range(12):
            wanted = request(str(n + 1), f"lie-{n}")
            try:
                made = await client.create(wanted)
                assert (made.reference, made.amount) == (wanted.reference, wanted.amount)
                known[wanted.reference] = made.id
            except railgate.GatewayError.Unanswered:
                # Unknown; a repetition over a better network finds out.
                known[wanted.reference] = (await honest.create(wanted)).id
        assert {ref: s.id for ref, s in (await all_of(honest)).items()} == known and len(known) == 12
        assert len(liar.told) > 4, liar.told

    run(scenario())


@pytest.mark.parametrize("seed", range(3))
def test_an_outbox_over_a_liar_delivers_each_once(connect, url, tmp_path, seed):
    async def scenario():
        signer = new_signer()
        honest = await connect(signer=signer)
        client = over(url, signer, honest.session(), Liar(railgate.UrllibTransport(), 100 + seed))
        outbox = await railgate.open_outbox(str(tmp_path / "outbox.db"), client)
        for n in range(8):
            await outbox.put(request(str(n + 1), f"out-{n}"))
        while any(entry.state is not State.DELIVERED for entry in await outbox.entries()):
            assert not any(entry.state is State.REFUSED for entry in await outbox.entries()), "nothing was refused"
            await outbox.flush()
        there = await all_of(honest)
        assert {e.reference: e.settlement.id for e in await outbox.entries()} == {r: s.id for r, s in there.items()}
        assert sorted(s.amount for s in there.values()) == [Decimal(n + 1) for n in range(8)]

    run(scenario())


def test_what_is_created_without_network_is_sent_once_when_it_returns(connect, url, tmp_path):
    async def scenario():
        signer = new_signer()
        honest = await connect(signer=signer)
        network = Offline(railgate.UrllibTransport())
        client = over(url, signer, honest.session(), network)
        outbox = await railgate.open_outbox(str(tmp_path / "outbox.db"), client)
        seen, first = [], asyncio.Event()

        async def watch():
            async for entries in outbox.watch():
                seen.extend((entry.reference, entry.state) for entry in entries)
                first.set()
                if any(entry.settlement and entry.settlement.status is railgate.SettlementStatus.COMPLETED for entry in entries):
                    return

        put = await outbox.put(request(reference="shop-1"))
        assert put.state is State.QUEUED
        assert await outbox.put(request(reference="shop-1")) == put
        with pytest.raises(railgate.GatewayError.Invalid) as caught:
            await outbox.put(request("11", "shop-1"))
        assert caught.value.problem.code == "reference_conflict"
        watching = asyncio.ensure_future(watch())
        await first.wait()
        await outbox.flush()
        waiting = await outbox.entry("shop-1")
        assert waiting.state is State.QUEUED and waiting.tries >= 1 and "not_connected" in waiting.problem
        await outbox.put(request(reference="shop-2"))
        assert (await outbox.withdraw("shop-2")).state is State.WITHDRAWN

        network.online = True
        running = asyncio.ensure_future(outbox.run())
        await outbox.wake()
        await watching
        running.cancel()
        assert set(await all_of(honest)) == {"shop-1"}
        states = [state for reference, state in seen if reference == "shop-1"]
        assert states[0] is State.QUEUED and states[-1] is State.DELIVERED
        with pytest.raises(railgate.GatewayError.Invalid) as caught:
            await outbox.withdraw("shop-1")
        assert caught.value.problem.code == "invalid_state"
        await outbox.remove("shop-1")
        assert [entry.reference for entry in await outbox.entries()] == ["shop-2"]
        assert await outbox.prune(datetime.now(timezone.utc) + timedelta(hours=1)) == 1
        assert await outbox.entries() == []

    run(scenario())


def test_a_refusal_is_told_and_nothing_is_paid(connect, tmp_path):
    async def scenario():
        client = await connect()
        outbox = await railgate.open_outbox(str(tmp_path / "outbox.db"), client)
        await outbox.put(request("99999999999", "too-much"))
        await outbox.flush()
        refused = await outbox.entry("too-much")
        assert refused.state is State.REFUSED and refused.next_at is None and refused.settlement is None
        assert '"code":"' in refused.problem
        assert await all_of(client) == {}

    run(scenario())


def test_an_outbox_is_opened_once_and_by_its_owner_alone(connect, tmp_path):
    async def scenario():
        path = str(tmp_path / "outbox.db")
        client = await connect()
        outbox = await railgate.open_outbox(path, client)
        with pytest.raises(railgate.GatewayError.Storage) as caught:
            await railgate.open_outbox(path, client)
        assert caught.value.problem.code == "storage_in_use"
        del outbox
        with pytest.raises(railgate.GatewayError.Storage) as caught:
            await railgate.open_outbox(path, await connect())
        assert caught.value.problem.code == "storage_owner"
        other = tmp_path / "other"
        other.write_bytes(b"no database at all, but long enough" * 50)
        with pytest.raises(railgate.GatewayError.Storage) as caught:
            await railgate.open_outbox(str(other), client)
        assert caught.value.problem.code == "storage_corrupt"

    run(scenario())


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("at", [1, 3])
def test_a_process_that_is_killed_in_mid_outbox_loses_and_repeats_nothing(connect, url, tmp_path, at, when):
    client_key = new_signer()

    async def enrol():
        client = await connect(signer=client_key)
        (tmp_path / "session").write_text(client.session())
        pem = client_key._key.private_bytes(forms.Encoding.PEM, forms.PrivateFormat.PKCS8, forms.NoEncryption())
        (tmp_path / "key.pem").write_bytes(pem)
        return client

    def child(at):
        command = [sys.executable, "outbox_child.py", url, str(tmp_path), str(at), when]
        here = pathlib.Path(__file__).parent
        return subprocess.run(command, cwd=here, capture_output=True, text=True, timeout=AT_MOST_S)

    client = run(enrol())
    for _ in range(2):
        assert child(at).returncode == -9
    ended = child(1000)
    assert ended.returncode == 0, ended.stderr
    there = run(all_of(client))
    assert sorted(there) == [f"pay-{n}" for n in range(ENTRIES)]
    assert ended.stdout.split() == sorted(s.id for s in there.values())


def test_where_nothing_was_sent_the_error_says_so_and_which_address_it_was(url):
    async def scenario():
        client = over(f"{url}/api/v1", new_signer(), None, Offline(railgate.UrllibTransport()))
        with pytest.raises(railgate.GatewayError.Unanswered) as caught:
            await client.balances()
        problem = caught.value.problem
        assert (problem.code, problem.not_sent, problem.retryable) == ("not_connected", True, True)
        assert problem.detail == f"POST {url}/api/v1/auth/challenges: there is no network"

    run(scenario())


def test_an_enrolment_whose_answer_is_lost_is_found_again(url):
    signer, network = new_signer(), railgate.UrllibTransport()

    async def scenario():
        lost = over(url, signer, None, Loses(network, "/auth/enrollments"))
        with pytest.raises(railgate.GatewayError.Unanswered):
            await lost.enroll("Test")
        client = over(url, signer, None, network)
        found, again = await client.enroll("Test"), await client.enroll("Test")
        assert (found.client_id, found.key_id) == (again.client_id, again.key_id)
        assert found.client_id.startswith("cli_") and found.status is railgate.KeyStatus.ACTIVE and found.balances
        assert found.webhook_secret is None
        assert (await client.create(request())).client_id == found.client_id

    run(scenario())
