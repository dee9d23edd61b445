//! The JSON Schema of manifests. A test holds it against what is accepted.

use serde_json::{Value, json};

use crate::money::Currency;
use crate::participant::Namespace;
use crate::route::FeeRefund;
use crate::validate::bundle::{BUNDLE_RAILS, CONTACT_ROLES};

/// The JSON Schema (2020-12) of a manifest.
///
/// It says everything about single members. What it cannot say is checked beside it: that `max` is not below `min`, what the settings of
/// a rail may be, that capabilities agree with them, that routes and tests keep to the namespaces and currencies, and where endpoints may
/// be.
pub fn schema() -> Value {
    let texts = json!({"type": "object", "propertyNames": {"minLength": 1, "maxLength": 40}, "additionalProperties": {"type": "string", "maxLength": 16_384}, "maxProperties": 50});
    let place = |more: Value, required: Value| {
        let mut place = json!({
            "type": "object", "additionalProperties": false, "required": required,
            "properties": {
                "base_url": {"type": "string", "pattern": "^https?://[^\\s]+$", "maxLength": 2_048, "description": "Its address."},
                "settings": {"anyOf": [{"$ref": "#/$defs/settings"}, {"type": "null"}]},
            },
        });
        if let (Some(properties), Some(more)) = (place["properties"].as_object_mut(), more.as_object()) {
            properties.extend(more.clone());
        }
        place
    };
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Manifest of a bundle",
        "description": "A provider, as its partner describes it.",
        "type": "object",
        "additionalProperties": false,
        "required": ["id", "version", "name", "rail", "namespaces", "currencies", "contacts", "sandbox"],
        "properties": {
            "id": {"type": "string", "pattern": "^[a-z0-9._-]{1,56}$", "description": "The id of the provider; in the sandbox, -sandbox is added."},
            "version": {"type": "string", "pattern": "^[0-9]{1,5}\\.[0-9]{1,5}\\.[0-9]{1,5}$"},
            "name": {"$ref": "#/$defs/name"},
            "rail": {"enum": BUNDLE_RAILS},
            "namespaces": {"type": "array", "minItems": 1, "maxItems": 1_000, "items": {"$ref": "#/$defs/namespace"}},
            "currencies": {"type": "array", "minItems": 1, "maxItems": 1_000, "items": {"$ref": "#/$defs/currency"}},
            "contacts": {"type": "array", "minItems": 1, "maxItems": 10, "items": {"$ref": "#/$defs/contact"}},
            "sandbox": place(json!({"test": {"$ref": "#/$defs/test"}}), json!(["base_url", "test"])),
            "live": optional(place(json!({}), json!(["base_url"]))),
            "countries": optional(json!({"type": "array", "minItems": 1, "maxItems": 1_000, "items": {"type": "string", "pattern": "^[A-Z]{2}$"}})),
            "settings": optional(json!({"$ref": "#/$defs/settings"})),
            "limits": optional(json!({
                "type": "object", "propertyNames": {"$ref": "#/$defs/currency"}, "additionalProperties": {"$ref": "#/$defs/limit"},
            })),
            "fees": optional(json!({"type": "array", "minItems": 1, "maxItems": 1_000, "items": {"$ref": "#/$defs/fee"}})),
            "timeouts": optional(object(json!({"connect_ms": milliseconds(), "answer_ms": milliseconds()}))),
            "capabilities": optional(object(json!({
                "check_payee": flag(), "reverse": flag(), "partial_reverse": flag(), "inquiry": flag(),
            }))),
            "routes": optional(json!({"type": "array", "maxItems": 50, "items": {"$ref": "#/$defs/wish"}})),
        },
        "$defs": {
            "settings": texts,
            "name": {"type": "string", "minLength": 1, "maxLength": 100},
            "namespace": {"enum": Namespace::ALL.iter().map(|it| it.as_str()).collect::<Vec<_>>()},
            "currency": {"enum": Currency::all().map(|it| it.code()).collect::<Vec<_>>()},
            "participant": {"type": "string", "pattern": "^[a-z][a-z0-9._-]{0,31}:[^\\s/?#]{1,128}$"},
            "amount": {
                "description": "A decimal, as a number or as a text; never with an exponent.",
                "type": ["number", "string"], "exclusiveMinimum": 0, "pattern": "^(0|[1-9][0-9]*)(\\.[0-9]+)?$",
            },
            "units": {
                "description": "A decimal with at most four decimals; zero is one.",
                "type": ["number", "string"], "minimum": 0, "pattern": "^(0|[1-9][0-9]*)(\\.[0-9]{1,4})?$",
            },
            "contact": {
                "type": "object", "additionalProperties": false, "required": ["role", "email"],
                "properties": {
                    "role": {"enum": CONTACT_ROLES},
                    "email": {"type": "string", "pattern": "^[!-?A-~]+@[!-?A-~]+$", "maxLength": 254},
                    "name": optional(json!({"$ref": "#/$defs/name"})),
                },
            },
            "test": {
                "type": "object", "additionalProperties": false, "required": ["to"],
                "properties": {
                    "to": {"$ref": "#/$defs/participant"},
                    "unknown_to": optional(json!({"$ref": "#/$defs/participant"})),
                    "later_to": optional(json!({"$ref": "#/$defs/participant"})),
                    "amount": optional(json!({"$ref": "#/$defs/amount"})),
                    "currency": optional(json!({"$ref": "#/$defs/currency"})),
                },
            },
            "limit": object(json!({"min": amount(), "max": amount()})),
            "fee": object(json!({
                "currency": optional(json!({"$ref": "#/$defs/currency"})),
                "namespace": optional(json!({"$ref": "#/$defs/namespace"})),
                "flat": units(), "percent": units(), "min": units(), "max": units(),
                "tiers": optional(json!({"type": "array", "minItems": 1, "maxItems": 1_000, "items": {"$ref": "#/$defs/tier"}})),
                "refund": optional(json!({"enum": FeeRefund::ALL.iter().map(|it| it.as_str()).collect::<Vec<_>>()})),
            })),
            "tier": {
                "type": "object", "additionalProperties": false, "required": ["from"],
                "properties": {"from": {"$ref": "#/$defs/units"}, "flat": units(), "percent": units()},
            },
            "wish": {
                "type": "object", "additionalProperties": false, "required": ["namespace"],
                "properties": {
                    "namespace": {"$ref": "#/$defs/namespace"},
                    "prefix": optional(json!({"type": "string", "maxLength": 34, "pattern": "^[^\\s]*$"})),
                    "currency": optional(json!({"$ref": "#/$defs/currency"})),
                    "min": amount(), "max": amount(),
                    "priority": optional(json!({"type": "integer", "minimum": 0, "maximum": 1_000_000})),
                    "weight": optional(json!({"type": "integer", "minimum": 0, "maximum": 1_000_000})),
                },
                "dependentRequired": {"min": ["currency"], "max": ["currency"]},
            },
        },
    })
}

/// `null` is as good as nothing.
fn optional(schema: Value) -> Value {
    json!({"anyOf": [schema, {"type": "null"}]})
}

fn object(properties: Value) -> Value {
    json!({"type": "object", "additionalProperties": false, "properties": properties})
}

fn amount() -> Value {
    optional(json!({"$ref": "#/$defs/amount"}))
}

fn units() -> Value {
    optional(json!({"$ref": "#/$defs/units"}))
}

fn flag() -> Value {
    json!({"type": ["boolean", "null"]})
}

fn milliseconds() -> Value {
    json!({"type": ["integer", "null"], "minimum": 0, "maximum": 120_000})
}
