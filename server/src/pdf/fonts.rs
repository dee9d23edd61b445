//! The fonts of the document: a few built-in ones, and the system's for all other scripts.
//!
//! The system's fonts are scanned once, when they are first needed, to note which font has each character; so a character
//! that no font has costs no more than any other. Only a few fonts are kept in memory.

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock, Mutex, OnceLock, PoisonError};

use fontdb::{Database, FaceInfo, ID};
use krilla::text::Font;
use rustybuzz::{GlyphBuffer, UnicodeBuffer, ttf_parser};

use crate::packed::{packed, unpacked};

/// The largest system font that is read: the largest common ones, for Chinese, Japanese and Korean together, have 20 MB.
const LARGEST: usize = 48 << 20;
/// How many of the system's fonts are kept in memory, and how many are used in one document.
pub(super) const MOST: usize = 4;

/// A font for drawing.
#[derive(Clone)]
pub(super) struct Face(Arc<Loaded>);

struct Loaded {
    font: Font,
    shaper: Shaper,
}

/// Turns characters into glyphs.
enum Shaper {
    /// Parsed.
    Embedded(Box<rustybuzz::Face<'static>>),
    /// The contents of the file, to be parsed, and the font's index in it.
    System(Arc<Vec<u8>>, u32),
}

impl Face {
    fn embedded(bytes: &'static [u8]) -> Option<Self> {
        let shaper = Shaper::Embedded(Box::new(rustybuzz::Face::from_slice(bytes, 0)?));
        Some(Self(Arc::new(Loaded { font: Font::new(bytes.into(), 0)?, shaper })))
    }

    fn system(bytes: Vec<u8>, index: u32) -> Option<Self> {
        let bytes = Arc::new(bytes);
        rustybuzz::Face::from_slice(&bytes, index)?;
        let font = Font::new(Arc::clone(&bytes).into(), index)?;
        Some(Self(Arc::new(Loaded { font, shaper: Shaper::System(bytes, index) })))
    }

    pub(super) fn font(&self) -> Font {
        self.0.font.clone()
    }

    /// The glyphs of a text, and the units per em.
    pub(super) fn shaped(&self, text: UnicodeBuffer) -> Option<(GlyphBuffer, i32)> {
        let with = |shaper: &rustybuzz::Face<'_>| (rustybuzz::shape(shaper, &[], text), shaper.units_per_em().max(1));
        match &self.0.shaper {
            Shaper::Embedded(shaper) => Some(with(shaper)),
            Shaper::System(bytes, index) => rustybuzz::Face::from_slice(bytes, *index).as_ref().map(with),
        }
    }

    pub(super) fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

/// The style of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Style {
    /// For text by others, in any script, and most of the gateway's own.
    Regular,
    /// For headlines and amounts: ASCII.
    Bold,
    /// For the signed receipt: ASCII.
    Mono,
}

/// The built-in fonts, and the characters that each has.
pub(super) struct Embedded {
    bold: Covering,
    mono: Covering,
    /// In the order in which they are tried.
    regular: Vec<Covering>,
}

/// A font with its characters, in order.
struct Covering {
    face: Face,
    chars: Vec<u32>,
}

impl Covering {
    /// What is unpacked stays: the fonts are parsed in place, once.
    fn embedded(packed: &[u8]) -> Option<Self> {
        let bytes: &'static [u8] = unpacked(packed)?.leak();
        let mut chars = chars(&ttf_parser::Face::parse(bytes, 0).ok()?);
        chars.sort_unstable();
        chars.dedup();
        Some(Self { face: Face::embedded(bytes)?, chars })
    }

    fn shows(&self, text: &str) -> bool {
        text.chars().all(|c| self.chars.binary_search(&u32::from(c)).is_ok())
    }
}

impl Embedded {
    /// `None` if one of the files is not a font, which a test rules out.
    pub(super) fn get() -> Option<&'static Self> {
        static EMBEDDED: LazyLock<Option<Embedded>> = LazyLock::new(|| {
            let regular: [&[u8]; 5] = [
                packed!("NotoSans-Regular.ttf"),
                packed!("NotoSansArabic-Regular.ttf"),
                packed!("NotoSansHebrew-Regular.ttf"),
                packed!("NotoSansDevanagari-Regular.ttf"),
                packed!("NotoSansThai-Regular.ttf"),
            ];
            Some(Embedded {
                bold: Covering::embedded(packed!("NotoSans-Bold.ttf"))?,
                mono: Covering::embedded(packed!("NotoSansMono-Regular.ttf"))?,
                regular: regular.into_iter().map(Covering::embedded).collect::<Option<_>>()?,
            })
        });
        EMBEDDED.as_ref()
    }

    /// The built-in font that has all characters of `cluster`.
    pub(super) fn find(&self, style: Style, cluster: &str) -> Option<&Face> {
        let first = match style {
            Style::Regular => None,
            Style::Bold => Some(&self.bold),
            Style::Mono => Some(&self.mono),
        };
        first.into_iter().chain(&self.regular).find(|covering| covering.shows(cluster)).map(|covering| &covering.face)
    }

    /// Whether `face` is built in and has all of `cluster`.
    pub(super) fn shows(&self, face: &Face, cluster: &str) -> bool {
        let all = [&self.bold, &self.mono].into_iter().chain(&self.regular);
        all.filter(|covering| covering.face.is(face)).any(|covering| covering.shows(cluster))
    }
}

