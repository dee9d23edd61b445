//! Holding a response until a settlement has the state that the caller wants, or time is up.

use std::pin::pin;
use std::time::Duration;

use railgate::Result;
use railgate::api::{Caller, Target};
use railgate::store::record::SettlementRecord;
use tokio::time::{interval, sleep};

use super::App;
use super::connections::Link;

/// The settlement as soon as it is `enough`, or in its state after `wait_s` seconds, when this process stops, or when the other end of
/// the connection closes: it is gone, and its place among the held calls is another's, or it still reads, and hears less.
pub(super) async fn until(
    app: &App,
    caller: &Caller,
    link: Option<&Link>,
    record: SettlementRecord,
    wait_s: u32,
    enough: impl Fn(&SettlementRecord) -> bool,
) -> Result<SettlementRecord> {
    if wait_s == 0 || enough(&record) {
        return Ok(record);
    }
    let target = Target::Reference(record.reference.clone());
    let mut watch = app.gateway.watch(record.no);
    let mut stopping = app.stopping.clone();
    let mut gone = pin!(Link::hung_up(link));
    let mut deadline = pin!(sleep(Duration::from_secs(wait_s.into())));
    // Other nodes advance payments too, and do not notify this one.
    let mut look = interval(app.limits.look.max(Duration::from_millis(1)));
    look.reset();
    let mut last = false;
    loop {
        let record = app.gateway.read(caller, |engine| engine.settlement(caller, &target)).await?;
        if last || enough(&record) {
            return Ok(record);
        }
        tokio::select! {
            () = watch.changed() => {}
            _ = look.tick() => {}
            () = &mut deadline => last = true,
            () = stopping.requested() => last = true,
            () = &mut gone => last = true,
        }
    }
}
