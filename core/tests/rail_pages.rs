//! The pages about rails in `docs/rails` end with tables that show what the code does. `RAILGATE_BLESS=1` regenerates them.

/// Compares the end of a page, from the heading with which `tables` begins, with `tables`.
fn compare(page: &str, tables: &str) {
    let path = format!("{}/../docs/rails/{page}.md", env!("CARGO_MANIFEST_DIR"));
    let heading = tables.lines().next().unwrap();
    let text = std::fs::read_to_string(&path).unwrap();
    let (written, shown) = text.split_at(text.find(heading).unwrap_or(text.len()));
    if std::env::var_os("RAILGATE_BLESS").is_some() {
        return std::fs::write(&path, format!("{written}{tables}")).unwrap();
    }
    assert_eq!(shown, tables, "run `RAILGATE_BLESS=1 cargo test -p railgate --test engine rail_pages` and look at the difference");
}

#[test]
fn the_page_about_mojaloop_shows_what_the_code_does() {
    compare("mojaloop", &railgate::rail::mojaloop::table::markdown());
}
