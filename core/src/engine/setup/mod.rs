//! Providers, routes, the terms of clients and where clients are, as data: each change is a row that stays, and what is in force is what
//! the rows say in order.
//!
//! The number of a row is the revision of the configuration. A change therefore conflicts with any other that was made meanwhile, at
//! whichever node, and nothing is overwritten unseen. Nodes follow the rows: a change is in force everywhere within seconds. Only the
//! last row about a provider has its secrets; a change removes them from the row before it.

mod agree;
mod credit;
mod observe;
mod put;
mod show;
mod view;

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, PoisonError, RwLockReadGuard};

use zeroize::Zeroizing;

use super::cell::ClientPlace;
use super::config::Config;
use super::group::ROUNDS;
use crate::engine::Engine;
use crate::error::{Error, ErrorCode, Result};
use crate::ids::{ClientNo, ProviderNo, Ulid};
use crate::rail::Rails;
use crate::route::health::Reading;
use crate::route::{ProviderSpec, RouteRule, Routes, Secrets, Table};
use crate::store::record::{Key, ProviderRecord, RecordKind, SetupRecord, SetupSubject};
use crate::store::{Commit, CommitError, Scan, Store, Write, typed_all};
use crate::terms::Terms;
use crate::time::Millis;
use crate::validate::provider::{parse_provider, parse_routes};
use crate::validate::terms::parse_terms;

pub(crate) use agree::carry_over;
pub(crate) use agree::terms_version;
pub use agree::{EditTerms, PutTerms, TermsEdit};
pub use credit::SetCredit;
#[cfg(feature = "sandbox")]
pub(crate) use observe::Unwatched;
pub(crate) use observe::{Watch, Watching};
#[cfg(feature = "bundles")]
pub(crate) use put::routes_in;
pub use put::{PutProviders, PutRoutes, SwitchProvider};
pub(crate) use put::{Rows, provider_version, routes_version};
pub use show::{document_of, table_of, terms_of};

/// What is in force in this engine.
pub(crate) struct Setup {
    /// The last row that was read.
    last: Option<SetupRecord>,
    /// The providers in the program's configuration.
    built_in: Vec<(ProviderNo, ProviderSpec)>,
    /// The providers in the store, by id.
    applied: BTreeMap<String, Applied>,
    rules: Arc<Vec<RouteRule>>,
    rules_version: i64,
    routes: Arc<Routes>,
    /// The number of the books as a provider, and what they are in each mode; `None` in a program with one client.
    books: Option<(ProviderNo, [ProviderSpec; 2])>,
    terms: HashMap<ClientNo, AppliedTerms>,
    /// Where clients are that move to another gateway, or came from one.
    pub(crate) places: HashMap<ClientNo, Arc<ClientPlace>>,
    /// Those of a client with whom nothing is agreed.
    no_terms: Arc<Terms>,
}

/// What an operator agreed with a client.
#[derive(Debug, Clone)]
pub struct AppliedTerms {
    /// The client.
    pub client: Ulid,
    /// The revision that changed them last.
    pub version: i64,
    /// When that was.
    pub updated_at: Millis,
    /// The terms.
    pub terms: Arc<Terms>,
}

/// A provider as an operator configured it.
#[derive(Debug, Clone)]
pub struct Applied {
    /// The provider's number.
    pub no: ProviderNo,
    /// The revision that changed it last.
    pub version: i64,
    /// When that was.
    pub updated_at: Millis,
    /// The provider, with its secrets.
    pub spec: ProviderSpec,
}

impl Setup {
    /// The configuration of the program alone.
    pub(crate) fn begin(store: &dyn Store, config: &Config, watch: &dyn Watch, books: Option<[ProviderSpec; 2]>) -> Result<Self> {
        if let Some(spec) = config.providers.iter().find(|spec| config.rails.get(&spec.rail).is_none()) {
            return Err(Error::internal(format!("provider {} uses rail {}, which this gateway does not support", spec.id, spec.rail)));
        }
        let reserved = books.iter().flatten().find(|own| config.providers.iter().any(|spec| spec.id == own.id));
        if let Some(own) = reserved {
            return Err(Error::internal(format!("the gateway itself is the provider {}: no other can have this id", own.id)));
        }
        let ids: Vec<&str> = config.providers.iter().chain(books.iter().flatten().take(1)).map(|spec| &*spec.id).collect();
        let mut numbers = number_providers(store, &ids)?;
        let books = books.and_then(|specs| Some((numbers.pop()?, specs)));
        let built_in = numbers.into_iter().zip(config.providers.iter().cloned()).collect();
        let mut setup = Self {
            last: None,
            built_in,
            applied: BTreeMap::new(),
            rules: Arc::default(),
            rules_version: 0,
            routes: Arc::default(),
            books,
            terms: HashMap::new(),
            places: HashMap::new(),
            no_terms: Arc::default(),
        };
        setup.put_in_force(None, watch, &config.rails, &[]);
        Ok(setup)
    }