/// The fonts of the system.
struct System {
    fonts: Database,
    /// In order of preference.
    order: Vec<ID>,
    /// The first font that has a character, counted from one; zero means none. In pages of 256 characters.
    pages: BTreeMap<u32, Box<[u16; 256]>>,
    /// The fonts that were used last.
    held: Mutex<Vec<(u16, Face)>>,
}

/// A font of the system, by its place in the order of preference.
pub(super) type SystemNo = u16;

/// The system's font for a character.
pub(super) fn system_for(c: char) -> Option<SystemNo> {
    let code = u32::from(c);
    let page = system().pages.get(&(code >> 8))?;
    page.get((code & 0xff) as usize).copied().filter(|no| *no != 0)
}

/// Loads a font of the system. `None` if it is gone or too large.
pub(super) fn system_face(no: SystemNo) -> Option<Face> {
    let system = system();
    let mut held = system.held.lock().unwrap_or_else(PoisonError::into_inner);
    let found = held.iter().position(|(known, _)| *known == no).map(|at| held.remove(at).1);
    let face = match found {
        Some(face) => face,
        None => {
            let id = *system.order.get(usize::from(no).checked_sub(1)?)?;
            let read = |bytes: &[u8], index| (bytes.len() <= LARGEST).then(|| (bytes.to_vec(), index));
            let (bytes, index) = system.fonts.with_face_data(id, read)??;
            Face::system(bytes, index)?
        }
    };
    held.insert(0, (no, face.clone()));
    held.truncate(MOST);
    Some(face)
}

fn system() -> &'static System {
    static SYSTEM: OnceLock<System> = OnceLock::new();
    SYSTEM.get_or_init(System::look)
}

impl System {
    fn look() -> Self {
        let mut fonts = Database::new();
        fonts.load_system_fonts();
        let mut faces: Vec<(_, ID)> = fonts.faces().filter(|face| plain(face)).map(|face| (preference(face), face.id)).collect();
        faces.sort_unstable();
        let order: Vec<ID> = faces.into_iter().map(|(_, id)| id).take(usize::from(u16::MAX)).collect();
        let mut pages: BTreeMap<u32, Box<[u16; 256]>> = BTreeMap::new();
        for (no, id) in (1..).zip(&order) {
            let shown = fonts.with_face_data(*id, |bytes, index| {
                let face = ttf_parser::Face::parse(bytes, index).ok().filter(|face| bytes.len() <= LARGEST && has_outlines(face));
                face.map(|face| chars(&face)).unwrap_or_default()
            });
            for code in shown.unwrap_or_default() {
                let page = pages.entry(code >> 8).or_insert_with(|| Box::new([0; 256]));
                if let Some(free) = page.get_mut((code & 0xff) as usize).filter(|no| **no == 0) {
                    *free = no;
                }
            }
        }
        Self { fonts, order, pages, held: Mutex::default() }
    }
}

fn plain(face: &FaceInfo) -> bool {
    face.style == fontdb::Style::Normal && (300..=500).contains(&face.weight.0)
}

/// Prefers Noto, because the built-in fonts are Noto too, and the first of a collection, which for Chinese, Japanese and
/// Korean is the one with the characters of all; then sorts by name, so that every start finds the same order.
fn preference(face: &FaceInfo) -> (bool, u16, bool, u32, String) {
    let family = face.families.first().map_or("", |(name, _)| name.as_str());
    let name = if family.is_empty() { face.post_script_name.clone() } else { family.to_owned() };
    (!name.starts_with("Noto Sans"), face.weight.0.abs_diff(400), face.monospaced, face.index, name)
}

/// Fonts that contain only bitmaps are not used.
fn has_outlines(face: &ttf_parser::Face<'_>) -> bool {
    let tables = face.tables();
    tables.glyf.is_some() || tables.cff.is_some() || tables.cff2.is_some()
}

/// The characters that a font has.
fn chars(face: &ttf_parser::Face<'_>) -> Vec<u32> {
    let mut chars = Vec::new();
    for table in face.tables().cmap.into_iter().flat_map(|cmap| cmap.subtables).filter(ttf_parser::cmap::Subtable::is_unicode) {
        table.codepoints(|code| {
            if chars.len() < 0x11_0000 && code < 0x11_0000 && table.glyph_index(code).is_some_and(|glyph| glyph.0 != 0) {
                chars.push(code);
            }
        });
    }
    chars
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fonts_that_come_along_show_the_scripts_that_they_are_for() {
        let fonts = Embedded::get().unwrap();
        for text in ["Łódź naïve €", "Ελληνικά", "Кириллица ґ", "العربية", "עברית", "हिन्दी", "ภาษาไทย", "\u{fffd}"]
        {
            assert!(text.split(' ').all(|word| fonts.find(Style::Regular, word).is_some()), "{text}");
        }
        let ascii: String = ('\u{20}'..='\u{7e}').collect();
        for style in [Style::Regular, Style::Bold, Style::Mono] {
            assert!(fonts.find(style, &ascii).is_some());
        }
        assert!(fonts.find(Style::Regular, "東").is_none());
    }
}
