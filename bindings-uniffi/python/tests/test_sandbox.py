"""The gateway on the device: its answers are the same as on every platform, byte for byte."""

import asyncio
import json
import pathlib
import subprocess
import sys
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
        async for events in sandbox.follow_feed(0):
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


def test_a_payment_waits_for_its_user_without_any_network(tmp_path):
    async def scenario():
        sandbox = await railgate.open_sandbox(str(tmp_path / "sandbox.db"), railgate.SandboxOptions())
        limits = [railgate.UserLimits(currency="EUR", approval_over=Decimal("100"))]
        made = await sandbox.enrollment_code("customer-17", limits)
        assert made.code in made.link and "<svg" in made.qr
        phone = await sandbox.enroll_device(made.code, "android", name="Ada's phone")
        watch = await sandbox.enroll_device((await sandbox.enrollment_code("customer-17")).code, "wear")
        with pytest.raises(railgate.GatewayError.Refused) as caught:
            await sandbox.enroll_device(made.code, "ios")
        assert caught.value.problem.code == "device_code_invalid"
        assert [device.id for device in await sandbox.devices("customer-17")] == [phone.id, watch.id]
        await sandbox.create(request(amount=Decimal("250"), reference="rent", user="customer-17"))
        on_phone, on_watch = sandbox.on_device(phone.id), sandbox.on_device(watch.id)
        [waiting] = await on_phone.payment_approvals()
        assert (waiting.reference, waiting.status) == ("rent", railgate.SettlementStatus.ACCEPTED)
        await on_phone.approve(waiting)
        with pytest.raises(railgate.GatewayError.Refused, match="approved on the device Ada's phone"):
            await on_watch.decline(waiting)
        assert (await sandbox.settled("rent")).status is railgate.SettlementStatus.COMPLETED
        shoes = await on_watch.create(request(amount=Decimal("120"), reference="shoes"))
        assert (await on_phone.decline(shoes, "too dear")).status is railgate.SettlementStatus.CANCELLED
        await sandbox.create(request(reference="own"))
        assert [each.reference for each in (await on_phone.settlements(railgate.SettlementFilter())).data] == ["shoes", "rent"]
        await sandbox.revoke_device(watch.id)
        await sandbox.put_user("customer-17", status=railgate.UserStatus.BLOCKED)
        for device, code in [(on_watch, "key_revoked"), (on_phone, "user_blocked")]:
            with pytest.raises(railgate.GatewayError.Refused) as caught:
                await device.payment_approvals()
            assert caught.value.problem.code == code

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


def test_after_a_kill_every_answered_create_is_there_and_nothing_is_half_done(tmp_path):
    database, here = str(tmp_path / "sandbox.db"), pathlib.Path(__file__).parent

    def killed_after(answers, name):
        """References that a process reported before it was killed; the last line may be cut off."""
        command = [sys.executable, "create_child.py", database, name]
        with subprocess.Popen(command, cwd=here, stdout=subprocess.PIPE, text=True) as child:
            lines = [child.stdout.readline() for _ in range(answers)]
            child.kill()
            lines += child.stdout.readlines()
        assert child.returncode == -9
        return [line.strip() for line in lines if line.endswith("\n")]

    async def everything(sandbox):
        there, cursor = {}, None
        while True:
            page = await sandbox.settlements(railgate.SettlementFilter(limit=200, cursor=cursor))
            there |= {settlement.reference: settlement for settlement in page.data}
            if not page.has_more:
                return there
            cursor = page.next_cursor

    async def balance(sandbox):
        return {each.currency: each.available for each in await sandbox.balances()}["EUR"]

    async def scenario():
        answered = []
        funded = await balance(await railgate.open_sandbox(database, railgate.SandboxOptions()))
        for round in range(4):
            answered += killed_after(100 + 37 * round, f"k-{round}")
            sandbox = await railgate.open_sandbox(database, railgate.SandboxOptions())
            there = await everything(sandbox)
            assert set(answered) <= set(there)
            # A create is decided, sent and completed in one write: before any work is done here, none is in between.
            assert {each.status for each in there.values()} == {railgate.SettlementStatus.COMPLETED}
            assert funded - await balance(sandbox) == len(there)
            assert len(await sandbox.events(answered[-1])) == 5
            assert (await sandbox.work()).done == 0
            del sandbox

    run(scenario())
