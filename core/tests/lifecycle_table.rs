//! `docs/lifecycle.md` shows what the code does. `RAILGATE_BLESS=1` regenerates it.

#[test]
fn the_page_is_what_the_code_does() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/lifecycle.md");
    let table = railgate::lifecycle::table::markdown();
    if std::env::var_os("RAILGATE_BLESS").is_some() {
        std::fs::write(path, &table).unwrap();
    }
    let page = std::fs::read_to_string(path).unwrap_or_default();
    assert_eq!(page, table, "run `RAILGATE_BLESS=1 cargo test -p railgate --test engine lifecycle_table` and look at the difference");
}
