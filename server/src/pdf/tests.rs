//! The content of the document.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use std::io::Read as _;

use flate2::read::ZlibDecoder;
use railgate::auth::SoftwareKey;
use railgate::lifecycle::SettlementStatus;
use railgate::receipt::{Claims, Trace};

use super::*;

fn claims() -> Claims {
    Claims {
        iss: "https://pay.example".to_owned(),
        jti: "rcpt_01M7Z1BC0HKS8HGFZWA1RKHZQE".to_owned(),
        iat: 1_795_257_497,
        sub: "stl_01M7Z1BC0HKS8HGFZWA1RKHZQF".to_owned(),
        env: "sandbox".to_owned(),
        reference: "inv-1".to_owned(),
        amt: "1234567.890".to_owned(),
        cur: "KWD".to_owned(),
        fee: "0.005".to_owned(),
        from: "cli_01M7Z1BC0HKS8HGFZWA1RKHZQG".to_owned(),
        to: "iban:***3000".to_owned(),
        status: SettlementStatus::Completed,
        settled_at: "2026-11-21T10:38:17.042Z".to_owned(),
        provider: "simulator".to_owned(),
        rail_ref: None,
        rev: "0.000".to_owned(),
        ev: Trace { n: 5, head: "ab".repeat(32) },
        supersedes: None,
    }
}

fn receipt(claims: Claims, description: Option<&str>) -> Receipt {
    Receipt::sign(claims, description.map(str::to_owned), &SoftwareKey::p256(&[1; 32]).unwrap()).unwrap()
}

/// The drawing operations of the pages: the streams that contain marked content.
fn drawings(pdf: &[u8]) -> Vec<String> {
    let find = |from: usize, what: &[u8]| pdf[from..].windows(what.len()).position(|window| window == what).map(|at| from + at);
    let mut drawings = Vec::new();
    let mut from = 0;
    while let Some(begin) = find(from, b"\nstream\n").map(|at| at + 8) {
        from = find(begin, b"endstream").unwrap();
        let mut bytes = Vec::new();
        if ZlibDecoder::new(&pdf[begin..from]).read_to_end(&mut bytes).is_ok() && bytes.windows(4).any(|window| window == b"BDC\n") {
            drawings.push(String::from_utf8_lossy(&bytes).into_owned());
        }
    }
    drawings
}

/// The number of pages.
fn pages(pdf: &[u8]) -> usize {
    String::from_utf8_lossy(pdf).matches("/Type/Page/").count()
}

/// What a scanner reads from the page: everything filled with black is drawn, and passed to an independent decoder.
fn scanned(pdf: &[u8]) -> Option<String> {
    let drawing = drawings(pdf).into_iter().find(|drawing| drawing.contains(" 0 0 0 rg "))?;
    let path = drawing.split_once(" 0 0 0 rg ")?.1.split_once("\nf\n")?.0;
    let bars: Vec<Vec<usize>> = path
        .split("\nh")
        .map(|bar| bar.split_whitespace().filter_map(|word| word.parse().ok()).collect())
        .filter(|bar: &Vec<usize>| !bar.is_empty())
        .collect();
    // Four pixels per module, with the light modules around them.
    let side = 4 * (bars.iter().flatten().max()? + 4);
    let mut dark = vec![false; side * side];
    for bar in bars {
        let [left, top, right, _, _, bottom, _, _] = bar[..] else { panic!("{bar:?}") };
        for y in 4 * top..4 * bottom {
            dark[y * side..][4 * left..4 * right].fill(true);
        }
    }
    let mut image = rqrr::PreparedImage::prepare_from_greyscale(side, side, |x, y| if dark[y * side + x] { 0 } else { 255 });
    Some(image.detect_grids().first()?.decode().unwrap().1)
}

#[test]
fn it_is_a_document_about_the_receipt_and_the_same_each_time() {
    let receipt = receipt(claims(), Some("Lunch"));
    let paper = pdf(&receipt).unwrap();
    assert!(paper.starts_with(b"%PDF-1.7\n"));
    assert_eq!(paper, pdf(&receipt).unwrap());
    assert_eq!(pages(&paper), 1);
    let text = String::from_utf8_lossy(&paper);
    for said in ["/Title(Receipt inv-1)", "/Lang(en)", "/CreationDate(D:20261121103817", "/Marked true", "/S/Figure", "/S/TH", "/S/H1"] {
        assert!(text.contains(said), "{said}: {text}");
    }
    // No active content.
    for acts in ["/JavaScript", "/JS", "/OpenAction", "/Launch", "/URI", "/AA", "/EmbeddedFile", "/AcroForm"] {
        assert!(!text.contains(acts), "{acts}");
    }
}

