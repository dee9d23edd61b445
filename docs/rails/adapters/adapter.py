#!/usr/bin/env python3
"""A railgate adapter in one file: replace `Operator` by calls to yours. Python 3.10 and the package `cryptography`.

    ADAPTER_JWKS=https://gateway.example/.well-known/jwks.json ADAPTER_URL=https://adapter.example python3 adapter.py
"""
import base64, hashlib, hmac, json, os, re, sqlite3, threading, time, urllib.request, uuid
from decimal import Decimal
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature

class Operator:
    """Knows nobody whose number ends with 404, and needs a second to pay numbers that end with 202."""
    done = {}
    def payee(self, to):
        return {"match": "no_match"} if to.endswith("404") else {"match": "match", "display_name": "Jane W."}
    def act(self, key, payee, body):
        """Pays, or gives back; `accepted` if in doubt. Called again with the same key after a crash: must not act twice."""
        if payee.endswith("404"): return {"status": "declined", "code": "recipient_not_found", "rail_code": "404"}
        self.done[key] = {"status": "completed", "rail_reference": "OP-" + key}
        return self.done[key] | ({"status": "accepted"} if payee.endswith("202") and "to" in body else {})
    def ask(self, key):
        """What became of it; None if it is not known, so that `act` is called again."""
        return self.done.get(key)

class Refused(Exception): """An answer other than 200: its status and its body."""

def row(key):
    return next((json.loads(found[0]) for found in DB.execute("SELECT row FROM taken WHERE key = ?", (key,))), None)
def save(row):
    DB.execute("INSERT OR REPLACE INTO taken VALUES (?, ?, ?)", (row["key"], row["payment"], json.dumps(row)))
    return row
def act(taken, ask=False):
    payee = (row(taken["payment"]) if taken["payment"] else taken)["body"]["to"]
    said = ask and OPERATOR.ask(taken["key"]) or OPERATOR.act(taken["key"], payee, taken["body"])
    return save(taken | {"answer": taken["answer"] | said})
def take(payment, key, body):
    url = body.pop("callback_url", None)  # where to report is no part of what is asked
    with LOCK:
        if known := row(key):
            if (known["payment"], known["body"]) == (payment, body): return known["answer"]
            raise Refused(409, {"error": "this key was taken with another body"})
        refusal = refused(payment, body)
        names = ({"payment": payment, "reversal": key} if payment else {"payment": key}) | {n: body[n] for n in ("amount", "currency")}
        # Stored before anything leaves: after a crash it is `accepted`, and the operator is asked.
        answer = names | ({"status": "declined", "code": refusal} if refusal else {"status": "accepted"})
        taken = save({"key": key, "payment": payment, "body": body, "url": url, "answer": answer})
        taken = taken if refusal else act(taken)
    if taken["answer"]["status"] == "accepted":
        threading.Timer(1, finish, (key,)).start()
    return taken["answer"]
def refused(payment, body):
    if Decimal(body["amount"]) <= 0 or not payment and body["mode"] != ENV["ADAPTER_MODE"]: return "not_allowed"
    if not payment: return None
    paid, others = row(payment), [json.loads(found[0]) for found in DB.execute("SELECT row FROM taken WHERE payment = ?", (payment,))]
    if not paid or paid["answer"]["status"] != "completed" or paid["body"]["currency"] != body["currency"]:
        return "not_allowed"
    back = sum((Decimal(other["body"]["amount"]) for other in others if other["answer"]["status"] != "declined"), Decimal(body["amount"]))
    return "over_limit" if back > Decimal(paid["body"]["amount"]) else None

def finish(key):
    with LOCK:
        taken = act(row(key), ask=True)
    if taken["answer"]["status"] == "accepted":
        return threading.Timer(30, finish, (key,)).start()
    if not taken["url"] or not ENV["ADAPTER_CALLBACK_SECRET"]: return  # the gateway will ask
    identity, at, body = "cb_" + uuid.uuid4().hex, str(int(time.time())), json.dumps(taken["answer"])
    mac = hmac.digest(base64.b64decode(ENV["ADAPTER_CALLBACK_SECRET"].removeprefix("whsec_")), f"{identity}.{at}.{body}".encode(), "sha256")
    headers = {"webhook-id": identity, "webhook-timestamp": at, "webhook-signature": "v1," + base64.b64encode(mac).decode()}
    headers["content-type"] = "application/json"
    try:
        urllib.request.urlopen(urllib.request.Request(taken["url"], body.encode(), headers), timeout=15).close()
    except OSError as error:
        print(f"the callback about {key} was not taken: {error}", flush=True)

