//! Bundles as files.

use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use railgate::bundle::EXAMPLE;
use railgate::validate::bundle::{
    BUNDLE_MAX_BYTES, BundleContent, BundleDocument, MANIFEST, SECRETS, document_type, pack_bundle, parse_bundle, parse_bundle_secrets,
    unpack_bundle,
};
use serde_json::{Value, json};

use crate::cli::failure::{Done, Failure};
use crate::cli::session::random;
use crate::cli::terminal::{Terminal, note};

/// The folder of documents.
const DOCUMENTS: &str = "documents";

/// Reads a folder, an archive, or a JSON file.
pub(super) fn read(path: &Path) -> Done<BundleContent> {
    if path.is_dir() {
        return folder(path);
    }
    let bytes = file(path)?;
    let content = if bytes.starts_with(b"PK") { unpack_bundle(&bytes) } else { parse_bundle(&bytes) };
    content.map_err(Failure::from)
}

fn folder(path: &Path) -> Done<BundleContent> {
    let manifest = path.join(MANIFEST);
    if !manifest.exists() {
        return Err(Failure::new(format!("there is no {} in {}", MANIFEST, path.display())).hint("railgate bundle init writes an example"));
    }
    let text = String::from_utf8(file(&manifest)?).map_err(|_| Failure::new(format!("{} is not UTF-8", manifest.display())))?;
    let secrets = path.join(SECRETS);
    let secrets = if secrets.exists() { Some(parse_bundle_secrets(&file(&secrets)?)?) } else { None };
    let mut documents = Vec::new();
    for path in listed(&path.join(DOCUMENTS))? {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if name.starts_with('.') {
            continue;
        }
        if document_type(&name).is_none() {
            note(format_args!("{} is left out: it is no document", path.display()));
            continue;
        }
        documents.push(BundleDocument { content: file(&path)?, name });
    }
    Ok(BundleContent { manifest: text, secrets, documents })
}

fn listed(folder: &Path) -> Done<Vec<PathBuf>> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Ok(Vec::new()) };
    let paths: Result<Vec<PathBuf>, _> = entries.map(|entry| entry.map(|entry| entry.path())).collect();
    let mut paths = paths.map_err(|error| Failure::new(format!("cannot read {}: {error}", folder.display())))?;
    paths.retain(|path| path.is_file());
    paths.sort();
    Ok(paths)
}

fn file(path: &Path) -> Done<Vec<u8>> {
    let unreadable = |error| Failure::new(format!("cannot read {}: {error}", path.display()));
    let length = std::fs::metadata(path).map_err(unreadable)?.len();
    if length > BUNDLE_MAX_BYTES as u64 {
        return Err(Failure::new(format!("{} is too large: a bundle may have at most 10 MiB", path.display())));
    }
    std::fs::read(path).map_err(unreadable)
}

/// A bundle as it is sent.
pub(super) fn packed(content: &BundleContent) -> Vec<u8> {
    let secrets = content.secrets.as_ref().and_then(|secrets| serde_json::to_vec(secrets).ok());
    let mut files: Vec<(&str, &[u8])> = vec![(MANIFEST, content.manifest.as_bytes())];
    files.extend(secrets.as_deref().map(|secrets| (SECRETS, secrets)));
    files.extend(content.documents.iter().map(|document| (document.name.as_str(), document.content.as_slice())));
    pack_bundle(&files)
}

/// Writes the example of the documentation into a folder, with secrets of its own.
pub(super) fn init(folder: &Path, terminal: &Terminal) -> Done {
    let example: Value = serde_json::from_str(EXAMPLE).map_err(|error| Failure::caused("the example cannot be read", error))?;
    let secrets = json!({"sandbox": fresh_secrets()?, "live": fresh_secrets()?});
    let unwritable = |path: &Path, error| Failure::new(format!("cannot write {}: {error}", path.display()));
    let documents = folder.join(DOCUMENTS);
    for (name, content) in [(MANIFEST, &example["manifest"]), (SECRETS, &secrets)] {
        let path = folder.join(name);
        if path.exists() {
            return Err(Failure::new(format!("{} exists already", path.display())).hint("name another folder: railgate bundle init FOLDER"));
        }
        std::fs::create_dir_all(&documents).map_err(|error| unwritable(&documents, error))?;
        let text = serde_json::to_string_pretty(content).map_err(|error| Failure::caused("the example cannot be written", error))?;
        write(&path, &format!("{text}\n"), name == SECRETS).map_err(|error| unwritable(&path, error))?;
        terminal.line(path.display())?;
    }
    terminal.line(documents.display())?;
    note(format_args!("next: edit {}, then railgate bundle validate {}", folder.join(MANIFEST).display(), folder.display()));
    Ok(())
}

/// Writes a new file; a secret one is its owner's alone.
fn write(path: &Path, text: &str, secret: bool) -> std::io::Result<()> {
    use std::io::Write as _;

    let mut options = std::fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    if secret {
        use std::os::unix::fs::OpenOptionsExt as _;

        options.mode(0o600);
    }
    #[cfg(not(unix))]
    let _ = secret;
    options.open(path)?.write_all(text.as_bytes())
}

fn fresh_secrets() -> Done<Value> {
    let (mut token, mut callback) = ([0; 24], [0; 32]);
    random(&mut token)?;
    random(&mut callback)?;
    let token: String = token.iter().map(|byte| format!("{byte:02x}")).collect();
    Ok(json!({"token": token, "callback_secret": format!("whsec_{}", STANDARD.encode(callback))}))
}
