//! Statements as files, for the command line and the HTTP interface.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Seek as _};

use railgate::api::StatementFindingView;
use railgate::engine::Statement;
use railgate::reconcile::{CSV_HEADER, csv_cells};

use crate::csv::write_cells;

/// How many bytes are read at once.
const CHUNK: usize = 256 * 1024;

/// A statement in a file, which is read from its beginning each time.
pub(crate) struct StatementFile(pub(crate) File);

impl Statement for StatementFile {
    fn open(&mut self) -> io::Result<Box<dyn BufRead + '_>> {
        self.0.rewind()?;
        Ok(Box::new(BufReader::with_capacity(CHUNK, &mut self.0)))
    }
}

impl StatementFile {
    /// The SHA-256 of the file.
    #[cfg(feature = "cli")]
    pub(crate) fn digest(&mut self) -> io::Result<[u8; 32]> {
        use std::io::Read as _;

        use sha2::{Digest as _, Sha256};

        self.0.rewind()?;
        let (mut hasher, mut chunk) = (Sha256::new(), vec![0; CHUNK]);
        loop {
            let count = self.0.read(&mut chunk)?;
            if count == 0 {
                return Ok(hasher.finalize().into());
            }
            hasher.update(&chunk[..count]);
        }
    }
}

/// The first row of findings as CSV.
pub(crate) fn csv_header() -> String {
    let mut out = String::new();
    write_cells(&mut out, &CSV_HEADER);
    out
}

/// Findings as rows of CSV.
pub(crate) fn csv_rows(findings: &[StatementFindingView]) -> String {
    let mut out = String::new();
    findings.iter().for_each(|finding| write_cells(&mut out, &csv_cells(finding).each_ref().map(String::as_str)));
    out
}

/// Findings as rows of the page.
pub(crate) fn html_rows(findings: &[StatementFindingView]) -> String {
    let mut out = String::new();
    for finding in findings {
        let _ = out.write_str(&railgate::reconcile::html_row(finding));
    }
    out
}
