//! What a user wants to be told.

use std::collections::BTreeMap;

use crate::api::{Caller, ChannelsView, PreferencesView, QuietHoursBody};
use crate::engine::group::{Command, Decision};
use crate::engine::{Answers, Engine};
use crate::error::{Error, Result};
use crate::ids::UserNo;
use crate::notification::Preferences;
use crate::store::record::{Key, NotificationKind, UserRecord};
use crate::store::typed;

use super::caller_user;

/// Replaces what a user wants to be told.
#[derive(Debug, Clone)]
pub struct PutPreferences {
    /// The user, on a device.
    pub caller: Caller,
    /// What they want.
    pub wants: Preferences,
}

impl Command for PutPreferences {
    type Output = Preferences;

    fn is_repeatable(&self) -> bool {
        true
    }

    fn decide(&self, d: &mut Decision<'_, '_>) -> Result<Preferences> {
        let user: Option<UserRecord> = d.overlay.get(&Key::User(caller_user(&self.caller)?))?;
        let user = user.ok_or_else(missing)?;
        let preferences = self.wants.to_stored();
        if preferences != user.preferences {
            let read = user.version;
            d.overlay.update(UserRecord { preferences, version: read.next(), ..user }, read);
        }
        Ok(self.wants.clone())
    }
}

impl Answers for PutPreferences {
    type View = PreferencesView;

    fn view(&self, _: &Decision<'_, '_>, wants: &Preferences) -> Result<PreferencesView> {
        Ok(shown(wants))
    }
}

impl Engine {
    /// What the caller wants to be told.
    ///
    /// # Errors
    /// `insufficient_scope` for a caller who is not an end user.
    pub fn preferences(&self, caller: &Caller) -> Result<PreferencesView> {
        Ok(shown(&self.wants_of(caller_user(caller)?)?))
    }

    /// The language in which the caller wants notifications, if they chose one.
    ///
    /// # Errors
    /// See [`Engine::preferences`].
    pub fn preferred_locale(&self, caller: &Caller) -> Result<Option<String>> {
        Ok(self.wants_of(caller_user(caller)?)?.locale)
    }

    fn wants_of(&self, user: UserNo) -> Result<Preferences> {
        let user: Option<UserRecord> = typed(self.store.get(&Key::User(user))?)?;
        Ok(Preferences::of_stored(&user.ok_or_else(missing)?.preferences))
    }
}

fn missing() -> Error {
    Error::internal("an end user is missing")
}

fn shown(wants: &Preferences) -> PreferencesView {
    let kinds: BTreeMap<String, ChannelsView> = NotificationKind::ALL
        .iter()
        .map(|kind| {
            let channels = wants.channels(*kind);
            (kind.as_str().to_owned(), ChannelsView { inbox: channels.inbox, push: channels.push })
        })
        .collect();
    let quiet_hours = wants.quiet.as_ref().map(|quiet| {
        let (from, to, time_zone) = quiet.shown();
        QuietHoursBody { from, to, time_zone }
    });
    PreferencesView { detail: wants.detail.as_str().to_owned(), locale: wants.locale.clone(), quiet_hours, kinds }
}
