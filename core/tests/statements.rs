//! The formats of statements: every version as its standard writes it, and files that mean harm.
#![cfg(feature = "reconcile")]

use std::collections::BTreeMap;
use std::io::{BufReader, Read};

use proptest::prelude::*;
use railgate::ErrorCode;
use railgate::lifecycle::Direction;
use railgate::reconcile::{Head, Settings, read};
use railgate::store::record::{StatementFormat, StatementLine};
use railgate::time::parse_rfc3339;

fn settings(pairs: &[(&str, &str)]) -> Settings {
    let pairs: BTreeMap<String, String> = pairs.iter().map(|(name, value)| (format!("statement_{name}"), (*value).to_owned())).collect();
    Settings::parse(&pairs).unwrap()
}

fn lines_of(text: &[u8], settings: &Settings) -> Result<(Head, Vec<StatementLine>), railgate::Error> {
    let mut lines = Vec::new();
    // A small buffer, so that tokens lie across its ends.
    let head = read(&mut BufReader::with_capacity(61, text), settings, &mut |line| {
        lines.push(line);
        Ok(())
    })?;
    Ok((head, lines))
}

fn xml(text: &str) -> (Head, Vec<StatementLine>) {
    lines_of(text.as_bytes(), &settings(&[])).unwrap()
}

/// Where a file is refused, and why.
fn refused(text: &[u8], settings: &Settings) -> (String, String) {
    let error = lines_of(text, settings).unwrap_err();
    assert_eq!((error.code, error.fields.len()), (ErrorCode::StatementUnusable, 1));
    let problem = error.into_fields().remove(0);
    (problem.pointer, problem.message)
}

fn at(text: &str) -> i64 {
    parse_rfc3339(text).unwrap()
}

/// A message of this version with these entries.
fn camt(version: &str, entries: &str) -> String {
    let (message, statement) = match &version[..8] {
        "camt.053" => ("BkToCstmrStmt", "Stmt"),
        _ => ("BkToCstmrDbtCdtNtfctn", "Ntfctn"),
    };
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Document xmlns=\"urn:iso:std:iso:20022:tech:xsd:{version}\">\n<{message}>\
         <GrpHdr><MsgId>M</MsgId><CreDtTm>2026-11-25T01:00:00Z</CreDtTm></GrpHdr><{statement}><Id>S</Id>\
         <FrToDt><FrDtTm>2026-11-24T00:00:00Z</FrDtTm><ToDtTm>2026-11-25T00:00:00Z</ToDtTm></FrToDt>\
         <Acct><Id><IBAN>DE89370400440532013000</IBAN></Id></Acct>\n{entries}\n</{statement}></{message}></Document>\n"
    )
}

/// An entry as version 02 or 08 has it, with one transaction.
fn entry(version: &str, status: &str) -> String {
    let (status, creditor, amount) = if version.ends_with("02") {
        (status.to_owned(), "<Cdtr><Nm>Ada</Nm></Cdtr>", "<AmtDtls><TxAmt><Amt Ccy=\"EUR\">10.50</Amt></TxAmt></AmtDtls>")
    } else {
        (format!("<Cd>{status}</Cd>"), "<Cdtr><Pty><Nm>Ada</Nm></Pty></Cdtr>", "<Amt Ccy=\"EUR\">10.50</Amt><CdtDbtInd>DBIT</CdtDbtInd>")
    };
    format!(
        "<Ntry><NtryRef>7</NtryRef><Amt Ccy=\"EUR\">10.50</Amt><CdtDbtInd>DBIT</CdtDbtInd><RvslInd>false</RvslInd><Sts>{status}</Sts>\
         <BookgDt><Dt>2026-11-24</Dt></BookgDt><ValDt><Dt>2026-11-25</Dt></ValDt><AcctSvcrRef>BANK-7</AcctSvcrRef>\
         <BkTxCd><Domn><Cd>PMNT</Cd></Domn></BkTxCd><NtryDtls><TxDtls><Refs><AcctSvcrRef>BANK-7-1</AcctSvcrRef>\
         <InstrId>01ARZ3NDEKTSV4RRFFQ69G5FAV-1</InstrId><EndToEndId>NOTPROVIDED</EndToEndId><TxId>T&amp;1</TxId></Refs>{amount}\
         <RltdPties>{creditor}<CdtrAcct><Id><IBAN>FR7630006000011234567890189</IBAN></Id></CdtrAcct></RltdPties>\
         <RmtInf><Ustrd>invoice <![CDATA[<7>]]></Ustrd></RmtInf></TxDtls></NtryDtls></Ntry>"
    )
}