    fn renew(&mut self, watch: &dyn Watch, rails: &Rails, changed: &[ProviderNo]) {
        self.put_in_force(Some(self.rules.clone()), watch, rails, changed);
    }

    /// Those of the program first, in its order, each as an operator changed it; then the others, in order of their ids.
    fn put_in_force(&mut self, table: Option<Arc<dyn Table>>, watch: &dyn Watch, rails: &Rails, changed: &[ProviderNo]) {
        let current = |(no, spec): &(ProviderNo, ProviderSpec)| self.applied.get(&spec.id).map_or((*no, spec.clone()), Applied::entry);
        let mut providers: Vec<_> = self.built_in.iter().map(current).collect();
        let others = self.applied.values().filter(|it| self.built_in.iter().all(|(_, spec)| spec.id != it.spec.id));
        // An operator may have given a provider the id of the books before it was taken.
        let others = others.filter(|it| self.books.as_ref().is_none_or(|(no, _)| *no != it.no));
        providers.extend(others.map(Applied::entry));
        let mut routes = Routes::new(providers, table);
        if let Some((no, specs)) = &self.books {
            routes = routes.with_books(*no, specs.clone());
        }
        self.routes = Arc::new(watch.observed(routes, rails, changed));
    }
}

impl Applied {
    fn entry(&self) -> (ProviderNo, ProviderSpec) {
        (self.no, self.spec.clone())
    }
}

impl Engine {
    /// What is in force now.
    pub(crate) fn setup_now(&self) -> RwLockReadGuard<'_, Setup> {
        self.setup.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// The providers and routes in force.
    pub fn routes(&self) -> Arc<Routes> {
        Arc::clone(&self.setup_now().routes)
    }

    /// What this engine knows about each provider outside the gateway, by id.
    pub fn readings(&self) -> Vec<(String, Reading)> {
        let routes = self.routes();
        let reading = |(no, spec): (ProviderNo, &Arc<ProviderSpec>)| Some((spec.id.clone(), routes.pulse(no)?.reading()));
        routes.providers().filter_map(reading).collect()
    }

    /// The providers that operators configured, in order of their ids.
    pub fn applied_providers(&self) -> Vec<Applied> {
        self.setup_now().applied.values().cloned().collect()
    }

    /// The table of routes and its version; 0 if there never was one.
    pub fn applied_routes(&self) -> (Arc<Vec<RouteRule>>, i64) {
        let setup = self.setup_now();
        (setup.rules.clone(), setup.rules_version)
    }

    /// What is agreed with a client.
    pub(crate) fn terms(&self, client: ClientNo) -> Arc<Terms> {
        let setup = self.setup_now();
        Arc::clone(setup.terms.get(&client).map_or(&setup.no_terms, |it| &it.terms))
    }

    /// The terms of a client; `None` if there never were any.
    pub fn applied_terms(&self, client: ClientNo) -> Option<AppliedTerms> {
        self.setup_now().terms.get(&client).cloned()
    }

    /// The terms of all clients that have some, in order of the clients' numbers.
    pub fn all_applied_terms(&self) -> Vec<(ClientNo, AppliedTerms)> {
        let setup = self.setup_now();
        let mut all: Vec<_> = setup.terms.iter().map(|(client, it)| (*client, it.clone())).collect();
        all.sort_by_key(|(client, _)| *client);
        all
    }

    /// Puts into force what this or another node has changed since the last call; returns whether there was something. Call it every
    /// few seconds: without a change it costs one read of one row.
    ///
    /// Where the last row is no longer what it was, a standby without it has taken over: everything is read again.
    ///
    /// # Errors
    /// `internal` if a row cannot be understood, for example because another node has a rail that this one does not: what was in
    /// force before it stays.
    pub fn follow_setup(&self) -> Result<bool> {
        loop {
            let known = self.setup_now().last.clone();
            // Whoever was faster may have read less: the rest must be in force when this returns, too.
            if let Some(changed) = self.follow_setup_from(known)? {
                return Ok(changed);
            }
        }
    }

