//! What a client tells the simulated operator of its sandbox at a gateway, named as at [`SandboxGateway`](crate::SandboxGateway).

use railgate::client::Request;
use serde::Deserialize;

use crate::client::{Data, GatewayClient, once};
use crate::error::GatewayError;
use crate::sandbox::SandboxFaults;
use crate::values::Decimal;
use crate::views::{Balance, SandboxClock, Scenario, Settlement};

const SIMULATOR: &str = "/api/v1/simulator";

/// How long a clock may be on its way before there is a response, and some time for the way of that.
const LONGEST_ADVANCE_MS: u64 = 30_000;

/// The request to change a clock.
pub(crate) fn clock_body(frozen: Option<bool>, advance_ms: u64) -> String {
    serde_json::json!({"frozen": frozen, "advance_ms": advance_ms}).to_string()
}

/// Part of a reset.
#[derive(Deserialize)]
pub(crate) struct Ended {
    pub(crate) ended: u64,
    next_cursor: Option<String>,
}

#[uniffi::export]
impl GatewayClient {
    /// Returns the scenarios of the simulated operator: participants, and what happens to payments to them.
    ///
    /// # Errors
    /// `Refused`, `Unanswered`, `Unsigned`.
    pub async fn scenarios(&self) -> Result<Vec<Scenario>, GatewayError> {
        let all: Data<Scenario> = self.look(format!("{SIMULATOR}/scenarios")).await?;
        Ok(all.data)
    }

    /// Adds play money to an account and returns the new balance. A call that is sent again after a lost response adds it once.
    ///
    /// # Errors
    /// `Refused`, such as `amount_above_maximum`; `Unanswered`: it may have been added; `Unsigned`.
    pub async fn fund(&self, currency: String, amount: Decimal) -> Result<Balance, GatewayError> {
        let body = serde_json::json!({"currency": currency, "amount": amount.shortest()}).to_string();
        self.call(once("POST", &format!("{SIMULATOR}/fund"), body)?).await
    }

    /// Has the simulated operator decide about a settlement now, whatever its scenario: `submitted`, `unknown`, `completed`,
    /// `failed` (with an optional code of the failure) or `returned`.
    ///
    /// # Errors
    /// `Refused` with code `invalid_state` if that cannot become of it; as [`GatewayClient::settlement`].
    #[uniffi::method(default(code = None))]
    pub async fn advance(&self, reference: String, to: String, code: Option<String>) -> Result<Settlement, GatewayError> {
        let path = crate::client::target_of(&reference)?;
        let body = serde_json::json!({"to": to, "code": code}).to_string();
        self.call(once("POST", &format!("{SIMULATOR}/settlements/{path}/advance"), body)?).await
    }

    /// Returns the clock of the sandbox.
    ///
    /// # Errors
    /// `Refused`, `Unanswered`, `Unsigned`.
    pub async fn clock(&self) -> Result<SandboxClock, GatewayError> {
        self.look(format!("{SIMULATOR}/clock")).await
    }

    /// Stops the clock of the sandbox (`true`) or lets it run (`false`), and advances it first, in milliseconds. Everything that becomes
    /// due on the way is done at its own time; the result says where it is on its way to if that takes longer than 20 seconds. A call that
    /// is sent again after a lost response advances it once.
    ///
    /// # Errors
    /// `Refused`; `Unanswered`: it may have been advanced; `Unsigned`.
    #[uniffi::method(default(frozen = None, advance_ms = 0))]
    pub async fn set_clock(&self, frozen: Option<bool>, advance_ms: u64) -> Result<SandboxClock, GatewayError> {
        let request = once("PUT", &format!("{SIMULATOR}/clock"), clock_body(frozen, advance_ms))?;
        self.slow_call(request, LONGEST_ADVANCE_MS).await
    }

    /// Returns the faults of the simulated operator.
    ///
    /// # Errors
    /// `Refused`, `Unanswered`, `Unsigned`.
    pub async fn faults(&self) -> Result<SandboxFaults, GatewayError> {
        self.look(format!("{SIMULATOR}/faults")).await
    }

    /// Replaces the faults of the simulated operator.
    ///
    /// # Errors
    /// `Refused`, `Unanswered`, `Unsigned`.
    pub async fn set_faults(&self, faults: SandboxFaults) -> Result<SandboxFaults, GatewayError> {
        let request = Request::post(&format!("{SIMULATOR}/faults"), faults.body());
        self.call(Request { method: "PUT".to_owned(), ..request }).await
    }

    /// Starts the sandbox again: cancels what was not sent, has the simulated operator refuse what is open, removes the faults, lets
    /// the clock run and restores the opening balances. Returns how many settlements were ended. History and references stay.
    ///
    /// # Errors
    /// `Refused`, `Unanswered`, `Unsigned`; repeat it to finish.
    pub async fn reset(&self) -> Result<u64, GatewayError> {
        let (mut ended, mut cursor) = (0, None);
        loop {
            let body = serde_json::json!({"cursor": cursor}).to_string();
            let part: Ended = self.call(once("POST", &format!("{SIMULATOR}/reset"), body)?).await?;
            ended += part.ended;
            if part.next_cursor.is_none() {
                return Ok(ended);
            }
            cursor = part.next_cursor;
        }
    }
}
