"""The README's programs do what it says."""

import json
import pathlib
import re
from decimal import Decimal

import pytest
import railgate
from conftest import request, run

README = (pathlib.Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")
FIRST, TOUR, PHONE, PARTNER = re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL)


def test_the_first_program(url, capsys):
    exec(compile(FIRST.replace("http://127.0.0.1:8080", url), "README.md", "exec"), {})
    assert capsys.readouterr().out.splitlines()[-2:] == ["COMPLETED", "10.50"]


def test_the_tour_pays_reports_and_shows_the_books(connect, tmp_path, capsys):
    program = {"railgate": railgate, "Decimal": Decimal}
    exec(compile(TOUR, "README.md", "exec"), program)

    async def scenario():
        salaries = [request("100", f"salary-{n}") for n in range(3)]
        sandbox = await railgate.open_sandbox(str(tmp_path / "sandbox.db"), railgate.SandboxOptions())
        client = await connect()
        assert await program["pay"](sandbox, salaries) == await program["pay"](client, salaries) == Decimal("300")
        assert (await program["report"](client, "https://hooks.invalid/railgate")).startswith("whsec_")
        assert len((await program["books"](client)).decode().splitlines()) == 4

    run(scenario())


def test_a_partners_bundle_is_checked_submitted_and_followed(connect):
    program = {}
    exec(compile(PARTNER, "README.md", "exec"), program)
    manifest = {
        "id": "acme",
        "version": "1.0.0",
        "name": "Acme Pay",
        "rail": "adapter",
        "namespaces": ["msisdn"],
        "currencies": ["KES"],
        "contacts": [{"role": "technical", "email": "integration@acme.example"}],
        "sandbox": {"base_url": "https://sandbox.acme.example/railgate", "test": {"to": "msisdn:+254700000001"}},
    }

    async def scenario():
        partner = await connect()
        with pytest.raises(ValueError) as refused:
            await program["submit"](partner, json.dumps({"manifest": {**manifest, "version": "one"}}).encode())
        assert [problem["pointer"] for problem in json.loads(str(refused.value))["errors"]] == ["/manifest/version"]
        assert json.loads((await partner.raw("GET", "/api/v1/bundles")).body)["data"] == []
        path = await program["submit"](partner, json.dumps({"manifest": manifest}).encode())
        bundle = await program["status"](partner, path)
        assert (bundle["status"], bundle["manifest"]["id"]) == ("submitted", "acme")
        timeline = json.loads((await partner.raw("GET", f"{path}/timeline")).body)["data"]
        assert [step["type"] for step in timeline][:2] == ["bundle.created", "bundle.submitted"]

    run(scenario())
