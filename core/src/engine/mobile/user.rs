//! Users as their client manages them, and the codes with which their devices enrol.

use sha2::{Digest as _, Sha256};

use crate::api::{Caller, DeviceCodeView, UserView};
use crate::engine::Engine;
use crate::engine::group::{Command, Decision, Deed};
use crate::engine::once::Answers;
use crate::error::{Error, ErrorCode, Result};
use crate::ids::{Crockford, UserNo};
use crate::receipt::{Code, Drawing};
use crate::store::record::{AuditAction, DeviceCodeRecord, Digest32, Key, Record, UserRecord, UserStatus, Version};
use crate::store::{Scan, Unique, Write, typed_all};
use crate::terms::UserLimits;
use crate::time::{Millis, rfc3339};

use super::require_active;

/// The address that opens an app with a code, which belongs where it says `{code}`.
pub const APP_LINK: &str = "railgate:enroll?code={code}";
/// How long a code is valid.
pub const DEVICE_CODE_TTL_MS: Millis = 600_000;
/// The characters of a code, the last of which is computed from the others: 75 random bits.
const CODE: usize = 16;

/// Adds or changes an end user of the caller. Returns the user as changed.
#[derive(Debug, Clone)]
pub struct PutUser {
    /// The client.
    pub caller: Caller,
    /// The client's own name for the user.
    pub name: String,
    /// What the user may pay; `None` to leave it.
    pub limits: Option<Vec<UserLimits>>,
    /// Whether the user's devices may call; `None` to leave it.
    pub status: Option<UserStatus>,
}

impl Command for PutUser {
    type Output = UserRecord;

    fn is_repeatable(&self) -> bool {
        true
    }

    fn decide(&self, d: &mut Decision<'_, '_>) -> Result<UserRecord> {
        let Self { caller, name, limits, status } = self;
        let found: Option<UserRecord> = d.overlay.find(&Unique::UserName(caller.client, caller.mode, name.clone()))?;
        let Some(known) = found else {
            let user = UserRecord {
                no: d.writer.user_no(),
                client: caller.client,
                mode: caller.mode,
                name: name.clone(),
                status: status.unwrap_or(UserStatus::Active),
                limits: limits.clone().unwrap_or_default(),
                preferences: String::new(),
                created_at: d.overlay.now,
                version: Version::default().next(),
            };
            d.overlay.insert(user.clone());
            return Ok(user);
        };
        let changed = UserRecord {
            limits: limits.clone().unwrap_or_else(|| known.limits.clone()),
            status: status.unwrap_or(known.status),
            ..known.clone()
        };
        if changed == known {
            return Ok(known);
        }
        let read = known.version;
        let changed = UserRecord { version: read.next(), ..changed };
        d.overlay.update(changed.clone(), read);
        Ok(changed)
    }

    fn deed(&self, _: Option<&UserRecord>) -> Option<Deed> {
        let detail = serde_json::json!({ "limits": self.limits, "status": self.status });
        Some(Deed::new(AuditAction::PutUser).name(&*self.name).detail(detail.to_string()))
    }
}

impl Answers for PutUser {
    type View = UserView;

    fn view(&self, _: &Decision<'_, '_>, user: &UserRecord) -> Result<UserView> {
        Ok(UserView::from(user))
    }
}

/// Makes a code with which one device of an end user enrols, in place of the one before it. Adds the user if there is none.
#[derive(Debug, Clone)]
pub struct MakeDeviceCode {
    /// The client.
    pub caller: Caller,
    /// The client's own name for the user.
    pub name: String,
    /// What the user may pay; `None` to leave it.
    pub limits: Option<Vec<UserLimits>>,
    /// The address that opens the app, with `{code}` where the code goes.
    pub link: String,
}

/// A code, as it is given out. It is shown only once.
#[derive(Clone)]
pub struct MadeCode {
    /// The user.
    pub user: UserRecord,
    /// The code: four groups of four characters.
    pub code: String,
    /// When it expires.
    pub expires_at: Millis,
}

impl std::fmt::Debug for MadeCode {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("MadeCode").field("user", &self.user.no).finish_non_exhaustive()
    }
}

impl Command for MakeDeviceCode {
    type Output = MadeCode;

    fn is_repeatable(&self) -> bool {
        false
    }

    fn decide(&self, d: &mut Decision<'_, '_>) -> Result<MadeCode> {
        let Self { caller, name, limits, .. } = self;
        let user = PutUser { caller: *caller, name: name.clone(), limits: limits.clone(), status: None }.decide(d)?;
        require_active(&user)?;
        // Only the last one counts: whoever asks for a new code does so because the old one is lost.
        let stored: Vec<DeviceCodeRecord> = typed_all(d.overlay.store.scan(&Scan::device_codes_of(user.no))?)?;
        let added = d.overlay.inserted().filter_map(|record| match record {
            Record::DeviceCode(code) if code.user == user.no => Some(code.hash),
            _ => None,
        });
        let earlier: Vec<Key> = stored.iter().map(|code| code.hash).chain(added).map(Key::DeviceCode).collect();
        for key in earlier {
            if d.overlay.get::<DeviceCodeRecord>(&key)?.is_some() {
                d.overlay.write(Write::Delete(key));
            }
        }
        let mut random = [0; CODE];
        d.engine.env.random(&mut random);
        let code = new_code(&random);
        let (created_at, expires_at) = (d.overlay.now, d.overlay.now.saturating_add(DEVICE_CODE_TTL_MS));
        d.overlay.insert(DeviceCodeRecord { hash: hash(&code), user: user.no, created_at, expires_at });
        Ok(MadeCode { user, code: grouped(&code), expires_at })
    }

