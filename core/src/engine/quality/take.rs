//! Taking points.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use sha2::{Digest as _, Sha256};

use crate::api::{Caller, QualityRefusalView, QualityTakenView, Target};
use crate::engine::group::{Command, Decision, Prefetch};
use crate::engine::once::Answers;
use crate::error::{ErrorCode, FieldProblem, Result};
use crate::ids::{KeyNo, ProviderNo};
use crate::quality::{Devices, Sketch};
use crate::store::record::{Key, QualityRecord, QualitySeenRecord, Version};
use crate::store::{Lookup, Unique};
use crate::time::Millis;
use crate::validate::quality::{QUALITY_AHEAD_MS, QUALITY_WINDOW_MS, QualityInput, QualityPoint};

use super::{DAY, HOUR};

/// How many points of one device are taken on a day (UTC).
pub const QUALITY_DAILY_MAX: usize = 10_000;
/// How many days back a point that is sent again may have arrived for the first time, its device's clock being ahead.
pub(super) const SEEN_DAYS: i64 = (QUALITY_WINDOW_MS + QUALITY_AHEAD_MS) / DAY + 1;
/// The bytes that are kept of the hash of an id.
const ID: usize = 8;

/// Takes what a device measured. A point that it sent before is not counted again, and one that is refused does not affect the others.
#[derive(Debug, Clone)]
pub struct TakeQuality {
    /// The user on the device, or the client.
    pub caller: Caller,
    /// The key that signed: that of the device.
    pub key: KeyNo,
    /// The points, in order.
    pub points: Vec<QualityInput>,
}

/// What became of the points.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct QualityTaken {
    /// How many were taken.
    pub accepted: usize,
    /// How many had been taken before.
    pub duplicates: usize,
    /// The refused ones, by their index.
    pub refused: Vec<(usize, Vec<FieldProblem>)>,
}

/// What points of one hour that agree in everything else add up to.
#[derive(Default)]
struct Part {
    points: i64,
    failures: i64,
    values: Sketch,
}

impl Command for TakeQuality {
    type Output = QualityTaken;

    /// The ids tell what was taken.
    fn is_repeatable(&self) -> bool {
        true
    }

    fn decide(&self, d: &mut Decision<'_, '_>) -> Result<QualityTaken> {
        let mut seen = Seen::read(d, self.key)?;
        let (mut taken, mut parts, mut providers) = (QualityTaken::default(), BTreeMap::<Key, Part>::new(), HashMap::new());
        for (index, point) in self.points.iter().enumerate() {
            let point = match point {
                Ok(point) => point,
                Err(problems) => {
                    taken.refused.push((index, problems.clone()));
                    continue;
                }
            };
            match seen.add(&point.id) {
                Sight::Known => taken.duplicates += 1,
                Sight::TooMany => taken.refused.push((index, vec![too_many()])),
                Sight::New => {
                    taken.accepted += 1;
                    let provider = self.provider(d, point.settlement.as_ref(), &mut providers)?;
                    let part = parts.entry(self.place(point, provider)).or_default();
                    part.points += 1;
                    part.failures += i64::from(point.failed);
                    part.values.add(point.value);
                }
            }
        }
        if taken.accepted > 0 {
            self.write(d, parts)?;
            seen.write(d);
        }
        Ok(taken)
    }

    fn prefetch(&self, prefetch: &mut Prefetch<'_>) {
        let today = prefetch.engine.now().div_euclid(DAY);
        prefetch.add(days(today).map(|day| Lookup::Get(Key::QualitySeen((day, self.key)))));
        let named = self.points.iter().flatten().filter_map(|point| point.settlement.as_ref());
        let lookups: Vec<Lookup> = named.map(|target| self.lookup(prefetch.engine, target)).collect();
        prefetch.add(lookups);
    }

    fn touched(taken: &QualityTaken) -> usize {
        // A point costs a small part of what a payment does.
        taken.accepted.div_ceil(25).max(1)
    }
}

impl Answers for TakeQuality {
    type View = QualityTakenView;

    fn view(&self, _: &Decision<'_, '_>, taken: &QualityTaken) -> Result<QualityTakenView> {
        let refused = taken.refused.iter().map(|(index, errors)| QualityRefusalView { index: *index, errors: errors.clone() });
        Ok(QualityTakenView { accepted: taken.accepted, duplicates: taken.duplicates, refused: refused.collect() })
    }
}

impl TakeQuality {
    /// The record that a point belongs to.
    fn place(&self, point: &QualityPoint, provider: ProviderNo) -> Key {
        let begins_at = point.at.div_euclid(HOUR) * HOUR;
        let (app_version, os) = (point.app_version.clone(), point.os.clone());
        let Caller { client, mode, .. } = self.caller;
        Key::Quality((client, mode, point.metric.clone(), begins_at, point.unit, app_version, os, point.network, provider))
    }

