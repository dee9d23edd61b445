//! Calls as JSON texts, for hosts that are not written in Rust: one line in, one line out.
//!
//! The response to `{"call": NAME, …}` with the members listed in [`CALLS`] is `{"status": 200, "ok": …}`, with `"replayed": true`
//! for a replay, or `{"status": 422, "error": …}` with the members of an RFC 9457 problem. `body` and the results are those of the
//! HTTP interface. Bodies are read from the literal text, so no amount passes through a float.

use std::borrow::Cow;
use std::ops::RangeInclusive;

use serde::Serialize;

use super::Sandbox;
use crate::api::{CreateAnswer, ReverseAnswer, ScenarioView};
use crate::error::{Error, ErrorCode, FieldProblem, Result, excerpt};
use crate::gateway::Client;
use crate::rail::sandbox_scenarios;
use crate::receipt::{Form, Receipt};
use crate::time::Millis;
use crate::validate::json::{FieldProblems, Pairs, Value};

/// Every call: its name, its required members, its optional members. `as` is the `dev_` id of the device whose user calls.
const CALLS: &[(&str, &[&str], &[&str])] = &[
    ("create", &["body"], &["as"]),
    ("check", &["body"], &["as"]),
    ("get", &["ref"], &["as"]),
    ("status", &["ref"], &["as"]),
    ("list", &[], &["query", "as"]),
    ("events", &["ref"], &["query", "as"]),
    ("feed", &[], &["query"]),
    ("reverse", &["ref"], &["body", "idempotency_key"]),
    ("reversals", &["ref"], &[]),
    ("reversal", &["ref", "id"], &[]),
    ("reconcile", &["ref"], &[]),
    ("receipt", &["ref"], &["accept", "as"]),
    ("keys", &[], &[]),
    ("balances", &[], &[]),
    ("balance", &["currency"], &[]),
    ("fund", &["body"], &[]),
    ("advance", &["ref", "body"], &[]),
    ("faults", &[], &[]),
    ("set_faults", &["body"], &[]),
    ("reset", &[], &[]),
    ("scenarios", &[], &[]),
    ("clock", &[], &[]),
    ("set_clock", &["body"], &[]),
    ("users", &[], &["query"]),
    ("user", &["user"], &[]),
    ("put_user", &["user", "body"], &[]),
    ("enrollment_code", &["body"], &[]),
    ("enroll_device", &["body"], &[]),
    ("devices", &[], &["user", "as"]),
    ("device", &["id"], &["as"]),
    ("rename_device", &["id", "body"], &["as"]),
    ("revoke_device", &["id"], &["as"]),
    ("approvals", &["as"], &[]),
    ("approval", &["as", "id"], &[]),
    ("decide", &["as", "id", "body"], &[]),
];

/// Maximum number of values in one query parameter.
const MOST_VALUES: usize = 100;

impl Sandbox {
    /// Carries out a call. `now` is the host's time.
    pub fn call(&self, now: Millis, request: &str) -> String {
        self.carry_out(now, request, drawn)
    }

    /// Like [`Sandbox::call`], for a host that renders receipts elsewhere, such as a page that loads the renderer when it first
    /// shows one. A receipt in a form for people is returned as `{"content_type", "parts"}`, from which [`Receipt::of_parts`] and
    /// [`Receipt::drawn`] produce the result of [`Sandbox::call`].
    pub fn call_undrawn(&self, now: Millis, request: &str) -> String {
        self.carry_out(now, request, undrawn)
    }

    /// Like [`Sandbox::call`], for a host in Rust that has no typed method for it: an error is no text.
    ///
    /// # Errors
    /// Those of the call.
    pub fn ask(&self, now: Millis, request: &str) -> Result<String> {
        self.tick(now);
        Request::parse(request).and_then(|request| self.answer(now, &request, drawn))
    }

