"""Who calls the gateway in a run, and the things that exist before it: what the document's examples name."""

import base64
import re

from gateway import Holder

# What a reviewer, an approver and an administrator do.
REVIEWS = re.compile("^/api/v1/bundles/[^/]+/(approve|publish|reject|request-changes|revoke|start-review)$")
DECIDES = re.compile("^/api/v1/operator/approvals/[^/]+/(confirm|decline)$")
ADMINISTERS = re.compile("^/api/v1/operator/operators")
# What only a user's device may call.
CONSENTS = re.compile("^/api/v1/mobile/(approvals|notifications|preferences|push-subscriptions)")
# What its caller could not call anything after: the token or key is gone, or the sandbox is not as it was.
PARTS = re.compile("^/api/v1/(auth/keys|auth/tokens/revoke|simulator/(clock|faults|reset))")


class People:
    """A client, a device of one of its users, and an operator of each role."""

    def __init__(self, api: str, codes: dict[str, str]) -> None:
        self.api = api
        self.shop, enrolled = self.client("shop")
        _, bystander = self.client("bystander")
        self.phone, device = self.device("customer-17")
        _, other_device = self.device("customer-18")
        self.operators, operators = {}, []
        for role, code in codes.items():
            self.operators[role] = Holder(api, "live")
            operators.append(self.operators[role].enrol("/operator/enrollments", {"code": code, "name": role}))
        invited = self.operators["admin"].call(
            "POST", "/operator/operators", {"name": "Ada", "role": "viewer", "reason": "new in the team"}
        )
        spare = {"id": "spare", "name": "Spare", "rail": "simulator", "mode": "sandbox", "reason": "to be changed"}
        self.operators["agent"].call("PUT", "/operator/providers/spare", spare)
        # Whoever calls stays as they are: a change of one of them is made to somebody else of their kind.
        self.stand_ins = {enrolled["client_id"]: bystander["client_id"], device["device"]["id"]: other_device["device"]["id"]}
        self.stand_ins |= {one["operator"]["id"]: invited["operator"]["id"] for one in operators}
        self.stand_ins |= {"customer-17": "customer-18", "simulator": "spare"}
        # The ids in the document's examples, and those of what there is.
        self.examples = self.things() | {
            "cli_01KAJX3M7Q5W8ZP9D2R4T6V8YB": bystander["client_id"],
            "dev_01KAJX3M7Q5W8ZP9D2R4T6V8YB": other_device["device"]["id"],
            "opr_01KAJX3M7Q5W8ZP9D2R4T6V8YB": invited["operator"]["id"],
        }

    def client(self, name: str) -> tuple[Holder, dict]:
        holder = self.newcomer()
        return holder, holder.enrol("/auth/enrollments", {"client_name": name})

    def newcomer(self) -> Holder:
        return Holder(self.api, "sandbox")

    def device(self, user: str) -> tuple[Holder, dict]:
        code = self.shop.call("POST", "/mobile/enrollment-codes", {"user": user})["code"]
        holder = self.newcomer()
        return holder, holder.enrol("/mobile/devices", {"code": code, "platform": "android", "name": "Phone"})

    def things(self) -> dict[str, str]:
        call, settlements = self.shop.call, "/gateway/settlements"
        paid = {"amount": 12.5, "currency": "EUR", "to": "sim:ok", "reference": "invoice-2026-0001"}
        call("POST", settlements, paid, Prefer="wait=30")
        call("POST", f"{settlements}/invoice-2026-0001/reverse", {"amount": 1, "reference": "refund-1"})
        # Every payment of this user waits for them.
        call("PUT", "/mobile/users/customer-17", {"limits": [{"currency": "EUR", "approval_over": 0}]})
        waiting = call("POST", settlements, {**paid, "reference": "waiting", "user": "customer-17"})
        webhook = call("POST", "/webhooks", {"url": "http://127.0.0.1:9/"})
        delivery = call("POST", f"/webhooks/{webhook['id']}/test", {})
        return {
            "stl_01KAJX3M7Q5W8ZP9D2R4T6V8YB": waiting["id"],
            "whk_01KAJX3M7Q5W8ZP9D2R4T6V8YB": webhook["id"],
            "dlv_01KAJX3M7Q5W8ZP9D2R4T6V8YB": delivery["delivery"]["id"],
        }

    def caller(self, method: str, path: str) -> Holder:
        """Who may make this call."""
        if method != "GET" and PARTS.match(path):
            return self.client("passing")[0]
        if CONSENTS.match(path):
            return self.phone
        if DECIDES.match(path):
            return self.operators["approver"]
        if ADMINISTERS.match(path) and method != "GET":
            return self.operators["admin"]
        if path.startswith("/api/v1/operator/") or REVIEWS.match(path):
            return self.operators["viewer" if method == "GET" else "agent"]
        return self.shop

    def stand_in(self, name):
        """Whom, or what, a change is made to instead."""
        return self.stand_ins.get(name, name) if isinstance(name, str) else name
