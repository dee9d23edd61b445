//! What adapters may answer, and what it means: for the test of the rail, and for the one of its OpenAPI document.
#![allow(dead_code, reason = "each test file uses a part of it")]

/// The payment and the reversal that all answers here are about: ten euros, of which four are given back.
pub const PAYMENT: &str = "01KAJX3M7Q5W8ZP9D2R4T6V8YB-1";
pub const REVERSAL: &str = "01KAJX3M7Q5W8ZP9D2R4T6V8YB-R1";

/// A body of an answer with status 200 about the payment, and what it means. Those that fit the schema are the ones that mean something.
pub const OF_PAYMENT: &[(&str, &str)] = &[
    (r#"{"status":"completed"}"#, "completed"),
    (r#"{"status":"completed","rail_reference":"P-1"}"#, "completed P-1"),
    (r#"{"status":"completed","rail_reference":null,"code":null,"rail_code":null,"elsewhere_ok":null}"#, "completed"),
    (r#"{"status":"completed","rail_code":"000","elsewhere_ok":false}"#, "completed"),
    (r#"{"status":"completed","new_member":[1]}"#, "completed"),
    (r#"{"status":"accepted","rail_reference":"P-1"}"#, "accepted P-1"),
    (r#"{"status":"declined"}"#, "declined other"),
    (r#"{"status":"declined","code":"recipient_not_found","rail_code":"E 17"}"#, "declined recipient_not_found E 17"),
    (r#"{"status":"declined","code":"insufficient_funds","elsewhere_ok":true}"#, "declined insufficient_funds, elsewhere"),
    (r#"{"status":"declined","rail_reference":"P-1"}"#, "declined other"),
    (r#"{"status":"returned","rail_code":"B 3"}"#, "returned B 3"),
    (r#"{"status":"returned","code":"account_closed"}"#, "returned"),
    (r#"{"status":"completed","payment":"01KAJX3M7Q5W8ZP9D2R4T6V8YB-1","amount":"10.00","currency":"EUR"}"#, "completed"),
    // Not what the protocol allows.
    (r#"{}"#, "unknown"),
    (r#"{"status":null}"#, "unknown"),
    (r#"{"status":"Completed"}"#, "unknown"),
    (r#"{"status":"paid"}"#, "unknown"),
    (r#"{"status":7}"#, "unknown"),
    (r#"{"status":"completed","code":"other"}"#, "unknown"),
    (r#"{"status":"accepted","code":"other"}"#, "unknown"),
    (r#"{"status":"completed","elsewhere_ok":true}"#, "unknown"),
    (r#"{"status":"returned","elsewhere_ok":true}"#, "unknown"),
    (r#"{"status":"declined","code":"no idea"}"#, "unknown"),
    (r#"{"status":"declined","elsewhere_ok":"yes"}"#, "unknown"),
    (r#"{"status":"completed","rail_reference":17}"#, "unknown"),
    (r#"{"status":"completed","rail_reference":""}"#, "unknown"),
    (r#"{"status":"completed","amount":10.00}"#, "unknown"),
    (r#"{"status":"completed","amount":"ten"}"#, "unknown"),
    (r#"["completed"]"#, "unknown"),
    (r#""completed""#, "unknown"),
    (r#"null"#, "unknown"),
];

/// Answers with status 200 that mean nothing although a schema may allow them: they are about something else, or are no JSON.
pub const NOT_OF_PAYMENT: &[&str] = &[
    r#"{"status":"completed","payment":"01KAJX3M7Q5W8ZP9D2R4T6V8YB-2"}"#,
    r#"{"status":"declined","payment":"another"}"#,
    r#"{"status":"completed","reversal":"01KAJX3M7Q5W8ZP9D2R4T6V8YB-R1"}"#,
    r#"{"status":"completed","amount":"10.01"}"#,
    r#"{"status":"completed","currency":"KES"}"#,
    r#"{"status":"completed","status":"declined"}"#,
    "{\"status\":\"completed\",\"rail_reference\":\"P\\u001b[2J\"}",
    "",
    "<html>502</html>",
    r#"{"status":"completed""#,
];

/// Likewise about the reversal.
pub const OF_REVERSAL: &[(&str, &str)] = &[
    (r#"{"status":"completed","rail_reference":"R-1"}"#, "completed R-1"),
    (r#"{"status":"accepted"}"#, "accepted"),
    (r#"{"status":"declined","code":"not_allowed"}"#, "declined not_allowed"),
    (
        r#"{"status":"completed","payment":"01KAJX3M7Q5W8ZP9D2R4T6V8YB-1","reversal":"01KAJX3M7Q5W8ZP9D2R4T6V8YB-R1","amount":"4","currency":"EUR"}"#,
        "completed",
    ),
    (r#"{"status":"completed","reversal":"01KAJX3M7Q5W8ZP9D2R4T6V8YB-R1"}"#, "completed"),
    (r#"{"status":"completed","payment":"01KAJX3M7Q5W8ZP9D2R4T6V8YB-1"}"#, "unknown"),
    (r#"{"status":"completed","payment":"01KAJX3M7Q5W8ZP9D2R4T6V8YB-1","reversal":null}"#, "unknown"),
    (r#"{"status":"returned"}"#, "unknown"),
    (r#"{"status":"unknown"}"#, "unknown"),
];

/// The body of an answer 404 to an inquiry, and whether it proves that nothing was taken.
pub const NOT_FOUND: &[(&str, bool)] = &[
    (r#"{"authoritative":true}"#, true),
    (r#"{"authoritative":true,"payment":"01KAJX3M7Q5W8ZP9D2R4T6V8YB-1"}"#, true),
    (r#"{"authoritative":false}"#, false),
];

/// An answer 404 that does not fit the schema.
pub const NOT_FOUND_WRONG: &[&str] = &[r#"{}"#, r#"{"authoritative":"true"}"#, r#"{"authoritative":1}"#, r#"[true]"#];