def verify(method, path, headers, body):
    if ENV["ADAPTER_TOKEN"] and not hmac.compare_digest(headers.get("authorization", ""), "Bearer " + ENV["ADAPTER_TOKEN"]):
        raise Refused(401, {"error": "the token is wrong"})
    try:
        signed, covered = re.fullmatch(r"sig1=(\((.*?)\);.*)", headers["signature-input"]).groups()
        covered, params = re.findall(r'"([^"]+)"', covered), dict(re.findall(r';(\w+)="?([^";]*)', signed))
        digest = "sha-256=:" + base64.b64encode(hashlib.sha256(body).digest()).decode() + ":"
        is_whole = {"authorization", "content-type", "content-digest"} & set(headers) | {"@method", "@target-uri"} <= set(covered)
        is_whole &= not body or headers["content-digest"] == digest
        is_ours = (params["tag"], params["alg"]) == ("railgate-rail", "ecdsa-p256-sha256")
        if not is_whole or not is_ours or abs(time.time() - int(params["created"])) > 300:
            raise ValueError("it covers too little, or is for another body, purpose or time")
        values = headers | {"@method": method, "@target-uri": ENV["ADAPTER_URL"] + path}
        base = "".join(f'"{name}": {values[name]}\n' for name in covered) + f'"@signature-params": {signed}'
        raw = base64.b64decode(headers["signature"].removeprefix("sig1=").strip(":"))
        raw = encode_dss_signature(int.from_bytes(raw[:32], "big"), int.from_bytes(raw[32:], "big"))
        gateway_key(params["keyid"]).verify(raw, base.encode(), ec.ECDSA(hashes.SHA256()))
    except Exception as error:  # whatever it is, the gateway did not sign it
        raise Refused(401, {"error": f"the signature is missing or wrong: {error!r}"}) from error
def gateway_key(kid, keys={}, fetched=[0.0]):
    if kid not in keys and time.time() > fetched[0] + 1:
        fetched[0], number = time.time(), lambda text: int.from_bytes(base64.urlsafe_b64decode(text + "=="), "big")
        with urllib.request.urlopen(JWKS, timeout=5) as answer:
            keys |= {k["kid"]: ec.EllipticCurvePublicNumbers(number(k["x"]), number(k["y"]), ec.SECP256R1()).public_key()
                     for k in json.load(answer)["keys"] if k.get("crv") == "P-256"}
    return keys[kid]

def serve(method, path, headers, body):
    verify(method, path, headers, body)
    given, parts = json.loads(body or "{}"), re.fullmatch(r"/railgate/v1/payments/([\w-]{1,64})(?:/reversals/([\w-]{1,64}))?", path)
    if (method, path) == ("GET", "/railgate/v1/health"):
        return {"status": "up", "verifies_signatures": True}
    if (method, path) == ("POST", "/railgate/v1/payees"):
        return OPERATOR.payee(given["to"])
    if not parts or method not in ("GET", "PUT"):
        raise Refused(404, {"error": "there is no such endpoint"})
    key, payment = parts[2] or parts[1], parts[1] if parts[2] else None
    if method == "PUT": return take(payment, key, given)
    taken = row(key)
    if taken and taken["payment"] == payment: return taken["answer"]
    raise Refused(404, {"authoritative": True})

class Handler(BaseHTTPRequestHandler):
    protocol_version, log_message = "HTTP/1.1", lambda *_: None
    def do(self):
        body = self.rfile.read(min(int(self.headers.get("content-length") or 0), 65_536))
        try:
            status, said = 200, serve(self.command, self.path, {name.lower(): value for name, value in self.headers.items()}, body)
        except Refused as refused:
            status, said = refused.args
        except (KeyError, TypeError, ValueError, ArithmeticError) as error:
            status, said = 400, {"error": f"the request cannot be read: {error!r}"}
        text = json.dumps(said).encode()
        self.send_response(status)
        for name, value in {"content-type": "application/json", "content-length": str(len(text))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(text)
    do_GET = do_PUT = do_POST = do

if __name__ == "__main__":
    defaults = {"LISTEN": "127.0.0.1:8100", "URL": "", "TOKEN": "", "CALLBACK_SECRET": "", "MODE": "sandbox", "STORE": "adapter.db"}
    ENV = {"ADAPTER_" + name: value for name, value in defaults.items()} | dict(os.environ)
    OPERATOR, LOCK, JWKS = Operator(), threading.RLock(), os.environ["ADAPTER_JWKS"]  # the address of the gateway's keys
    host, port = ENV["ADAPTER_LISTEN"].rsplit(":", 1)
    DB = sqlite3.connect(ENV["ADAPTER_STORE"], check_same_thread=False, isolation_level=None)  # with synchronous = FULL
    DB.execute("CREATE TABLE IF NOT EXISTS taken (key TEXT PRIMARY KEY, payment TEXT, row TEXT)")
    for (key,) in DB.execute("SELECT key FROM taken WHERE json_extract(row, '$.answer.status') = 'accepted'").fetchall():
        threading.Timer(0, finish, (key,)).start()  # what was open when the last run ended
    server = ThreadingHTTPServer((host, int(port)), Handler)
    ENV["ADAPTER_URL"] = ENV["ADAPTER_URL"] or f"http://{host}:{server.server_address[1]}"
    print("listening on " + ENV["ADAPTER_URL"], flush=True)
    server.serve_forever()
