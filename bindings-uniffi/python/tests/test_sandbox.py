"""The gateway on the device: its answers are the same as on every platform, byte for byte."""

import asyncio
import json
import pathlib
import threading
from datetime import datetime, timedelta, timezone
from decimal import Decimal

import pytest
import railgate
from conftest import request, run

SCENARIOS = sorted((pathlib.Path(__file__).parents[3] / "tests" / "scenarios").glob("*.json"))


def at(ms):
    return datetime(1970, 1, 1, tzinfo=timezone.utc) + timedelta(milliseconds=ms)


def test_there_are_scenarios():
    assert len(SCENARIOS) >= 12


@pytest.mark.parametrize("path", SCENARIOS, ids=lambda path: path.stem)
def test_a_scenario_is_answered_to_the_byte(path, tmp_path):
    async def play(scenario):
        now = scenario["start_ms"]
        file = str(tmp_path / "sandbox.db")

        async def open_at(seed):
            return await railgate.open_sandbox(file, railgate.SandboxOptions(seed=bytes.fromhex(seed), now=at(now)))

        sandbox = await open_at(scenario["seed"])
        for number, step in enumerate(scenario["steps"]):
            if "advance_ms" in step:
                now += step["advance_ms"]
            elif "restart" in step:
                del sandbox
                sandbox = await open_at(step["restart"])
            elif "work" in step:
                worked = await sandbox.work(at(now))
                due = None if worked.due is None else (worked.due - at(0)) // timedelta(milliseconds=1)
                assert json.loads(step["answer"]) == {"due": due, "done": worked.done}, number
            else:
                assert await sandbox.call(step["call"], at(now)) == step["answer"], number

    run(play(json.loads(path.read_text())))


def test_settle_follow_and_verify_without_any_network(tmp_path):
    async def scenario():
        sandbox = await railgate.open_sandbox(str(tmp_path / "sandbox.db"), railgate.SandboxOptions())
        made = await sandbox.create(request(reference="inv-1"))
        assert made.amount == Decimal("10.50")
        kinds = []
        async for events in sandbox.watch(0):
            kinds += [each.event.kind for each in events]
            if kinds[-1] is railgate.EventType.SETTLEMENT_COMPLETED:
                break
        assert (await sandbox.status("inv-1")).status is railgate.SettlementStatus.COMPLETED
        claims = railgate.verify_receipt((await sandbox.receipt("inv-1")).jws, await sandbox.receipt_keys())
        assert claims.amount == Decimal("10.50")
        with pytest.raises(railgate.GatewayError.Invalid) as caught:
            await sandbox.create(request(reference="a b"))
        assert [p.pointer for p in caught.value.problem.problems] == ["/reference"]
        with pytest.raises(railgate.GatewayError.Storage):
            await railgate.open_sandbox(str(tmp_path / "sandbox.db"), railgate.SandboxOptions())

    run(scenario())


def test_thirty_two_threads_on_one_gateway(tmp_path):
    sandbox = run(railgate.open_sandbox(str(tmp_path / "sandbox.db"), railgate.SandboxOptions()))
    before = {b.currency: b.available for b in run(sandbox.balances())}["EUR"]
    failures = []

    def thread(number):
        async def work():
            await asyncio.gather(*(sandbox.create(request("1", reference=f"th-{number}-{n}")) for n in range(3)))

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
    page = run(sandbox.settlements(railgate.SettlementFilter(limit=200)))
    assert len(page.data) == 96 and {s.status for s in page.data} == {railgate.SettlementStatus.COMPLETED}
    after = {b.currency: b.available for b in run(sandbox.balances())}["EUR"]
    assert before - after == 96