/// What a reader takes for the structure of a document, or of the drawing of a page: everything but what is within texts and streams.
fn structure(bytes: &[u8]) -> String {
    let (mut outside, mut depth, mut at) = (String::new(), 0_usize, 0);
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'\\' if depth > 0 => at += 1,
            b'(' => depth += 1,
            b')' if depth > 0 => depth -= 1,
            _ if depth == 0 => outside.push(char::from(byte)),
            _ => {}
        }
        at += 1;
        if depth == 0 && outside.ends_with("\nstream\n") {
            // As long as it says: what is in a stream may look like its end.
            let length = outside.rsplit_once("/Length ").unwrap().1.split(|c: char| !c.is_ascii_digit()).next().unwrap();
            at += length.parse::<usize>().unwrap();
            assert!(bytes[at..].starts_with(b"\nendstream\nendobj\n"), "{length}");
        }
    }
    assert_eq!(depth, 0, "a text does not end");
    outside
}

#[test]
fn no_text_gets_out_of_its_place_in_the_document() {
    let acts = "<< /S /JavaScript /JS (app.alert\\(1\\)) >> /OpenAction";
    for attempt in [
        format!("a) {acts} (b"),
        format!("a\\) >> {acts}"),
        format!("((a {acts}"),
        format!("\\\nendstream\nendobj\n9 0 obj\n{acts}\nendobj\nstartxref\n0\n%%EOF"),
        format!("ET Q EMC {acts} 1 0 0 rg 0 0 900 900 re f"),
        "</rdf:RDF></x:xmpmeta><?xpacket end=\"w\"?><x:hollyhock a='b'>]]>&amp;".to_owned(),
    ] {
        // What callers, operators and whoever starts the gateway write, though most of it is not accepted from them.
        let hostile = Claims {
            iss: attempt.clone(),
            jti: attempt.clone(),
            reference: attempt.clone(),
            to: attempt.clone(),
            provider: attempt.clone(),
            rail_ref: Some(attempt.clone()),
            ..claims()
        };
        let paper = pdf(&receipt(hostile, Some(&attempt))).unwrap();
        let whole = structure(&paper);
        for word in ["OpenAction", "JavaScript", "app.alert", "xmpmeta", "hollyhock"] {
            assert!(!whole.contains(word), "{attempt:?} wrote {word}: {whole}");
        }
        let text = String::from_utf8_lossy(&paper);
        let xml = text.split_once("/Subtype/XML>>").unwrap().1.split_once("\nendobj\n").unwrap().0;
        assert!(!xml.contains("<x:hollyhock") && !xml.contains("<< /S"), "{attempt:?}: {xml}");
        // Each object ends once, is in the table, and the table is where the end says.
        let objects = whole.matches(" 0 obj\n").count();
        assert!(objects > 20, "{objects}");
        assert_eq!((whole.matches("\nendobj\n").count(), whole.matches(" 00000 n").count()), (objects, objects), "{attempt:?}");
        assert_eq!(whole.matches("%%EOF").count(), 1, "{attempt:?}");
        let pages = drawings(&paper);
        assert!(!pages.is_empty());
        for page in pages {
            let drawn = structure(page.as_bytes());
            assert!(!drawn.contains("JavaScript") && !drawn.contains("900 900 re"), "{attempt:?} draws: {drawn}");
            assert_eq!(drawn.matches("BDC\n").count() + drawn.matches("BMC\n").count(), drawn.matches("EMC").count(), "{attempt:?}");
        }
    }
}

#[test]
fn the_code_on_the_paper_holds_the_signed_receipt() {
    let receipt = receipt(claims(), None);
    assert_eq!(scanned(&pdf(&receipt).unwrap()).unwrap(), receipt.jws);
}

/// The texts of the document, by cell.
fn texts(receipt: &Receipt) -> Vec<String> {
    let draft = draft(receipt).unwrap();
    let runs = |mark: &Mark| match mark {
        Mark::Text { line, .. } => line.runs.iter().map(|run| run.text.clone()).collect::<String>(),
        Mark::Box { .. } | Mark::Frame { .. } | Mark::Code { .. } => String::new(),
    };
    let cells = draft.blocks.iter().flat_map(|block| &block.cells);
    cells.map(|cell| cell.marks.iter().map(runs).collect::<Vec<_>>().join("\n")).filter(|text| !text.is_empty()).collect()
}

#[test]
fn it_says_what_the_page_says() {
    for (env, amt, cur, shown) in [
        ("sandbox", "1234567.890", "KWD", "1,234,567.890\nKWD"),
        ("live", "1000000", "JPY", "1,000,000\nJPY"),
        ("live", "10.50", "EUR", "10.50\nEUR"),
    ] {
        let claims = Claims { env: env.to_owned(), amt: amt.to_owned(), cur: cur.to_owned(), ..claims() };
        let receipt = receipt(claims, Some("Lunch for two"));
        let texts = texts(&receipt);
        assert!(texts.iter().any(|text| text == shown), "{texts:?}");
        assert_eq!(texts.iter().any(|text| text == SANDBOX), env == "sandbox");
        for row in receipt.rows() {
            let at = texts.iter().position(|text| text.lines().next() == Some(row.name)).unwrap();
            assert_eq!(texts[at + 1], row.value, "{}", row.name);
        }
        assert!(texts.iter().any(|text| text.replace('\n', "") == receipt.jws), "{texts:?}");
    }
}