    fn carry_out(&self, now: Millis, request: &str, draw: Draw) -> String {
        self.tick(now);
        let answer = Request::parse(request).and_then(|request| self.answer(now, &request, draw));
        answer.unwrap_or_else(|error| {
            let (status, problem) = (error.code.http_status(), error.problem_json());
            format!(r#"{{"status":{status},"error":{problem}}}"#)
        })
    }

    fn answer(&self, now: Millis, request: &Request<'_>, draw: Draw) -> Result<String> {
        let device = request.get("as").is_some().then(|| request.text("as").and_then(|id| self.on_device(&id))).transpose()?;
        let client = device.map_or_else(|| self.client(), |device| device.client());
        let party = device.map_or_else(|| self.backend(), |device| device.party());
        let on_device = || device.ok_or_else(|| under("as", FieldProblems::one("required", "is required")));
        match request.call {
            "create" => {
                let CreateAnswer { settlement, replayed } = client.create_json(request.body())?;
                answered(if replayed { 200 } else { 201 }, replayed, &settlement)
            }
            "check" => ok(&client.check_json(request.body())?),
            "get" => ok(&client.settlement(&request.text("ref")?)?),
            "status" => ok(&client.status(&request.text("ref")?)?),
            "list" => ok(&client.list(&request.query()?)?),
            "events" => {
                let (after, limit) = range(&request.query()?, u32::MAX.into())?;
                ok(&client.events(&request.text("ref")?, u32::try_from(after).unwrap_or(u32::MAX), limit)?)
            }
            "feed" => {
                let (after, limit) = range(&request.query()?, i64::MAX)?;
                ok(&client.feed(after, limit)?)
            }
            "reverse" => {
                let key = request.get("idempotency_key").is_some().then(|| request.text("idempotency_key")).transpose()?;
                let ReverseAnswer { view, replayed } = client.reverse_json(&request.text("ref")?, request.body(), key.as_deref())?;
                answered(if replayed || view.reversal.is_none() { 200 } else { 201 }, replayed, &view)
            }
            "reversals" => ok(&Listed { data: client.reversals(&request.text("ref")?)? }),
            "reversal" => ok(&client.reversal(&request.text("ref")?, &request.text("id")?)?),
            "reconcile" => ok(&client.reconcile(&request.text("ref")?)?),
            "receipt" => receipt_as(client, request, draw),
            "keys" => Ok(answer(200, false, &self.keys()?)),
            "balances" => ok(&Listed { data: client.balances()? }),
            "balance" => ok(&client.balance(&request.text("currency")?)?),
            "fund" => ok(&client.fund_json(request.body())?),
            "advance" => ok(&client.advance_json(&request.text("ref")?, request.body())?),
            "faults" => ok(&client.faults()?),
            "set_faults" => ok(&client.set_faults_json(request.body())?),
            "reset" => ok(&self.reset(now)?),
            "scenarios" => ok(&Listed::<&[ScenarioView]> { data: sandbox_scenarios() }),
            "clock" => ok(&self.clock_view(now)),
            "set_clock" => ok(&self.set_clock(now, request.body())?),
            "users" => {
                let (after, limit) = page(request.query()?)?;
                ok(&self.users(&after, limit)?)
            }
            "user" => ok(&self.user(&request.text("user")?)?),
            "put_user" => ok(&self.put_user_json(&request.text("user")?, request.body())?),
            "enrollment_code" => answered(201, false, &self.device_code_json(request.body())?),
            "enroll_device" => answered(201, false, &self.enroll_device_json(request.body())?),
            "devices" => {
                let user = request.get("user").is_some().then(|| request.text("user")).transpose()?;
                ok(&party.devices(user.as_deref())?)
            }
            "device" => ok(&party.device(&request.text("id")?)?),
            "rename_device" => ok(&party.rename_device_json(&request.text("id")?, request.body())?),
            "revoke_device" => ok(&party.revoke_device(&request.text("id")?)?),
            "approvals" => ok(&on_device()?.approvals()?),
            "approval" => ok(&on_device()?.approval(&request.text("id")?)?),
            "decide" => ok(&on_device()?.decide_json(&request.text("id")?, request.body())?),
            _ => Err(Error::internal("a call is listed and not carried out")),
        }
    }
}

fn receipt_as(client: Client<'_>, request: &Request<'_>, draw: Draw) -> Result<String> {
    const JSON: &str = "application/json";
    let accept = if request.get("accept").is_some() { request.text("accept")? } else { Cow::Borrowed(JSON) };
    let receipt = client.receipt(&request.text("ref")?)?;
    match &*accept {
        JSON => ok(&receipt.view()),
        "application/jose" => ok(&Text { content_type: "application/jose", text: receipt.jws }),
        other => draw(receipt, Form::of(other).ok_or_else(|| Error::new(ErrorCode::NotAcceptable))?),
    }
}

/// Returns a receipt in a form for people.
type Draw = fn(Receipt, Form) -> Result<String>;

fn drawn(receipt: Receipt, form: Form) -> Result<String> {
    ok(&Text { content_type: form.content_type(), text: receipt.drawn(form)? })
}

fn undrawn(receipt: Receipt, form: Form) -> Result<String> {
    ok(&Undrawn { content_type: form.content_type(), parts: receipt.parts() })
}

/// The parts from which a receipt in a form for people is rendered.
#[derive(Serialize)]
struct Undrawn {
    content_type: &'static str,
    parts: Vec<String>,
}

/// The response to a call that lists everything.
#[derive(Serialize)]
struct Listed<T> {
    data: T,
}

/// A response that is not JSON.
#[derive(Serialize)]
struct Text {
    content_type: &'static str,
    text: String,
}

fn ok<T: Serialize>(view: &T) -> Result<String> {
    answered(200, false, view)
}

fn answered<T: Serialize>(status: u16, replayed: bool, view: &T) -> Result<String> {
    Ok(answer(status, replayed, &serde_json::to_string(view).map_err(Error::internal)?))
}

fn answer(status: u16, replayed: bool, ok: &str) -> String {
    let replayed = if replayed { r#","replayed":true"# } else { "" };
    format!(r#"{{"status":{status}{replayed},"ok":{ok}}}"#)
}

/// A call with all its required members, and no unknown ones.
struct Request<'a> {
    call: &'static str,
    members: Pairs<'a>,
}

impl<'a> Request<'a> {
    fn parse(text: &'a str) -> Result<Self> {
        let members = Value::parse(text)?.members()?;
        let mut problems = FieldProblems::default();
        let named = members.iter().find(|(name, _)| name == "call").map(|(_, value)| *value);
        let read = |value: Option<Value<'a>>| {
            let name = value.ok_or_else(|| FieldProblems::one("required", "is required"))?.text()?;
            let known = CALLS.iter().find(|(known, ..)| *known == name);
            known.ok_or_else(|| FieldProblems::one("unknown_value", format!("{:?} is not a call of the sandbox", excerpt(&name))))
        };
        let found = problems.note("call", read(named));
        if let Some((_, needed, taken)) = found {
            for (at, (name, _)) in members.iter().enumerate() {
                if members[..at].iter().any(|(earlier, _)| earlier == name) {
                    problems.add(name, FieldProblems::one("duplicate_field", "must not be given twice"));
                } else if name != "call" && !needed.iter().chain(*taken).any(|known| known == name) {
                    problems.add(name, FieldProblems::one("unknown_field", "is not a member of this call"));
                }
            }
            for name in needed.iter().filter(|needed| !members.iter().any(|(name, _)| name == *needed)) {
                problems.add(name, FieldProblems::one("required", "is required"));
            }
        }
        match (problems.into_result(()), found) {
            (Ok(()), Some((call, ..))) => Ok(Self { call, members }),
            (Err(problems), _) => Err(problems.into()),
            (Ok(()), None) => Err(Error::internal("a call was refused and no problem noted")),
        }
    }

    fn get(&self, name: &str) -> Option<Value<'a>> {
        self.members.iter().find(|(known, _)| known == name).map(|(_, value)| *value).filter(|value| value.raw() != "null")
    }