    /// The same from this row on; `None` if another thread has gone on from it meanwhile.
    fn follow_setup_from(&self, known: Option<SetupRecord>) -> Result<Option<bool>> {
        let rows_after = |revision| typed_all::<SetupRecord>(self.store.scan(&Scan::after(&Key::Setup(revision), usize::MAX))?);
        let mut rows = rows_after(known.as_ref().map_or(0, |row| row.revision - 1))?;
        let is_lost = known.is_some() && rows.first() != known.as_ref();
        if is_lost {
            rows = rows_after(0)?;
        } else {
            rows.drain(..usize::from(known.is_some()));
            if rows.is_empty() {
                return Ok(Some(false));
            }
        }
        // Only the last row about a subject counts: earlier ones may name a rail that is gone.
        let latest: BTreeMap<_, _> = rows.iter().map(|row| ((row.subject, row.provider, row.client), row)).collect();
        let (mut rules, mut applied, mut terms, mut places) = (None, Vec::new(), Vec::new(), Vec::new());
        for row in latest.into_values() {
            match row.subject {
                SetupSubject::Provider => applied.push(self.applied(row)?),
                SetupSubject::Routes => {
                    rules = Some((parse_routes(row.document.as_bytes()).map_err(|e| unreadable(row, &e))?, row.revision))
                }
                SetupSubject::Terms => terms.extend(agreed(row)?),
                SetupSubject::Place => places.extend(ClientPlace::of(row)?),
            }
        }
        let mut setup = self.setup.write().unwrap_or_else(PoisonError::into_inner);
        if setup.last != known {
            return Ok(None);
        }
        let mut changed: Vec<ProviderNo> = applied.iter().map(|it| it.no).collect();
        if is_lost {
            changed.extend(setup.applied.values().map(|it| it.no));
            (setup.rules, setup.rules_version) = (Arc::default(), 0);
            setup.applied.clear();
            setup.terms.clear();
            setup.places.clear();
        }
        if let Some((rules, version)) = rules {
            (setup.rules, setup.rules_version) = (Arc::new(rules), version);
        }
        setup.applied.extend(applied.into_iter().map(|it| (it.spec.id.clone(), it)));
        setup.terms.extend(terms);
        setup.places.extend(places.into_iter().map(|(client, place)| (client, Arc::new(place))));
        setup.last = rows.pop();
        setup.renew(&*self.watch, &self.config.rails, &changed);
        Ok(Some(true))
    }

    fn applied(&self, row: &SetupRecord) -> Result<Applied> {
        let mut spec = parse_provider(row.document.as_bytes(), &self.config.rails).map_err(|error| unreadable(row, &error))?.spec;
        // A program without a master key calls nobody.
        if self.config.master.is_some() {
            spec.secrets = self.secrets_of(row)?;
        }
        Ok(Applied { no: row.provider, version: row.revision, updated_at: row.at, spec })
    }

    fn secrets_of(&self, row: &SetupRecord) -> Result<Secrets> {
        if row.secrets.is_empty() {
            return Ok(Secrets::default());
        }
        let opened = self.unseal(&secrets_place(row.revision), &row.secrets)?;
        let read: BTreeMap<String, String> = serde_json::from_slice(&opened).map_err(Error::internal)?;
        Ok(Secrets(read.into_iter().map(|(name, secret)| (name, Zeroizing::new(secret))).collect()))
    }
}

/// What a row says about a client.
fn agreed(row: &SetupRecord) -> Result<Option<(ClientNo, AppliedTerms)>> {
    let request = parse_terms(row.document.as_bytes()).map_err(|error| unreadable(row, &error))?;
    let terms = AppliedTerms { client: request.client, version: row.revision, updated_at: row.at, terms: Arc::new(request.terms) };
    Ok(row.client.map(|client| (client, terms)))
}

/// Names a row's secrets; the additional data under which they are sealed.
fn secrets_place(revision: i64) -> String {
    format!("setup/{revision}/secrets")
}

fn unreadable(row: &SetupRecord, error: &Error) -> Error {
    Error::internal(format!("revision {} of the configuration cannot be put into force: {error}", row.revision))
}

/// The numbers of providers by their ids, assigned where the store has none yet.
fn number_providers(store: &dyn Store, ids: &[&str]) -> Result<Vec<ProviderNo>> {
    for _ in 0..ROUNDS {
        let stored: Vec<ProviderRecord> = typed_all(store.scan(&Scan::all(RecordKind::Provider, usize::MAX))?)?;
        let mut next = stored.iter().map(|p| p.no.0).max().unwrap_or(0);
        let mut writes = Vec::new();
        let mut numbered = Vec::new();
        for id in ids {
            let no = stored.iter().find(|p| p.id == *id).map(|p| p.no).unwrap_or_else(|| {
                next += 1;
                writes.push(Write::Insert(ProviderRecord { no: ProviderNo(next), id: (*id).to_owned() }.into()));
                ProviderNo(next)
            });
            numbered.push(no);
        }
        if writes.is_empty() {
            return Ok(numbered);
        }
        match store.commit(&Commit { writes }) {
            Ok(()) => return Ok(numbered),
            Err(CommitError::Conflict(_)) => {}
            Err(error) => return Err(Error::caused(ErrorCode::StoreUnavailable, error)),
        }
    }
    Err(Error::new(ErrorCode::StoreUnavailable))
}