#[test]
fn words_of_any_script_keep_their_letters() {
    for text in ["Оплата за Καφέ", "فاتورة رقم 17", "חשבונית 42", "नमस्ते दुनिया", "ขอบคุณที่ใช้บริการ", "a فاتورة b קבלה c"]
    {
        let receipt = receipt(claims(), Some(text));
        let texts = texts(&receipt);
        let at = texts.iter().position(|text| text.starts_with("Description")).unwrap();
        // In visual order.
        let letters = |text: &str| {
            let mut letters: Vec<char> = text.chars().collect();
            letters.sort_unstable();
            letters
        };
        assert_eq!(letters(&texts[at + 1]), letters(text), "{text}");
        assert!(pdf(&receipt).is_ok());
    }
}

#[test]
fn what_runs_from_right_to_left_begins_at_the_right() {
    let mut fonts = Fonts::new().unwrap();
    let mut begin = |text: &str, base| lines(&mut fonts, text, (Style::Regular, base), 10.0, 300.0)[0].runs[0].x;
    assert!(begin("שלום", Base::Auto) > 250.0);
    assert_eq!((begin("שלום", Base::Inline), begin("hello שלום", Base::Auto), begin("שלום", Base::Ltr)), (0.0, 0.0, 0.0));
    // A number inside stays as it is, between the text before and after it.
    let line = &lines(&mut fonts, "רקם 17 כן", (Style::Regular, Base::Auto), 10.0, 300.0)[0];
    let place = |wanted: &str| line.runs.iter().find(|run| run.text.contains(wanted)).unwrap().x;
    assert!(place("כן") < place("17") && place("17") < place("רקם"));
}

#[test]
fn no_line_is_wider_than_its_column() {
    let mut fonts = Fonts::new().unwrap();
    for text in ["word ".repeat(60), "x".repeat(300), "ขอบคุณที่ใช้บริการ".repeat(10), "فاتورة ".repeat(40), "नमस्ते".repeat(40)]
    {
        let lines = lines(&mut fonts, &text, (Style::Regular, Base::Auto), 10.0, 200.0);
        assert!(lines.len() > 3, "{text}");
        for line in &lines {
            let seen = line.runs.iter().map(|run| run.text.as_str()).collect::<String>();
            let blank = seen.ends_with(' ') || seen.starts_with(' ');
            assert!(line.width <= if blank { 204.0 } else { 200.5 }, "{} {seen}", line.width);
        }
    }
}

#[test]
fn what_no_font_shows_is_seen_to_be_missing() {
    let mut fonts = Fonts::new().unwrap();
    let lines = lines(&mut fonts, "a\u{10ffff}b\u{e000}", (Style::Regular, Base::Auto), 10.0, 200.0);
    let seen: String = lines[0].runs.iter().map(|run| run.text.as_str()).collect();
    assert!(seen.starts_with("a\u{fffd}b"), "{seen}");
    assert!(lines[0].runs.iter().flat_map(|run| &run.glyphs).all(|glyph| glyph.glyph_id.to_u32() != 0));
}

#[test]
fn nothing_makes_it_large() {
    let everything: String = ('\u{20}'..='\u{2fff}').step_by(40).collect();
    for (rail, description) in [
        ("r".repeat(100_000), "x".repeat(100_000)),
        ("\u{301}".repeat(50_000), format!("Z{}", "\u{301}\u{323}".repeat(20_000))),
        ("\u{200d}".repeat(10_000), " ".repeat(100_000)),
        ("שa".repeat(20_000), "(".repeat(20_000)),
        (everything.clone(), everything),
        (String::new(), String::new()),
    ] {
        let claims = Claims { rail_ref: Some(rail.chars().take(2_000).collect()), iss: rail, ..claims() };
        let mut receipt = receipt(claims, Some(&description));
        receipt.jws.truncate(8 * 1_024);
        let paper = pdf(&receipt).unwrap();
        assert!(paper.len() < 400_000 && (1..=3).contains(&pages(&paper)), "{} {}", paper.len(), pages(&paper));
    }
}

#[test]
fn one_that_is_too_long_for_a_code_is_still_a_receipt() {
    let receipt = receipt(Claims { rail_ref: Some("r".repeat(4_000)), ..claims() }, None);
    assert!(receipt.code(Drawing::default()).is_err());
    let paper = pdf(&receipt).unwrap();
    assert_eq!(pages(&paper), 2);
    assert!(!String::from_utf8_lossy(&paper).contains("/S/Figure"));
    let texts = texts(&receipt);
    assert!(texts.concat().contains(&receipt.jws[..100]) && texts.iter().any(|text| text.starts_with("This is the signed receipt")));
}