    fn deed(&self, _: Option<&MadeCode>) -> Option<Deed> {
        let detail = serde_json::json!({ "limits": self.limits });
        Some(Deed::new(AuditAction::MakeDeviceCode).name(&*self.name).detail(detail.to_string()))
    }
}

impl MadeCode {
    /// An address with the code in it.
    pub(crate) fn in_link(&self, link: &str) -> String {
        link.replace("{code}", &self.code)
    }

    /// The code as it is given out, in this address, with the QR code of that if one is drawn.
    pub(crate) fn shown(&self, link: String, qr: Option<String>) -> DeviceCodeView {
        DeviceCodeView {
            user: self.user.name.clone(),
            code: Some(self.code.clone()),
            link: Some(link),
            qr,
            code_shown: false,
            expires_at: rfc3339(self.expires_at),
            expires_in: DEVICE_CODE_TTL_MS / 1_000,
        }
    }
}

impl Answers for MakeDeviceCode {
    type View = DeviceCodeView;

    fn view(&self, _: &Decision<'_, '_>, made: &MadeCode) -> Result<DeviceCodeView> {
        let link = made.in_link(&self.link);
        let code = Code::of(link.as_bytes(), Drawing::default()).ok_or_else(|| Error::internal("the link fits into no QR code"))?;
        let qr = code.svg(&link);
        Ok(made.shown(link, Some(qr)))
    }

    fn withhold(view: &mut DeviceCodeView) {
        view.code_shown = view.code.take().is_some();
        (view.link, view.qr) = (None, None);
    }
}

impl Engine {
    /// Uses up a code and returns its user. Of several devices that send the same code at once, to any node, one succeeds: a commit that
    /// removes a record fails if it is gone.
    pub(super) fn use_code(&self, d: &mut Decision<'_, '_>, code: &str) -> Result<UserNo> {
        let wrong = || Error::new(ErrorCode::DeviceCodeInvalid);
        let key = Key::DeviceCode(hash(&parsed(code).ok_or_else(wrong)?));
        let found: Option<DeviceCodeRecord> = d.overlay.get(&key)?;
        let valid = found.filter(|code| code.expires_at > d.overlay.now).ok_or_else(wrong)?;
        d.overlay.write(Write::Delete(key));
        Ok(valid.user)
    }
}

/// A code of so many symbols, from as many random bytes; its last symbol is computed.
fn new_code(random: &[u8; CODE]) -> String {
    let mut code: String = random[1..].iter().map(|byte| Crockford::symbol(*byte)).collect();
    code.push(check(&code));
    code
}

/// The symbol that ends a code: whoever mistypes another one is told before the gateway is asked.
fn check(code: &str) -> char {
    Crockford::symbol(Sha256::digest(code.as_bytes())[0])
}

/// A code as it is stored, from what somebody typed; `None` if it cannot be one.
pub fn device_code(typed: &str) -> Option<String> {
    parsed(typed)
}

fn parsed(typed: &str) -> Option<String> {
    let symbols = typed.chars().filter(|c| !matches!(c, '-' | ' '));
    let code: String = symbols.map(Crockford::typed).collect::<Option<_>>()?;
    let (body, last) = code.split_at_checked(CODE - 1)?;
    (last.chars().eq([check(body)])).then_some(code)
}

fn grouped(code: &str) -> String {
    let groups: Vec<&str> = (0..CODE / 4).map(|n| &code[4 * n..4 * n + 4]).collect();
    groups.join("-")
}

fn hash(code: &str) -> Digest32 {
    Sha256::digest(code.as_bytes()).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_is_read_as_people_type_it_and_a_wrong_symbol_is_noticed() {
        let code = new_code(&[7; CODE]);
        assert_eq!(grouped(&code), "7777-7777-7777-777G");
        assert_eq!(parsed(" 7777 7777-7777-777g "), Some(code.clone()));
        let random: Vec<u8> = (0..16).collect();
        let code = new_code(random.as_slice().try_into().unwrap());
        assert_eq!(parsed(&code.replace('1', "l").replace('0', "O")), Some(code.clone()));
        for wrong in ["", "7777-7777-7777-7777", "7777-7777-7777-777", "7777-7777-7777-777GP", "777U-7777-7777-777G", "é777-7777-7777-777P"]
        {
            assert_eq!(parsed(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn codes_differ_in_75_bits() {
        let one = [0b1010_1010; CODE];
        let mut seen = std::collections::HashSet::new();
        for byte in 1..CODE {
            for bit in 0..5 {
                let mut other = one;
                other[byte] ^= 1 << bit;
                assert!(seen.insert(new_code(&other)));
            }
        }
        assert!(!seen.contains(&new_code(&one)));
    }
}