#[test]
fn every_version_of_camt_says_the_same() {
    for (version, format) in [
        ("camt.053.001.02", StatementFormat::Camt053),
        ("camt.053.001.08", StatementFormat::Camt053),
        ("camt.054.001.02", StatementFormat::Camt054),
        ("camt.054.001.08", StatementFormat::Camt054),
    ] {
        let (head, lines) = xml(&camt(version, &(entry(version, "BOOK") + &entry(version, "PDNG"))));
        let period = Some((at("2026-11-24T00:00:00Z"), at("2026-11-25T00:00:00Z")));
        assert_eq!(head, Head { format, lines: 1, skipped: 1, period }, "{version}");
        let expected = StatementLine {
            line: 1,
            direction: Direction::Outgoing,
            amount: 1_050,
            currency: railgate::money::Currency::from_code("EUR").unwrap(),
            at: at("2026-11-24T00:00:00Z"),
            whole_day: true,
            references: ["BANK-7-1", "01ARZ3NDEKTSV4RRFFQ69G5FAV-1", "T&1"].map(str::to_owned).into(),
            participant: Some("FR7630006000011234567890189".to_owned()),
            entry: Some("BANK-7-1".to_owned()),
            text: Some("invoice <7>".to_owned()),
        };
        assert_eq!(lines, [expected], "{version}");
    }
}

#[test]
fn prefixes_and_envelopes_make_no_difference() {
    let plain = camt("camt.053.001.08", &entry("camt.053.001.08", "BOOK"));
    let inner = plain.split_once("?>\n").unwrap().1;
    let prefixed = inner.replace("xmlns=", "xmlns:c=").replace("</", "\u{1}").replace('<', "<c:").replace('\u{1}', "</c:");
    // CDATA has no name to prefix.
    let prefixed =
        format!("<?xml version='1.0'?><!-- by hand --><Envelope>{}</Envelope>", prefixed.replace("<c:![CDATA[<c:7>", "<![CDATA[<7>"));
    assert_eq!(xml(&prefixed), xml(&plain));
}

#[test]
fn an_entry_of_many_transactions_is_as_many_lines() {
    let details = |amount: &str, n: u8| format!("<TxDtls><Refs><TxId>T{n}</TxId></Refs>{amount}</TxDtls>");
    let entry = |details: &str| {
        format!(
            "<Ntry><Amt Ccy=\"EUR\">30</Amt><CdtDbtInd>CRDT</CdtDbtInd><RvslInd>true</RvslInd><Sts><Cd>BOOK</Cd></Sts>\
             <BookgDt><DtTm>2026-11-24T10:00:00+01:00</DtTm></BookgDt><AcctSvcrRef>B</AcctSvcrRef><NtryDtls>{details}</NtryDtls></Ntry>"
        )
    };
    let amount = |value: &str| format!("<Amt Ccy=\"EUR\">{value}</Amt>");
    let own = details(&amount("10"), 1) + &details(&amount("20.00"), 2);
    let none = details("", 1) + &details("", 2);
    let (head, lines) = xml(&camt("camt.053.001.08", &(entry(&own) + &entry(&none) + &entry(&details("", 1)))));
    let found: Vec<_> = lines.iter().map(|it| (it.amount, it.references.join(" "), it.entry.as_deref())).collect();
    let expected = [(1_000, "T1", None), (2_000, "T2", None), (3_000, "B", Some("B")), (3_000, "T1 B", Some("B"))];
    assert_eq!((head.lines, found), (4, expected.map(|(amount, references, entry)| (amount, references.to_owned(), entry)).into()));
    assert!(lines.iter().all(|it| it.direction == Direction::Incoming && it.at == at("2026-11-24T09:00:00Z") && !it.whole_day));
    let mixed = refused(camt("camt.053.001.08", &entry(&(details(&amount("10"), 1) + &details("", 2)))).as_bytes(), &settings(&[]));
    assert!(mixed.1.contains("some transactions of an entry have an amount"), "{mixed:?}");
}