    /// The provider of a settlement, if the caller may see it and it is of the same mode.
    fn provider(&self, d: &Decision<'_, '_>, target: Option<&Target>, known: &mut HashMap<String, ProviderNo>) -> Result<ProviderNo> {
        let Some(target) = target else { return Ok(ProviderNo(0)) };
        let name = target.to_string();
        if let Some(provider) = known.get(&name) {
            return Ok(*provider);
        }
        let provider = match d.engine.find_target(d.overlay, &self.caller, target) {
            Ok(settlement) if settlement.mode == self.caller.mode => settlement.provider,
            Ok(_) => ProviderNo(0),
            // It may have been refused, which the app measures too.
            Err(error) if error.code == ErrorCode::SettlementNotFound => ProviderNo(0),
            Err(error) => return Err(error),
        };
        known.insert(name, provider);
        Ok(provider)
    }

    fn lookup(&self, engine: &crate::engine::Engine, target: &Target) -> Lookup {
        match target {
            Target::Reference(reference) => Lookup::Find(Unique::SettlementReference(self.caller.client, reference.clone())),
            Target::Id(id) => Lookup::Get(Key::Settlement(engine.id_key.open(*id))),
        }
    }

    /// Adds the points to what is there.
    fn write(&self, d: &mut Decision<'_, '_>, parts: BTreeMap<Key, Part>) -> Result<()> {
        d.overlay.look_up(parts.keys().cloned().map(Lookup::Get))?;
        for (key, part) in parts {
            let stored: Option<QualityRecord> = d.overlay.get(&key)?;
            let read = stored.as_ref().map(|record| record.version);
            let Some(mut record) = stored.or_else(|| empty(key)) else { continue };
            record.points += part.points;
            record.failures += part.failures;
            record.devices.merge(&Devices::one(self.key.0));
            record.values.merge(&part.values);
            record.version = record.version.next();
            match read {
                Some(read) => d.overlay.update(record, read),
                None => d.overlay.insert(record),
            }
        }
        Ok(())
    }
}

/// The record of this key before anything was measured.
pub(super) fn empty(key: Key) -> Option<QualityRecord> {
    let Key::Quality((client, mode, metric, begins_at, unit, app_version, os, network, provider)) = key else { return None };
    let (devices, values) = (Devices::default(), Sketch::default());
    Some(QualityRecord {
        client,
        mode,
        metric,
        begins_at,
        unit,
        app_version,
        os,
        network,
        provider,
        is_day: false,
        points: 0,
        failures: 0,
        devices,
        values,
        version: Version::default(),
    })
}

fn too_many() -> FieldProblem {
    FieldProblem::new("", "too_many_points", format!("a device reports at most {QUALITY_DAILY_MAX} points a day"))
}

/// The days on which a point that is sent today may have been sent before.
fn days(today: i64) -> impl Iterator<Item = i64> {
    today - SEEN_DAYS..=today
}

/// Which points a device has sent.
struct Seen {
    /// Today's, as it is stored, or empty.
    today: QualitySeenRecord,
    /// Those of the days before.
    before: Vec<Vec<u8>>,
    new: BTreeSet<[u8; ID]>,
}

enum Sight {
    New,
    Known,
    TooMany,
}

impl Seen {
    fn read(d: &Decision<'_, '_>, device: KeyNo) -> Result<Self> {
        let now: Millis = d.overlay.now;
        let day = now.div_euclid(DAY);
        let of = |day| d.overlay.get::<QualitySeenRecord>(&Key::QualitySeen((day, device)));
        let before = days(day).filter(|before| *before != day).map(of).collect::<Result<Vec<_>>>()?;
        let before = before.into_iter().flatten().map(|record| record.ids).collect();
        let today = of(day)?.unwrap_or(QualitySeenRecord { day, device, ids: Vec::new(), version: Version::default() });
        Ok(Self { today, before, new: BTreeSet::new() })
    }

    fn add(&mut self, id: &str) -> Sight {
        let mut hash = [0; ID];
        hash.copy_from_slice(&Sha256::digest(id)[..ID]);
        let known = |ids: &Vec<u8>| ids.as_chunks().0.binary_search(&hash).is_ok();
        if self.new.contains(&hash) || known(&self.today.ids) || self.before.iter().any(known) {
            return Sight::Known;
        }
        if self.today.ids.len() / ID + self.new.len() >= QUALITY_DAILY_MAX {
            return Sight::TooMany;
        }
        self.new.insert(hash);
        Sight::New
    }

    fn write(mut self, d: &mut Decision<'_, '_>) {
        let read = self.today.version;
        self.new.extend(self.today.ids.as_chunks().0);
        let record = QualitySeenRecord { ids: self.new.into_iter().flatten().collect(), version: read.next(), ..self.today };
        if read == Version::default() {
            d.overlay.insert(record);
        } else {
            d.overlay.update(record, read);
        }
    }
}
