"""A receiver and a sender of webhooks with the PyPI packages standardwebhooks and svix:

    python client.py standardwebhooks|svix verify|sign FILE

FILE contains a JSON list of webhooks. Prints a line of JSON for each: {"name", "verified"} or {"name", "signature"}.
"""

import json
import sys
from datetime import datetime, timezone

library, action, file = sys.argv[1:]

# --- A receiver ------------------------------------------------------------------------------------------------------

if library == "svix":
    from svix.webhooks import Webhook, WebhookVerificationError
else:
    from standardwebhooks import Webhook, WebhookVerificationError


def is_genuine(secret: str, headers: dict, body: bytes) -> bool:
    """`body` is the request's body as received: parsed and serialised again, it may have different bytes."""
    # One of the libraries parses the body by default, the other never does.
    how = {} if library == "svix" else {"json_parse": False}
    try:
        Webhook(secret).verify(body, headers, **how)
    except WebhookVerificationError:
        return False
    return True


# --- The tests' interface --------------------------------------------------------------------------------------------

with open(file, encoding="utf-8") as cases:
    webhooks = json.load(cases)

for webhook in webhooks:
    name, secret, body = webhook["name"], webhook["secret"], webhook["body"]
    if action == "verify":
        headers = {
            "webhook-id": webhook["id"],
            "webhook-timestamp": str(webhook["timestamp"]),
            "webhook-signature": webhook["signature"],
        }
        print(json.dumps({"name": name, "verified": is_genuine(secret, headers, body.encode())}))
    else:
        at = datetime.fromtimestamp(webhook["timestamp"], tz=timezone.utc)
        print(json.dumps({"name": name, "signature": Webhook(secret).sign(webhook["id"], at, body)}))