#[test]
fn hostile_xml_is_refused_with_the_place() {
    let version = "camt.053.001.08";
    let good = camt(version, &entry(version, "BOOK"));
    let why = |text: &str| {
        let (pointer, message) = refused(text.as_bytes(), &settings(&[]));
        assert!(pointer.starts_with("byte "), "{pointer}");
        message
    };
    let bomb = "<!DOCTYPE a [<!ENTITY a \"aaaaaaaaaa\"><!ENTITY b \"&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;\">]>";
    assert!(why(&good.replace("<Document", &format!("{bomb}<Document"))).contains("document type"));
    assert!(why(&good.replace("T&amp;1", "T&b;1")).contains("entity"));
    assert!(why(&good.replace("UTF-8", "UTF-16")).contains("UTF-8"));
    assert!(why(&good.replace("UTF-8", "ISO-8859-1")).contains("UTF-8"));
    assert!(why(&good.replace(version, "camt.053.001.99")).contains("is not read"));
    assert!(why(&good.replace("urn:iso", "urn:other")).contains("namespace"));
    assert!(why(&good.replace("<CdtDbtInd>DBIT</CdtDbtInd>", "")).contains("CdtDbtInd is missing"));
    assert!(why(&good.replace("Ccy=\"EUR\"", "Ccy=\"EURO\"")).contains("ISO 4217"));
    assert!(why(&good.replace("10.50", "10.505")).contains("amount"));
    assert!(why(&good.replace("</TxDtls>", "</Tx>")).contains("well-formed"));
    assert!(why(&"<a>".repeat(100)).contains("nested"));
    assert!(why(&good.replace("Ada", &"x".repeat(100_000))).contains("65536"));
    assert!(why(&good.replace("<Nm>", &format!("<Nm a=\"{}\">", "x>".repeat(50_000)))).contains("65536"));
    assert!(why(&good.replace("Ada", &format!("<!--{}-->", "x".repeat(100_000)))).contains("65536"));
    assert!(why(&good.replace("Ada", &"x<!-- -->".repeat(100_000))).contains("65536"), "many small pieces of one text");
    assert!(why("<html></html>").contains("no document"));
    // Wherever it is cut off, it is refused, and at the latest at the end of the document.
    let end = good.trim_end().len();
    for cut in (1..end).step_by(7) {
        why(&good[..cut]);
    }
    let (_, message) = refused(&[good.as_bytes(), b"<"].concat(), &settings(&[]));
    assert!(message.contains("well-formed"));
    let (_, message) = refused(&good.replace("Ada", "Zo\u{e9}").chars().map(|it| it as u8).collect::<Vec<_>>(), &settings(&[]));
    assert!(message.contains("UTF-8"), "bytes of Latin-1: {message}");
    let utf16: Vec<u8> = [0xff, 0xfe].into_iter().chain(good.encode_utf16().flat_map(u16::to_le_bytes)).collect();
    assert!(refused(&utf16, &settings(&[])).1.contains("UTF-16"));
}