    /// The body as written; empty if there is none.
    fn body(&self) -> &'a str {
        self.get("body").map(Value::raw).unwrap_or_default()
    }

    fn text(&self, name: &'static str) -> Result<Cow<'a, str>> {
        let read = self.get(name).ok_or_else(|| FieldProblems::one("required", "is required")).and_then(Value::text);
        read.map_err(|problems| under(name, problems))
    }

    /// The parameters of a query; a list is a repeated parameter.
    fn query(&self) -> Result<Vec<(String, String)>> {
        let Some(query) = self.get("query") else { return Ok(Vec::new()) };
        let mut pairs = Vec::new();
        for (name, value) in query.members().map_err(|problems| under("query", problems))? {
            let values = if value.raw().starts_with('[') { value.elements(MOST_VALUES) } else { Ok(vec![value]) };
            let texts = values.and_then(|values| values.into_iter().map(parameter).collect::<Result<Vec<_>, _>>());
            let texts = texts.map_err(|problems| under(&name, problems))?;
            pairs.extend(texts.into_iter().map(|text| (name.clone().into_owned(), text)));
        }
        Ok(pairs)
    }
}

/// A parameter's text as in a URL.
fn parameter(value: Value<'_>) -> Result<String, FieldProblems> {
    match value.raw() {
        simple @ ("true" | "false") => Ok(simple.to_owned()),
        _ => value.number().map(Cow::into_owned),
    }
}

fn under(name: &str, inner: FieldProblems) -> Error {
    let mut problems = FieldProblems::default();
    problems.add(name, inner);
    problems.into()
}

/// A parameter that is a number: its name, its value unless given, and its bounds.
type Number = (&'static str, i64, RangeInclusive<i64>);

/// How many there are on a page.
const LIMIT: Number = ("limit", 50, 1..=200);

/// Reads the parameters of a page of events: `after` and `limit`.
fn range(query: &[(String, String)], last: i64) -> Result<(i64, usize)> {
    let mut numbers = [("after", 0, 0..=last), LIMIT];
    read(query, &mut numbers)?;
    let [(_, after, _), (_, limit, _)] = numbers;
    Ok((after, limit as usize))
}

/// Reads the parameters of a page of users: `cursor` and `limit`.
fn page(mut query: Vec<(String, String)>) -> Result<(String, usize)> {
    let cursor = query.iter().position(|(name, _)| name == "cursor").map(|at| query.remove(at).1);
    let mut numbers = [LIMIT];
    read(&query, &mut numbers)?;
    Ok((cursor.unwrap_or_default(), numbers[0].1 as usize))
}

fn read(query: &[(String, String)], numbers: &mut [Number]) -> Result<()> {
    let mut problems = Vec::new();
    for (name, value) in query {
        let Some((_, place, bounds)) = numbers.iter_mut().find(|(known, ..)| known == name) else {
            let name = excerpt(name);
            let message = format!("{name:?} is not a parameter of this call");
            problems.push(FieldProblem::new(name, "unknown_parameter", message));
            continue;
        };
        match value.parse().ok().filter(|number| bounds.contains(number)) {
            Some(number) => *place = number,
            None => {
                let message = format!("{name} must be a whole number from {} to {}", bounds.start(), bounds.end());
                problems.push(FieldProblem::new(name.as_str(), "out_of_range", message));
            }
        }
    }
    if problems.is_empty() { Ok(()) } else { Err(Error::invalid(problems)) }
}
