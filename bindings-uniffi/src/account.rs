//! The client's balance in one currency, its statement, and money that an operator moved.

use railgate::ErrorCode;

use crate::client::{GatewayClient, part};
use crate::error::GatewayError;
use crate::filter::{StatementFilter, StatementPage, below};
use crate::views::{Balance, Movement};

const BALANCES: &str = "/api/v1/balances";

#[uniffi::export]
impl GatewayClient {
    /// Returns the balance in one currency.
    ///
    /// # Errors
    /// `Refused` with code `balance_not_found`; `Unanswered`, `Unsigned`.
    pub async fn balance(&self, currency: String) -> Result<Balance, GatewayError> {
        self.look(format!("{BALANCES}/{}", part(&currency, ErrorCode::BalanceNotFound)?)).await
    }

    /// Returns a page of the statement of one currency, newest first: each posted transfer, and the balance after it.
    ///
    /// # Errors
    /// As [`GatewayClient::balance`].
    pub async fn statement(&self, currency: String, filter: StatementFilter) -> Result<StatementPage, GatewayError> {
        let path = format!("{BALANCES}/{}/entries", part(&currency, ErrorCode::BalanceNotFound)?);
        self.look(below(&path, filter.query())).await
    }

    /// Returns a deposit, a withdrawal or a change of credit, by the operator's reference.
    ///
    /// # Errors
    /// `Refused` with code `movement_not_found`; `Unanswered`, `Unsigned`.
    pub async fn movement(&self, reference: String) -> Result<Movement, GatewayError> {
        self.look(format!("{BALANCES}/movements/{}", part(&reference, ErrorCode::MovementNotFound)?)).await
    }
}