/// Bytes without an end, as a file of 100 MB and more would have.
struct Endless(&'static [u8], u64);

impl Read for Endless {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        for (n, byte) in into.iter_mut().enumerate() {
            *byte = self.0.get(self.1 as usize + n).copied().unwrap_or(b'x');
        }
        self.1 += into.len() as u64;
        Ok(into.len())
    }
}

#[test]
fn a_line_without_an_end_takes_no_memory() {
    let table = settings(&[("amount", "A"), ("currency", "=EUR"), ("date", "D")]);
    let all = settings(&[("account", "7")]);
    for (start, settings) in [
        (&b"A,D\n"[..], &table),
        (b"A,D\n\"", &table),
        (b"<a>", &table),
        (b"<a b=\"", &table),
        (b"[{\"a\": \"", &all),
        (b"[{\"a\": 1}, x", &all),
    ] {
        let mut source = Endless(start, 0);
        let error = read(&mut BufReader::new(&mut source), settings, &mut |_| Ok(())).unwrap_err();
        assert_eq!(error.code, ErrorCode::StatementUnusable);
        assert!(source.1 < 1 << 20, "{} bytes were read after {:?}", source.1, String::from_utf8_lossy(start));
    }
}

#[test]
fn tables_are_read_as_their_settings_say() {
    let semicolons = settings(&[
        ("delimiter", ";"),
        ("decimal", ","),
        ("header_row", "3"),
        ("amount_outgoing", "Soll"),
        ("amount_incoming", "Haben"),
        ("currency", "Währung"),
        ("date", "Datum"),
        ("date_format", "DD.MM.YYYY hh:mm"),
        ("utc_offset", "+01:00"),
        ("references", "Referenz"),
        ("status", "Stand"),
        ("booked", "gebucht,erledigt"),
        ("text", "Zweck"),
    ]);
    let text = "\u{feff}Konto 7\r\n\"Stand; heute\"\r\nDatum;Soll;Haben;Währung;Referenz;Stand;Zweck\r\n\
                24.11.2026 01:00;1.234,50;;EUR;R1;Gebucht;\"zwei\n\"\"Zeilen\"\"\"\r\n24.11.2026 02:00;;5;EUR;;erledigt;\r\n24.11.2026 02:00;;5;EUR;;offen;\r\n";
    let (head, lines) = lines_of(text.as_bytes(), &semicolons).unwrap();
    assert_eq!((head.lines, head.skipped, head.format), (2, 1, StatementFormat::Csv));
    assert_eq!((lines[0].line, lines[0].amount, lines[0].direction), (4, 123_450, Direction::Outgoing));
    assert_eq!((lines[0].at, lines[0].text.as_deref()), (at("2026-11-24T00:00:00Z"), Some("zwei\"Zeilen\"")));
    assert_eq!((lines[1].line, lines[1].amount, lines[1].direction, lines[1].references.len()), (6, 500, Direction::Incoming, 0));

    let said = settings(&[("amount", "A"), ("direction", "D"), ("outgoing", "DR,Debit"), ("currency", "=KES"), ("date", "T")]);
    let (_, lines) = lines_of(b"A,D,T\n7,dr,2026-11-24\n8,CR,2026-11-24\n0,CR,2026-11-24\n", &said).unwrap();
    assert_eq!(
        lines.iter().map(|it| (it.amount, it.direction)).collect::<Vec<_>>(),
        [(700, Direction::Outgoing), (800, Direction::Incoming)]
    );
    let positive = settings(&[("amount", "A"), ("outgoing_sign", "positive"), ("currency", "=KES"), ("date", "T")]);
    let (_, lines) = lines_of(b"A,T\n7,2026-11-24\n-8,2026-11-24\n", &positive).unwrap();
    assert_eq!(
        lines.iter().map(|it| (it.amount, it.direction)).collect::<Vec<_>>(),
        [(700, Direction::Outgoing), (800, Direction::Incoming)]
    );
    assert_eq!(refused(b"A,A,T\n", &positive).1, "there are two columns \"A\"");
    assert_eq!(refused(b"A,T\n1,2026-11-24\n", &settings(&[])).0, "/settings/statement_amount");
}

