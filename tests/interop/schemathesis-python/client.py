"""Calls a gateway as its OpenAPI document says, and as it does not:  python client.py CALLERS URL CODES

CALLERS is `signed`, for calls that are signed by whoever may make them, or `unsigned`, for calls without any signature. CODES is a JSON
object with an invitation's code for each role of operators. Fails, and prints what is not as documented, if something is not.
"""

import json
import os
import re
import sys
from itertools import count
from pathlib import Path

import requests
import schemathesis
from schemathesis.cli import schemathesis as run
from schemathesis.core.failures import AcceptedNegativeData
from schemathesis.openapi.checks import RejectedPositiveData

from beyond import is_beyond
from people import People

CALLERS, URL, CODES = sys.argv[1], sys.argv[2], json.loads(sys.argv[3])

# Where somebody enrols, and the key in the document's examples.
ENROLS = re.compile("^/api/v1/(auth/enrollments|mobile/devices|operator/enrollments)$")
EXAMPLE_KEY = "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"

people = People(f"{URL}/api/v1", CODES)
serial = count(1)


@schemathesis.hook
def before_load_schema(context, raw_schema):
    """The document's examples name what there is."""

    def named(value):
        if isinstance(value, dict):
            return {name: named(member) for name, member in value.items()}
        if isinstance(value, list):
            return [named(element) for element in value]
        return people.examples.get(value, value) if isinstance(value, str) else value

    raw_schema.update(named(dict(raw_schema)))


# --- Signatures ------------------------------------------------------------------------------------------------------


class Signature(requests.auth.AuthBase):
    def __init__(self, operation) -> None:
        self.method, self.path = operation.method.upper(), operation.path
        self.newcomer = None

    def __call__(self, request: requests.PreparedRequest) -> requests.PreparedRequest:
        # To be shown, what was sent is prepared once more.
        return request if "Signature" in request.headers else (self.newcomer or people.caller(self.method, self.path))(request)

    def enrol(self, body: dict) -> dict:
        """The body with a new key in place of the document's example, to be signed with it."""
        self.newcomer = people.newcomer()
        return {**body, "jwk": self.newcomer.jwk}


class Signed:
    def get(self, case, context):
        return Signature(context.operation)

    def set(self, case, data, context):
        case._auth = data


if CALLERS == "signed":
    schemathesis.auth(refresh_interval=None, retry_on=[])(Signed)

# --- Calls -----------------------------------------------------------------------------------------------------------


def on_this_machine(value):
    """Addresses to which the gateway would send something lead to this machine, where nobody listens."""
    if isinstance(value, dict):
        return {name: on_this_machine(member) for name, member in value.items()}
    if isinstance(value, list):
        return [on_this_machine(element) for element in value]
    if isinstance(value, str):
        return re.sub(r"^(https?)://[^/?#]*", r"\1://127.0.0.1:9", value, flags=re.IGNORECASE)
    return value


def named_once(value):
    """What names one thing must differ from call to call."""
    return f"{value}.{next(serial)}" if isinstance(value, str) and re.fullmatch("[A-Za-z0-9._-]{1,50}", value) else value


def has_example_key(body) -> bool:
    return isinstance(body, dict) and isinstance(body.get("jwk"), dict) and body["jwk"].get("x") == EXAMPLE_KEY


@schemathesis.hook
def before_call(context, case, kwargs):
    body = on_this_machine(case.body)
    if isinstance(body, dict) and "reference" in body:
        body["reference"] = named_once(body["reference"])
    if isinstance(case._auth, Signature) and ENROLS.match(case.operation.path) and has_example_key(body):
        body = case._auth.enrol(body)
    # A body that is set is validated again, which takes long.
    if body != case.body:
        case.body = body
    headers = case.headers or {}
    for name, value in headers.items():
        if name == "Idempotency-Key":
            headers[name] = named_once(value)
        # Waiting shows nothing more, and takes up to 30 seconds.
        if name == "Prefer" and re.fullmatch("wait=[0-9]+", str(value)):
            headers[name] = "wait=1"
    if str(case.query.get("wait")).isdecimal():
        case.query["wait"] = min(int(case.query["wait"]), 1)
    if case.method != "GET":
        for name, value in (case.path_parameters or {}).items():
            case.path_parameters[name] = people.stand_in(value)


@schemathesis.serializer("application/zip", "application/xml", "text/csv", "text/xml")
def as_it_is(context, value):
    return {"data": value if isinstance(value, bytes) else str(value).encode()}


def says_nothing(headers) -> bool:
    """Whether headers that count as wrong are not, or the other way round: to HTTP, all values are texts, spaces around them do not count,
    and a request may have more headers than a document says (RFC 9110)."""
    values = headers.values()
    return "x-schemathesis-unknown-property" in headers or any(not isinstance(value, str) or value != value.strip() for value in values)


@schemathesis.hook
def filter_failure(context, failure, case, response):
    about_data = isinstance(failure, (AcceptedNegativeData, RejectedPositiveData))
    if about_data and says_nothing(case.headers or {}):
        return False
    return not (isinstance(failure, RejectedPositiveData) and is_beyond(response.json()))


# --- The run ---------------------------------------------------------------------------------------------------------

run([
    *("--config-file", str(Path(__file__).with_name("schemathesis.toml"))),
    *("run", f"{URL}/openapi.json", "--seed", os.environ.get("RAILGATE_SCHEMA_SEED", "1")),
    # Without a signature, nothing gets as far as being made up.
    *("--phases", "examples,coverage,fuzzing,stateful" if CALLERS == "signed" else "coverage"),
    *("--max-examples", os.environ.get("RAILGATE_SCHEMA_EXAMPLES", "3"), "--no-color"),
    *sys.argv[4:],
])
