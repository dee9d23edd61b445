//! The mobile API: end users of clients, their devices, payments that wait for them, what they are told, and what devices measure.

pub(super) mod approvals;
pub(super) mod devices;
pub(super) mod notifications;
pub(super) mod push;
pub(super) mod quality;
pub(super) mod users;

use std::fmt::Write as _;

use railgate::engine::APP_LINK;

/// The address that opens an app with a code of the gateway under this base URL: the code belongs where it says `{code}`.
pub(super) fn app_link(base: &str) -> String {
    let mut link = format!("{APP_LINK}&gateway=");
    for byte in base.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => link.push(byte.into()),
            _ => drop(write!(link, "%{byte:02X}")),
        }
    }
    link
}