#[test]
fn entries_of_the_gsmas_api_are_read() {
    let ours = settings(&[("account", "+254 700 000 000")]);
    let text = r#"[
      {"transactionReference": "R1", "transactionStatus": "completed", "amount": "10.50", "currency": "KES",
       "debitParty": [{"key": "msisdn", "value": "254700000000"}],
       "creditParty": [{"key": "accountcategory", "value": "x"}, {"key": "msisdn", "value": "+254711111111"}],
       "transactionReceipt": "RC1", "creationDate": "2026-11-24T10:00:00Z", "displayType": "transfer",
       "customData": [{"key": "key", "value": "01ARZ3NDEKTSV4RRFFQ69G5FAV-1"}]},
      {"transactionReference": "R2", "transactionStatus": "pending", "amount": "1", "currency": "KES", "debitParty": [], "creditParty": []},
      {"transactionReference": "R3", "transactionStatus": "completed", "amount": "4.00", "currency": "KES",
       "creditParty": [{"key": "accountid", "value": "+254700000000"}], "debitParty": [{"key": "msisdn", "value": "+254711111111"}],
       "dateCreated": "2026-11-24T11:00:00+03:00"}
    ]"#;
    let (head, lines) = lines_of(text.as_bytes(), &ours).unwrap();
    assert_eq!((head.format, head.lines, head.skipped), (StatementFormat::Gsma, 2, 1));
    assert_eq!(lines[0].references, ["R1", "RC1", "01ARZ3NDEKTSV4RRFFQ69G5FAV-1"]);
    assert_eq!((lines[0].amount, lines[0].direction, lines[0].participant.as_deref()), (1_050, Direction::Outgoing, Some("+254711111111")));
    assert_eq!((lines[1].line, lines[1].direction, lines[1].at), (3, Direction::Incoming, at("2026-11-24T08:00:00Z")));

    assert_eq!(refused(text.replace("10.50", "10.505").as_bytes(), &ours).0, "/0/amount");
    assert_eq!(
        refused(text.replace("\"4.00\", \"currency\": \"KES\"", "\"4.00\", \"currency\": \"?\"").as_bytes(), &ours).0,
        "/2/currency"
    );
    assert_eq!(refused(text.as_bytes(), &settings(&[("account", "other")])).0, "/0/debitParty");
    assert_eq!(refused(text.as_bytes(), &settings(&[])).0, "/settings/statement_account");
    assert!(refused(b"{\"a\": 1}", &ours).1.contains("array"));
    assert!(refused(&text.as_bytes()[..text.len() - 5], &ours).1.contains("array"), "cut off");
    assert!(refused(format!("{text} x").as_bytes(), &ours).0.starts_with("line "));
    assert!(refused("[".repeat(10_000).as_bytes(), &ours).0.starts_with("line "));
}

proptest! {
    #[test]
    fn no_file_makes_it_panic(start in prop_oneof![Just(""), Just("<"), Just("["), Just("A,D\n")], rest in prop::collection::vec(any::<u8>(), 0..400)) {
        let settings = settings(&[("amount", "A"), ("currency", "=EUR"), ("date", "D"), ("account", "7")]);
        let text = [start.as_bytes(), &rest].concat();
        let _ = lines_of(&text, &settings);
    }

    #[test]
    fn no_change_of_a_good_file_makes_it_panic(at in 0usize..2_000, byte in any::<u8>()) {
        let mut good = camt("camt.053.001.02", &entry("camt.053.001.02", "BOOK")).into_bytes();
        let at = at % good.len();
        good[at] = byte;
        let _ = lines_of(&good, &settings(&[]));
    }
}
