//! Tests the Rust side of the boundary in Chromium with the compiler, flags and profile of the shipped modules. There a panic is
//! a trap without a message, so tests fail with an error instead. `test.sh` builds and runs them.
#![cfg_attr(target_family = "wasm", no_main)]

/// Outside the browser there is nothing to run.
#[cfg(not(target_family = "wasm"))]
fn main() -> std::process::ExitCode {
    std::process::ExitCode::FAILURE
}

#[cfg(target_family = "wasm")]
mod in_chromium {
    use js_sys::{Array, Error, Reflect, Uint8Array};
    use railgate_wasm::gateway::Gateway;
    use railgate_wasm::webhook::WebhookVerifier;
    use wasm_bindgen::{JsCast as _, JsError, JsValue};
    use wasm_bindgen_test::{wasm_bindgen_test, wasm_bindgen_test_configure};

    wasm_bindgen_test_configure!(run_in_browser);

    type Tested = Result<(), JsError>;

    const NOW: f64 = 1_795_257_497_042.0;

    fn ensure(holds: bool, what: &str) -> Tested {
        if holds { Ok(()) } else { Err(JsError::new(what)) }
    }

    fn open(journal: Option<&[u8]>) -> Result<Gateway, JsError> {
        let seed = Uint8Array::from([7; 32].as_slice());
        let journal = journal.map_or(JsValue::UNDEFINED, |bytes| Uint8Array::from(bytes).into());
        Gateway::open(&"{}".into(), &seed, &NOW.into(), &JsValue::UNDEFINED, &journal)
    }

    fn call(gateway: &Gateway, request: &str) -> Result<String, JsError> {
        gateway.call(&NOW.into(), &request.into())
    }

    /// The problem text of a thrown error; empty if nothing was thrown.
    fn problem<T>(result: Result<T, JsError>) -> String {
        let thrown = result.err().map(JsValue::from);
        thrown.and_then(|error| error.dyn_into::<Error>().ok()).map(|error| String::from(error.message())).unwrap_or_default()
    }

    /// A gateway with one completed settlement.
    fn paid() -> Result<Gateway, JsError> {
        let gateway = open(None)?;
        let created = call(&gateway, r#"{"call":"create","body":{"amount":10.50,"currency":"EUR","to":"sim:ok","reference":"inv-1"}}"#)?;
        ensure(created.starts_with(r#"{"status":201,"#), &created)?;
        gateway.work(&NOW.into())?;
        let status = call(&gateway, r#"{"call":"status","ref":"inv-1"}"#)?;
        ensure(status.contains(r#""status":"completed""#), &status)?;
        Ok(gateway)
    }

    fn journal(gateway: &Gateway) -> Result<Vec<u8>, JsError> {
        gateway.take_journal()?.ok_or_else(|| JsError::new("nothing was written"))
    }

    #[wasm_bindgen_test]
    fn a_gateway_goes_on_where_its_journal_ends() -> Tested {
        let first = paid()?;
        // The first receipt makes the key, which is then in the journal.
        call(&first, r#"{"call":"receipt","ref":"inv-1"}"#)?;
        let second = open(Some(&journal(&first)?))?;
        for asked in ["get", "events", "receipt"] {
            let request = format!(r#"{{"call":"{asked}","ref":"inv-1"}}"#);
            let (before, after) = (call(&first, &request)?, call(&second, &request)?);
            ensure(before == after && before.starts_with(r#"{"status":200,"#), &format!("{before}\n{after}"))?;
        }
        ensure(first.take_journal()?.is_none(), "take_journal returned the same entries twice")
    }

    #[wasm_bindgen_test]
    fn a_journal_with_any_bit_changed_or_cut_off_anywhere_is_refused() -> Tested {
        let whole = journal(&paid()?)?;
        for at in 0..whole.len() {
            let mut altered = whole.clone();
            altered[at] ^= 1 << (at % 8);
            let refused = problem(open(Some(&altered)));
            ensure(refused.contains("\"journal_"), &format!("byte {at} changed: {refused:?}"))?;
        }
        // It may end between two entries: then the rest was never written.
        let ends = (1..whole.len()).filter(|end| open(whole.get(..*end)).is_ok()).count();
        ensure(ends < 8, &format!("it was accepted when cut off at {ends} places"))
    }

    #[wasm_bindgen_test]
    fn money_is_exact_to_the_last_cent_of_the_largest_amount() -> Tested {
        let gateway = open(None)?;
        let funded = call(&gateway, r#"{"call":"fund","body":{"currency":"CHF","amount":99999999999.99}}"#)?;
        ensure(funded.contains(r#""available":99999999999.99,"#), &funded)?;
        let again = call(&gateway, r#"{"call":"fund","body":{"currency":"CHF","amount":"0.01"}}"#)?;
        ensure(again.contains(r#""available":100000000000.00,"#), &again)
    }

    /// The example of Standard Webhooks 1.0.0.
    #[wasm_bindgen_test]
    fn a_webhook_is_genuine_or_refused() -> Tested {
        let verifier = WebhookVerifier::new(&Array::of1(&"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw".into()))?;
        let verify = |body: &str, seconds: f64| {
            let (id, signature) = ("msg_p5jXN8AQM9LWM0D4loKWxJek", "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
            let body = Uint8Array::from(body.as_bytes());
            verifier.verify(&id.into(), &"1614265330".into(), &signature.into(), &body, &(seconds * 1e3).into())
        };
        verify(r#"{"test": 2432232314}"#, 1_614_265_330.0)?;
        let altered = problem(verify(r#"{"test": 2432232315}"#, 1_614_265_330.0));
        ensure(altered.contains("no_matching_signature"), &altered)?;
        let late = problem(verify(r#"{"test": 2432232314}"#, 1_614_265_631.0));
        ensure(late.contains("timestamp_too_old"), &late)
    }

    #[wasm_bindgen_test]
    fn what_is_thrown_is_an_error_with_a_problem_and_a_pointer() -> Tested {
        let gateway = open(None)?;
        let thrown = problem(gateway.call(&JsValue::from_str("now"), &"{}".into()));
        ensure(thrown.contains(r#""pointer":"/now_ms""#), &thrown)?;
        // The gateway itself is unharmed.
        ensure(call(&gateway, r#"{"call":"balances"}"#)?.starts_with(r#"{"status":200,"#), "it no longer responds")
    }

    #[wasm_bindgen_test]
    fn this_is_a_page_of_chromium() -> Tested {
        let navigator = Reflect::get(&js_sys::global(), &"navigator".into()).map_err(|_| JsError::new("there is no navigator"))?;
        let agent = Reflect::get(&navigator, &"userAgent".into()).ok().and_then(|agent| agent.as_string()).unwrap_or_default();
        let document = Reflect::get(&js_sys::global(), &"document".into()).is_ok_and(|it| it.is_object());
        ensure(agent.contains("Chrome") && document, &agent)
    }
}
