//! What is added: for each row of the table in CONTRIBUTING.md one example, in the files that the row names.

/// A row's example.
pub(super) struct Addition {
    /// The row's first cell.
    pub(super) row: &'static str,
    pub(super) edits: &'static [Edit],
    /// Edits of files that the row does not name: it says that the compiler does.
    pub(super) compiler_named: &'static [Edit],
}

/// A change of one file.
pub(super) enum Edit {
    /// A new file with this text.
    New { file: &'static str, text: &'static str },
    /// Text before one that is in the file once.
    Before { file: &'static str, at: &'static str, text: &'static str },
    /// Text after one that is in the file once.
    After { file: &'static str, at: &'static str, text: &'static str },
    /// A further item at the end of the brackets that come next after a text that is in the file once.
    Last { file: &'static str, of: &'static str, text: &'static str },
}

use Edit::{After, Before, Last, New};

impl Edit {
    /// Whose change it is.
    pub(super) fn file(&self) -> &'static str {
        match self {
            New { file, .. } | Before { file, .. } | After { file, .. } | Last { file, .. } => file,
        }
    }
}

const TABLES: &str = "core/src/store/tables.rs";
const SQLITE: &str = "core/src/store/sqlite/migrate.rs";
const POSTGRES: &str = "core/src/store/postgres/migrate.rs";
const MIGRATIONS: &str = "const MIGRATIONS: &[Migration] =";

pub(super) const ADDITIONS: &[Addition] = &[
    Addition {
        row: "a kind of record, or a column",
        edits: COLUMN,
        compiler_named: &[
            Before {
                file: "core/src/engine/settlement/create.rs",
                at: "more: more_of(request),",
                text: "promised_at: Some(now + 86_400_000),\n            ",
            },
            Before {
                file: "core/src/engine/books/pay.rs",
                at: "more: Some(Arc::new(SettlementMore {",
                text: "promised_at: None,\n            ",
            },
            Before {
                file: "core/src/engine/webhook/message.rs",
                at: "more: Some(Arc::new(SettlementMore {",
                text: "promised_at: None,\n            ",
            },
            Before { file: "core/src/store/conformance/fixtures.rs", at: "more: None,", text: "promised_at: None,\n        " },
        ],
    },
    Addition { row: "a kind of record, or a column", edits: KIND, compiler_named: &[] },
    Addition { row: "a command", edits: COMMAND, compiler_named: &[] },
    Addition { row: "a rail", edits: RAIL, compiler_named: &[] },
    Addition { row: "a route", edits: ROUTE, compiler_named: &[] },
];

/// When the client was promised that the payee would have the money.
const COLUMN: &[Edit] = &[
    After {
        file: TABLES,
        at: "        more: Option<Arc<SettlementMore>>;\n",
        text: "        /// When the payee has the money at the latest; `None` if nothing was promised.\n        promised_at: Option<Millis>;\n",
    },
    New { file: "core/src/store/migrations/sqlite/1001_promise.sql", text: include_str!("added/sqlite_promise.sql") },
    Last {
        file: SQLITE,
        of: MIGRATIONS,
        text: r#"Migration { name: "1001_promise", sql: include_str!("../migrations/sqlite/1001_promise.sql") }"#,
    },
    New { file: "core/src/store/migrations/postgres/1001_promise.sql", text: include_str!("added/postgres_promise.sql") },
    Last {
        file: POSTGRES,
        of: MIGRATIONS,
        text: r#"Migration { name: "1001_promise", sql: include_str!("../migrations/postgres/1001_promise.sql"), oldest: 1 }"#,
    },
];

/// What a client remarks on a settlement.
const KIND: &[Edit] = &[
    Last {
        file: TABLES,
        of: "tables! ",
        text: r#"
    /// What a client remarked on a settlement.
    Remark(RemarkRecord) "remark" = 90 {
        key {
            /// The settlement.
            settlement: SettlementNo;
        }
        /// What was remarked.
        text: String;
        /// When it was remarked.
        at: Millis;
    }
"#,
    },
    New { file: "core/src/store/migrations/sqlite/1002_remark.sql", text: include_str!("added/sqlite_remark.sql") },
    Last {
        file: SQLITE,
        of: MIGRATIONS,
        text: r#"Migration { name: "1002_remark", sql: include_str!("../migrations/sqlite/1002_remark.sql") }"#,
    },
    New { file: "core/src/store/migrations/postgres/1002_remark.sql", text: include_str!("added/postgres_remark.sql") },
    Last {
        file: POSTGRES,
        of: MIGRATIONS,
        text: r#"Migration { name: "1002_remark", sql: include_str!("../migrations/postgres/1002_remark.sql"), oldest: 1 }"#,
    },
    After {
        file: "core/src/store/conformance/lists.rs",
        at: "add!(delivery(-1, 2, Some(5)), delivery(1, 1, None));\n",
        text: r#"    let remark = |settlement, at| RemarkRecord { settlement: SettlementNo(settlement), text: "A remark".to_owned(), at };
    add!(remark(1, 9), remark(2, 8));
"#,
    },
];

/// Writes such a record.
const COMMAND: &[Edit] = &[
    New { file: "core/src/engine/settlement/remark.rs", text: include_str!("added/remark_command.rs") },
    After { file: "core/src/engine/settlement/mod.rs", at: "mod receipt;\n", text: "mod remark;\n" },
    After {
        file: "core/src/engine/settlement/mod.rs",
        at: "pub use list::{ListRequest, PARAMETERS_MAX};\n",
        text: "pub use remark::Remark;\n",
    },
];

/// Speaks to operators over HTTP.
const RAIL: &[Edit] = &[
    New { file: "core/src/rail/courier.rs", text: include_str!("added/courier.rs") },
    After { file: "core/src/rail/mod.rs", at: "\nmod carry;\n", text: "mod courier;\n" },
    Last { file: "core/src/rail/mod.rs", of: "Self(vec!", text: "Arc::new(courier::Courier)" },
];

/// Runs the command for whoever signed the call.
const ROUTE: &[Edit] = &[
    New { file: "server/src/http/remarks.rs", text: include_str!("added/remarks_route.rs") },
    After { file: "server/src/http/mod.rs", at: "\nmod receipts;\n", text: "mod remarks;\n" },
    Last { file: "server/src/http/mod.rs", of: "all_routes! ", text: "    remarks,\n" },
];
