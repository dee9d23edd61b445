"""The README's programs do what it says."""

import pathlib
import re
from decimal import Decimal

import railgate
from conftest import request, run

README = (pathlib.Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")
FIRST, TOUR, PHONE = re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL)


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
