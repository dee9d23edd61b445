//! The sandbox: a complete gateway inside the page.

use std::sync::Arc;

use railgate::error::Error;
use railgate::sandbox::{Options, Sandbox};
use railgate::store::journal::SandboxJournal;
use wasm_bindgen::prelude::wasm_bindgen;
use wasm_bindgen::{JsError, JsValue};

use crate::boundary::{array, bytes_or_none, json, millis, text, thrown, thrown_as};

/// A gateway with one client and the simulated operator, in memory. After any call that may have changed something,
/// [`Gateway::take_journal`] returns the entries that must be durable before a result of the change is shown.
#[wasm_bindgen]
pub struct Gateway {
    sandbox: Sandbox,
    store: Arc<SandboxJournal>,
}

#[wasm_bindgen]
impl Gateway {
    /// Opens a gateway: a new one, or the one in `snapshot` and `journal`, the concatenated entries since then.
    /// `options`: `{"name", "issuer"}` as JSON, both optional; `seed`: 32 random bytes, fresh each time.
    ///
    /// # Errors
    /// Throws `journal_corrupt` if anything was lost or altered, `journal_version` if a newer program wrote it, or a problem with
    /// the options.
    pub fn open(
        #[wasm_bindgen(unchecked_param_type = "string")] options: &JsValue,
        #[wasm_bindgen(unchecked_param_type = "Uint8Array")] seed: &JsValue,
        #[wasm_bindgen(unchecked_param_type = "number")] now_ms: &JsValue,
        #[wasm_bindgen(unchecked_optional_param_type = "Uint8Array")] snapshot: &JsValue,
        #[wasm_bindgen(unchecked_optional_param_type = "Uint8Array")] journal: &JsValue,
    ) -> Result<Gateway, JsError> {
        let options = Options::parse(&text(options, "options")?).map_err(|error| thrown(&error))?;
        let (seed, now) = (array(seed, "seed")?, millis(now_ms, "now_ms")?);
        let (snapshot, journal) = (bytes_or_none(snapshot, "snapshot")?, bytes_or_none(journal, "journal")?);
        let restored = SandboxJournal::restore(snapshot.as_deref(), &journal.unwrap_or_default())
            .map_err(|error| thrown_as(error.code(), &error.to_string()))?;
        if restored.torn > 0 {
            // A browser's storage writes entries atomically, so this is damage.
            return Err(thrown_as("journal_corrupt", "the last entry of the journal is incomplete"));
        }
        let store = Arc::new(restored.store);
        let sandbox = Sandbox::open(Arc::<SandboxJournal>::clone(&store), &options, seed, now).map_err(|error| thrown(&error))?;
        Ok(Self { sandbox, store })
    }

    /// Executes a call, `{"call": …}` as JSON, and returns the answer, `{"status", "ok"}` or `{"status", "error"}`. For a receipt
    /// in a readable form, the answer contains the parts from which the module `sheet` draws it.
    ///
    /// # Errors
    /// Throws for arguments of the wrong type.
    pub fn call(
        &self,
        #[wasm_bindgen(unchecked_param_type = "number")] now_ms: &JsValue,
        #[wasm_bindgen(unchecked_param_type = "string")] request: &JsValue,
    ) -> Result<String, JsError> {
        Ok(self.sandbox.call_undrawn(millis(now_ms, "now_ms")?, &text(request, "request")?))
    }

    /// Does all due tasks. Returns `{"due", "done"}`: when the next task is due, or null, and how many tasks were done.
    ///
    /// # Errors
    /// Throws for arguments of the wrong type, and `internal`.
    pub fn work(&self, #[wasm_bindgen(unchecked_param_type = "number")] now_ms: &JsValue) -> Result<String, JsError> {
        json(&self.sandbox.work(millis(now_ms, "now_ms")?).map_err(|error| thrown(&error))?)
    }

    /// The journal entries since the last call, concatenated; `undefined` if nothing changed.
    ///
    /// # Errors
    /// Throws `internal`.
    pub fn take_journal(&self) -> Result<Option<Vec<u8>>, JsError> {
        let entries = self.store.take().map_err(|cause| thrown(&Error::from(cause)))?;
        Ok(Some(entries).filter(|entries| !entries.is_empty()))
    }

    /// The complete state, including changes that were not taken yet; it replaces every entry up to now.
    ///
    /// # Errors
    /// Throws `internal`.
    pub fn snapshot(&self) -> Result<Vec<u8>, JsError> {
        self.store.snapshot().map_err(|cause| thrown(&Error::from(cause)))
    }
}
