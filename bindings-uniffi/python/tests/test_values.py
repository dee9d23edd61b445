"""Tests without a gateway: exact values, validation, webhooks, receipts."""

import base64
import hashlib
import hmac
from datetime import datetime, timedelta, timezone
from decimal import Decimal

import pytest
import railgate
from conftest import request

NOW = datetime(2026, 11, 21, 10, 38, 17, 42_000, tzinfo=timezone.utc)


def problems(error):
    return [(problem.pointer, problem.code) for problem in error.problem.problems]


def test_a_good_request_passes_whatever_form_its_decimal_has():
    for amount in ["10.50", "10.5", "1E+1", "0.01", "999999999999.99"]:
        railgate.validate_settlement(request(amount=amount), NOW)


def test_every_problem_is_told_at_once():
    bad = railgate.SettlementRequest(amount=Decimal("10.505"), currency="EUR", to="nowhere", reference="a b")
    with pytest.raises(railgate.GatewayError.Invalid) as caught:
        railgate.validate_settlement(bad, NOW)
    assert isinstance(caught.value, railgate.GatewayError)
    found = dict(problems(caught.value))
    assert found["/amount"] == "amount_scale" and set(found) == {"/amount", "/to", "/reference"}
    assert not caught.value.problem.retryable


def test_a_payer_reads_what_to_change():
    bad = railgate.SettlementRequest(amount=Decimal("10.505"), currency="EUR", to="sim:declined", reference="r")
    with pytest.raises(railgate.GatewayError.Invalid) as caught:
        railgate.validate_settlement(bad, NOW)
    amount, to = caught.value.problem.problems
    assert caught.value.problem.not_sent and (amount.params, to.params) == ({"max": "2"}, {"nearest": "sim:decline-other"})
    assert railgate.payer_message(amount, "fr-CM") == "Saisissez au plus 2 décimales."
    assert railgate.payer_message(to, "xx").endswith("Did you mean sim:decline-other?")
    assert caught.value.problem.detail == "/amount must have at most 2 decimals, zeros included; and 1 more problem"


def test_times_are_moments():
    railgate.validate_settlement(request(expires_at=NOW + timedelta(milliseconds=1)), NOW)
    with pytest.raises(railgate.GatewayError.Invalid) as caught:
        railgate.validate_settlement(request(expires_at=NOW), NOW)
    assert problems(caught.value)[0][0] == "/expires_at"
    elsewhere = timezone(timedelta(hours=2))
    railgate.validate_settlement(request(expires_at=(NOW + timedelta(seconds=1)).astimezone(elsewhere)), NOW)
    with pytest.raises(TypeError):
        railgate.validate_settlement(request(), NOW.replace(tzinfo=None))


def test_what_is_no_finite_decimal_is_a_typed_error():
    # Written out, the last ones would take gigabytes.
    for amount in ["NaN", "Infinity", "1" * 40, "1" * 4000, "1E+999999999", "-1E+999999999", "1E-999999999"]:
        with pytest.raises(railgate.GatewayError.Invalid):
            railgate.validate_settlement(request(amount=amount), NOW)


def test_an_amount_is_a_decimal_and_nothing_else():
    for amount in [25.0000004, 10, True, "10.50", None]:
        wanted = railgate.SettlementRequest(amount=amount, currency="EUR", to="sim:ok", reference="x1")
        with pytest.raises(TypeError, match="decimal.Decimal"):
            railgate.validate_settlement(wanted, NOW)


SECRET = "whsec_" + base64.b64encode(bytes(range(32))).decode()
BODY = b'{"type":"settlement.completed","timestamp":"2026-11-21T10:38:16.042Z","data":{"sequence":5,"amount":10.50}}'


def signed(body=BODY, at=NOW, message="evt_1"):
    """Signs as Standard Webhooks specifies."""
    stamp = str(int(at.timestamp()))
    mac = hmac.new(bytes(range(32)), b".".join([message.encode(), stamp.encode(), body]), hashlib.sha256)
    signature = "v1," + base64.b64encode(mac.digest()).decode()
    return {"Webhook-Id": message, "webhook-timestamp": stamp, "webhook-signature": signature}


def test_a_genuine_webhook_is_told():
    other = "whsec_" + base64.b64encode(bytes(32)).decode()
    message = railgate.WebhookVerifier([other, SECRET]).verify(signed(), BODY, NOW)
    assert (message.id, message.kind) == ("evt_1", "settlement.completed")
    assert message.at == NOW - timedelta(seconds=1)
    assert message.data == '{"sequence":5,"amount":10.50}'


def test_any_other_is_not():
    verifier = railgate.WebhookVerifier([SECRET])
    late, early = NOW - timedelta(seconds=301), NOW + timedelta(seconds=302)
    for headers, body, code in [
        (signed(), BODY + b" ", "webhook_signature_invalid"),
        ({**signed(), "Webhook-Id": "evt_2"}, BODY, "webhook_signature_invalid"),
        (signed(at=late), BODY, "webhook_too_old"),
        (signed(at=early), BODY, "webhook_too_new"),
        ({}, BODY, "webhook_malformed"),
        (signed(body=b"{}"), b"{}", "webhook_malformed"),
    ]:
        with pytest.raises(railgate.GatewayError.NotGenuine) as caught:
            verifier.verify(headers, body, NOW)
        assert caught.value.problem.code == code
    with pytest.raises(railgate.GatewayError.Invalid):
        railgate.WebhookVerifier(["whsec_!"])


def test_documentation_comes_along():
    assert "at once" in railgate.validate_settlement.__doc__
    assert "safe to repeat" in railgate.GatewayClient.reverse.__doc__


def test_documentation_is_pythons():
    documented = [railgate]
    while documented:
        each = documented.pop()
        text = each.__doc__ or ""
        assert "# Errors" not in text and "crate::" not in text and "[`" not in text, each
        if isinstance(each, type) or each is railgate:
            members = [getattr(each, name) for name in getattr(each, "__all__", vars(each))]
            documented += [m for m in members if isinstance(m, type) and m is not type or callable(m) and hasattr(m, "__code__")]
    assert "Raises:" in railgate.GatewayClient.create.__doc__ and "`GatewayClient.settlement`" in railgate.GatewayClient.status.__doc__


def test_errors_and_records_say_what_is_in_them():
    with pytest.raises(railgate.GatewayError.Invalid) as caught:
        railgate.validate_settlement(request(reference="a b"), NOW)
    problem = caught.value.problem
    assert str(caught.value) == f"{problem.code}: {problem.detail}" and problem.code == "invalid_fields" and problem.detail
    assert repr(caught.value) == f"GatewayError.Invalid({caught.value})"
    assert "'/reference'" in repr(problem) and repr(problem).startswith("Problem(code='invalid_fields', detail=")
    assert str(railgate.TransportError.NoAnswer(detail="lost")) == "lost"
    # Tokens and secrets must not appear in logs.
    header = railgate.HttpHeader(name="authorization", value="Bearer secret")
    sent = railgate.HttpRequest(method="GET", url="http://pay.example", headers=[header], body=b"", timeout_ms=1)
    assert "secret" not in repr(header) + repr(sent)
