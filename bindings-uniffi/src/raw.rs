//! Signed calls whose responses are not records: documents, exports, the log, and any call that has no method of its own.

use std::collections::HashMap;

use railgate::ErrorCode;
use railgate::client::{Call, Request};

use crate::client::{GatewayClient, SETTLEMENTS, path_of};
use crate::error::{GatewayError, Problem};
use crate::filter::{SettlementFilter, below};
use crate::host::HttpResponse;
use crate::link::TRIES;
use crate::views::Proof;

/// The forms of a receipt besides the record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, uniffi::Enum)]
pub enum ReceiptForm {
    /// The receipt itself: a compact JWS.
    Jws,
    /// A page to print.
    Html,
    /// An A4 page.
    Pdf,
    /// A QR code of the JWS.
    Svg,
    /// Plain text.
    Text,
}

impl ReceiptForm {
    pub(crate) fn media_type(self) -> &'static str {
        match self {
            Self::Jws => "application/jose",
            Self::Html => "text/html",
            Self::Pdf => "application/pdf",
            Self::Svg => "image/svg+xml",
            Self::Text => "text/plain",
        }
    }
}

/// The forms of an export.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, uniffi::Enum)]
pub enum ExportForm {
    /// A table with a header (RFC 4180). Text that a spreadsheet would take for a formula has an apostrophe in front.
    Csv,
    /// A JSON object in each line.
    NdJson,
}

impl ExportForm {
    fn media_type(self) -> &'static str {
        match self {
            Self::Csv => "text/csv",
            Self::NdJson => "application/x-ndjson",
        }
    }
}

impl GatewayClient {
    /// The body of a response of this media type.
    async fn bytes(&self, path: &str, media_type: &str) -> Result<Vec<u8>, GatewayError> {
        let mut request = Request::new("GET", path);
        request.headers.push(("accept".to_owned(), media_type.to_owned()));
        self.link.carry(Call::new(request).repeatable(), TRIES, &|_| true).await.bytes()
    }

    async fn text(&self, path: &str) -> Result<String, GatewayError> {
        let bytes = self.bytes(path, "text/plain").await?;
        String::from_utf8(bytes).map_err(|error| GatewayError::unanswered("answer_unreadable", error.to_string()))
    }
}

#[uniffi::export]
impl GatewayClient {
    /// Makes any call of the gateway's interface, signed, and returns its response whatever the status, with the body byte for byte.
    /// `path`: with the query, such as `/api/v1/operator/overview`. `headers`: further ones, such as `accept`; a body is JSON if they
    /// do not name its `content-type`. After a lost response, a `GET` is sent again, and so is a call with an `idempotency-key`.
    ///
    /// # Errors
    /// `Invalid` for a path that cannot be sent; `Unanswered`: it may have been carried out; `Unsigned`; `Refused` if there is no token.
    #[uniffi::method(default(body = None, headers = None))]
    pub async fn raw(
        &self,
        method: String,
        path: String,
        body: Option<Vec<u8>>,
        headers: Option<HashMap<String, String>>,
    ) -> Result<HttpResponse, GatewayError> {
        let mut request = Request::new(&method.to_ascii_uppercase(), &path);
        request.headers = headers.into_iter().flatten().map(|(name, value)| (name.to_ascii_lowercase(), value)).collect();
        let has = |request: &Request, header: &str| request.headers.iter().any(|(name, _)| name == header);
        if let Some(body) = body {
            request.body = body;
            if !has(&request, "content-type") {
                request.headers.push(("content-type".to_owned(), "application/json".to_owned()));
            }
        }
        let repeatable = matches!(request.method.as_str(), "GET" | "HEAD") || has(&request, "idempotency-key");
        let call = Call::new(request);
        let call = if repeatable { call.repeatable() } else { call };
        self.link.carry(call, TRIES, &|_| true).await.response()
    }

    /// Returns the receipt of a settlement in another form, byte for byte.
    ///
    /// # Errors
    /// As [`GatewayClient::receipt`]; `Refused` with `not_acceptable` if the gateway was built without PDF.
    pub async fn receipt_as(&self, reference: String, form: ReceiptForm) -> Result<Vec<u8>, GatewayError> {
        self.bytes(&path_of(&reference, "/receipt")?, form.media_type()).await
    }

    /// Returns everything that matches, newest first, as one file; `limit` and `cursor` of the filter do not count. The packages'
    /// transports take 16 MiB: list what is larger in pages, or month by month.
    ///
    /// # Errors
    /// As [`GatewayClient::settlements`].
    pub async fn export(&self, filter: SettlementFilter, form: ExportForm) -> Result<Vec<u8>, GatewayError> {
        self.bytes(&below(&format!("{SETTLEMENTS}/export"), filter.selection()?), form.media_type()).await
    }

    /// Returns the proof that the last event of a settlement is in the gateway's log. It can be verified offline with the log's key.
    ///
    /// # Errors
    /// `Refused`, such as `settlement_not_found` or `not_logged_yet`; `Unanswered`, `Unsigned`.
    pub async fn proof(&self, reference: String) -> Result<Proof, GatewayError> {
        self.look(path_of(&reference, "/receipt/proof")?).await
    }

    /// Returns the checkpoint of the log: a signed note (C2SP `tlog-checkpoint`).
    ///
    /// # Errors
    /// `Refused`, `Unanswered`, `Unsigned`.
    pub async fn log_checkpoint(&self) -> Result<String, GatewayError> {
        self.text("/api/v1/log/checkpoint").await
    }

    /// Returns the keys that sign checkpoints: C2SP verifier keys, one in each line, newest first.
    ///
    /// # Errors
    /// `Refused`, `Unanswered`, `Unsigned`.
    pub async fn log_keys(&self) -> Result<String, GatewayError> {
        self.text("/api/v1/log/keys").await
    }

    /// Returns a tile of the log (C2SP `tlog-tiles`), such as `0/x001/x234/067.p/8` or `entries/000.p/5`.
    ///
    /// # Errors
    /// `Refused` with code `tile_not_found`; `Unanswered`, `Unsigned`.
    pub async fn log_tile(&self, tile: String) -> Result<Vec<u8>, GatewayError> {
        if tile.is_empty() || !tile.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'/' | b'.')) || tile.contains("..") {
            let none = ErrorCode::TileNotFound;
            return Err(GatewayError::invalid(Problem::local(none.as_str(), none.title())));
        }
        self.bytes(&format!("/api/v1/log/tile/{tile}"), "application/octet-stream").await
    }
}
