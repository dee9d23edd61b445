//! The rows of webhooks: endpoints, their secrets, their queues and what is delivered to them.

use super::{Bound, Read, Sink, Source};
use crate::ids::{ClientNo, EndpointNo, SettlementNo, Ulid};
use crate::ledger::Mode;
use crate::store::record::*;

pub(super) fn endpoint<S: Sink>(r: &EndpointRecord, b: &mut S) -> Bound<S> {
    b.put(r.no.0)?;
    b.put(r.id.0.to_be_bytes().as_slice())?;
    b.put(r.version)?;
    b.put(r.client.0)?;
    b.put(r.mode.code())?;
    b.put(r.status.code())?;
    b.put(r.url.as_str())?;
    b.put(r.topics.map(TopicSet::bits))?;
    b.put(r.description.as_deref())?;
    b.put(r.created_at)?;
    b.put(r.updated_at)
}

pub(super) fn read_endpoint(c: &mut impl Source) -> Read<EndpointRecord> {
    Ok(EndpointRecord {
        no: EndpointNo(c.int()?),
        id: Ulid(u128::from_be_bytes(c.array()?)),
        version: c.int()?,
        client: ClientNo(c.int()?),
        mode: c.code(Mode::from_code)?,
        status: c.code(EndpointStatus::from_code)?,
        url: c.text()?,
        topics: c.optional()?.map(TopicSet::from_bits),
        description: c.optional_text()?,
        created_at: c.int()?,
        updated_at: c.int()?,
    })
}

pub(super) fn secret<S: Sink>(r: &EndpointSecretRecord, b: &mut S) -> Bound<S> {
    b.put(r.endpoint.0)?;
    b.put(r.n)?;
    b.put(r.sealed.as_slice())?;
    b.put(r.created_at)?;
    b.put(r.until)
}

pub(super) fn read_secret(c: &mut impl Source) -> Read<EndpointSecretRecord> {
    Ok(EndpointSecretRecord {
        endpoint: EndpointNo(c.int()?),
        n: c.int()?,
        sealed: c.bytes()?.to_vec(),
        created_at: c.int()?,
        until: c.optional()?,
    })
}

pub(super) fn queue<S: Sink>(r: &QueueRecord, b: &mut S) -> Bound<S> {
    b.put(r.endpoint.0)?;
    b.put(r.version)?;
    b.put(r.troubled)?;
    b.put(r.due)?;
    b.put(r.owner)?;
    b.put(r.added)?;
    b.put(r.failing_since)
}

pub(super) fn read_queue(c: &mut impl Source) -> Read<QueueRecord> {
    Ok(QueueRecord {
        endpoint: EndpointNo(c.int()?),
        version: c.int()?,
        troubled: c.flag()?,
        due: c.optional()?,
        owner: c.int()?,
        added: c.optional()?,
        failing_since: c.optional()?,
    })
}

pub(super) fn delivery<S: Sink>(r: &DeliveryRecord, b: &mut S) -> Bound<S> {
    b.put(r.no)?;
    b.put(r.endpoint.0)?;
    b.put(r.message.0.to_be_bytes().as_slice())?;
    b.put(r.topic.code())?;
    b.put(r.cause.code())?;
    b.put(r.status.code())?;
    b.put(r.attempts)?;
    b.put(r.due)?;
    b.put(r.settlement.0)?;
    b.put(r.n)?;
    b.put(r.body.as_str())?;
    b.json(r.last.as_ref())
}

pub(super) fn read_delivery(c: &mut impl Source) -> Read<DeliveryRecord> {
    Ok(DeliveryRecord {
        no: c.int()?,
        endpoint: EndpointNo(c.int()?),
        message: Ulid(u128::from_be_bytes(c.array()?)),
        topic: c.code(Topic::from_code)?,
        cause: c.code(DeliveryCause::from_code)?,
        status: c.code(DeliveryStatus::from_code)?,
        attempts: c.int()?,
        due: c.optional()?,
        settlement: SettlementNo(c.int()?),
        n: c.int()?,
        body: c.text()?,
        last: c.json()?,
    })
}
