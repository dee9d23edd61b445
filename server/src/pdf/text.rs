//! Text of any script and direction, broken into lines and turned into glyphs.
//!
//! The Unicode Bidirectional Algorithm (UAX #9) orders it, UAX #14 determines where it may be broken (in Thai, Lao, Khmer and
//! Burmese a model of their words does), `OpenType` how it is drawn. A word that is wider than the column is broken between two
//! characters as people see them (UAX #29).

use std::ops::Range;

use icu_segmenter::options::LineBreakOptions;
use icu_segmenter::{GraphemeClusterSegmenter, LineSegmenter};
use krilla::text::{Font, GlyphId, KrillaGlyph};
use rustybuzz::{Direction, UnicodeBuffer};
use unicode_bidi::{BidiInfo, Level, ParagraphInfo};
use unicode_script::{Script, UnicodeScript as _};

use super::fonts::{Embedded, Face, MOST, Style, SystemNo, system_face, system_for};

/// Longer texts are cut off; no name, reference or description is longer. In bytes.
const LONGEST: usize = 1_000;
/// Longer clusters are cut off: no script has any, but combining marks can be stacked without end.
const CLUSTER: usize = 16;
/// Replaces characters that no font has.
const REPLACEMENT: &str = "\u{fffd}";

/// The direction of a text whose letters do not decide it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Base {
    /// Left to right: the gateway's own text.
    Ltr,
    /// As its first letter; right-to-left text is also aligned right.
    Auto,
    /// As its first letter, but always aligned left.
    Inline,
}

/// The fonts of a document: the built-in ones, and at most [`MOST`] of the system's.
pub(super) struct Fonts {
    embedded: &'static Embedded,
    system: Vec<(SystemNo, Option<Face>)>,
}

impl Fonts {
    pub(super) fn new() -> Option<Self> {
        Embedded::get().map(|embedded| Self { embedded, system: Vec::new() })
    }

    fn find(&mut self, style: Style, cluster: &str) -> Option<Face> {
        if let Some(face) = self.embedded.find(style, cluster) {
            return Some(face.clone());
        }
        let no = system_for(cluster.chars().next()?)?;
        if let Some((_, face)) = self.system.iter().find(|(known, _)| *known == no) {
            return face.clone();
        }
        if self.system.len() == MOST {
            return None;
        }
        let face = system_face(no);
        self.system.push((no, face.clone()));
        face
    }
}

/// A run of text in one font, one script and one direction.
struct Item {
    range: Range<usize>,
    face: Face,
    script: Script,
    level: Level,
}

/// Glyphs of one font, to be drawn from `x` on.
pub(super) struct Run {
    pub(super) x: f32,
    pub(super) font: Font,
    pub(super) glyphs: Vec<KrillaGlyph>,
    /// The text that the glyphs represent.
    pub(super) text: String,
}

/// A line of text that is ready to be drawn.
pub(super) struct Line {
    pub(super) runs: Vec<Run>,
    pub(super) width: f32,
}

/// Breaks a text of `size` points into lines no wider than `width`. A right-to-left paragraph is aligned right.
pub(super) fn lines(fonts: &mut Fonts, text: &str, (style, base): (Style, Base), size: f32, width: f32) -> Vec<Line> {
    let (text, faces) = shown(fonts, style, text);
    let level = match base {
        Base::Ltr => Some(Level::ltr()),
        Base::Auto | Base::Inline => None,
    };
    let bidi = BidiInfo::new(&text, level);
    // Paragraph separators do not get through to here; if one did, the text after it would be left out.
    let Some(paragraph) = bidi.paragraphs.first() else { return Vec::new() };
    let items = items(&text, faces, &bidi, paragraph);
    let layout = Layout { text: &text, items: &items, bidi: &bidi, paragraph, size };
    let right = paragraph.level.is_rtl() && base == Base::Auto;
    broken(&layout.advances(), &text, width).into_iter().map(|range| layout.line(range, right.then_some(width))).collect()
}

/// The text as it can be shown, and the font of each part.
fn shown(fonts: &mut Fonts, style: Style, text: &str) -> (String, Vec<(Range<usize>, Face)>) {
    let mut out = String::with_capacity(text.len());
    let mut faces: Vec<(Range<usize>, Face)> = Vec::new();
    let mut begin = 0;
    for end in GraphemeClusterSegmenter::new().segment_str(text).skip(1) {
        let mut cluster = text.get(begin..end).unwrap_or_default();
        begin = end;
        if let Some((cut, _)) = cluster.char_indices().nth(CLUSTER) {
            cluster = cluster.get(..cut).unwrap_or_default();
        }
        let at = out.len();
        if at > LONGEST {
            cluster = "…";
        }
        // Spaces and signs that all scripts share use the font of the text before them.
        let common = cluster.chars().all(|c| matches!(c.script(), Script::Common | Script::Inherited));
        let before = faces.last().filter(|(_, face)| common && style == Style::Regular && fonts.embedded.shows(face, cluster));
        let face = before.map(|(_, face)| face.clone()).or_else(|| fonts.find(style, cluster)).or_else(|| {
            cluster = REPLACEMENT;
            fonts.find(style, cluster)
        });
        let Some(face) = face else { continue };
        out.push_str(cluster);
        match faces.last_mut() {
            Some((range, last)) if last.is(&face) => range.end = out.len(),
            Some(_) | None => faces.push((at..out.len(), face)),
        }
        if at > LONGEST {
            break;
        }
    }
    (out, faces)
}

fn items(text: &str, faces: Vec<(Range<usize>, Face)>, bidi: &BidiInfo<'_>, paragraph: &ParagraphInfo) -> Vec<Item> {
    let mut items: Vec<Item> = Vec::new();
    for (range, face) in faces {
        let range = range.start..range.end.min(paragraph.range.end);
        let mut open = false;
        for (offset, c) in text.get(range.clone()).unwrap_or_default().char_indices() {
            let at = range.start + offset;
            let end = at + c.len_utf8();
            let level = bidi.levels.get(at).copied().unwrap_or(paragraph.level);
            let script = c.script();
            let shared = |script| matches!(script, Script::Common | Script::Inherited);
            match items.last_mut() {
                Some(last) if open && last.level == level && (last.script == script || shared(script) || shared(last.script)) => {
                    last.range.end = end;
                    if shared(last.script) {
                        last.script = script;
                    }
                }
                Some(_) | None => items.push(Item { range: at..end, face: face.clone(), script, level }),
            }
            open = true;
        }
    }
    items
}

/// A paragraph that is being broken into lines.
struct Layout<'a> {
    text: &'a str,
    items: &'a [Item],
    bidi: &'a BidiInfo<'a>,
    paragraph: &'a ParagraphInfo,
    size: f32,
}

impl Layout<'_> {
    /// The width of the text that begins at each byte, as pairs in the order of the text.
    fn advances(&self) -> Vec<(usize, f32)> {
        let mut advances: Vec<(usize, f32)> = Vec::new();
        for item in self.items {
            for glyph in self.glyphs(item, item.range.clone()) {
                advances.push((item.range.start + glyph.text_range.start, glyph.x_advance * self.size));
            }
        }
        advances.sort_by_key(|(at, _)| *at);
        advances
    }

    /// The glyphs of a part of an item, from left to right.
    fn glyphs(&self, item: &Item, range: Range<usize>) -> Vec<KrillaGlyph> {
        let text = self.text.get(range).unwrap_or_default();
        let mut buffer = UnicodeBuffer::new();
        buffer.push_str(text);
        buffer.guess_segment_properties();
        buffer.set_direction(if item.level.is_rtl() { Direction::RightToLeft } else { Direction::LeftToRight });
        let Some((shaped, em)) = item.face.shaped(buffer) else { return Vec::new() };
        let mut begins: Vec<usize> = shaped.glyph_infos().iter().map(|info| info.cluster as usize).collect();
        begins.sort_unstable();
        begins.dedup();
        let part = |units: i32| units as f32 / em as f32;
        let glyphs = shaped.glyph_infos().iter().zip(shaped.glyph_positions()).map(|(info, position)| {
            let begin = info.cluster as usize;
            let end = begins.get(begins.partition_point(|other| *other <= begin)).copied().unwrap_or(text.len());
            let (x, dx) = (part(position.x_advance), part(position.x_offset));
            KrillaGlyph::new(GlyphId::new(info.glyph_id), x, dx, part(position.y_offset), part(position.y_advance), begin..end, None)
        });
        glyphs.collect()
    }

    /// Builds a line; one that is aligned right ends at `right`.
    fn line(&self, range: Range<usize>, right: Option<f32>) -> Line {
        let (levels, visual) = self.bidi.visual_runs(self.paragraph, range.clone());
        let mut runs = Vec::new();
        let mut x = 0.0;
        for part in visual {
            let rtl = levels.get(part.start).is_some_and(Level::is_rtl);
            let mut inside: Vec<&Item> = self.items.iter().filter(|i| i.range.start < part.end && part.start < i.range.end).collect();
            if rtl {
                inside.reverse();
            }
            for item in inside {
                let range = item.range.start.max(part.start)..item.range.end.min(part.end);
                let glyphs = self.glyphs(item, range.clone());
                let advance = glyphs.iter().map(|glyph| glyph.x_advance * self.size).sum::<f32>();
                let text = self.text.get(range).unwrap_or_default().to_owned();
                runs.push(Run { x, font: item.face.font(), glyphs, text });
                x += advance;
            }
        }
        if let Some(right) = right {
            runs.iter_mut().for_each(|run| run.x += right - x);
        }
        Line { runs, width: x }
    }
}

/// The ranges of the lines.
fn broken(advances: &[(usize, f32)], text: &str, width: f32) -> Vec<Range<usize>> {
    let allowed: Vec<usize> = LineSegmenter::new_auto(LineBreakOptions::default()).segment_str(text).skip(1).collect();
    let between: Vec<usize> = GraphemeClusterSegmenter::new().segment_str(text).skip(1).collect();
    let wide = |range: Range<usize>| -> f32 {
        // White space at the end may overflow.
        let end = range.start + text.get(range.clone()).unwrap_or_default().trim_end().len();
        let first = advances.partition_point(|(at, _)| *at < range.start);
        advances.iter().skip(first).take_while(|(at, _)| *at < end).map(|(_, advance)| advance).sum()
    };
    let mut lines = Vec::new();
    let mut begin = 0;
    while begin < text.len() {
        let fitting = |ends: &[usize]| {
            let ends = ends.get(ends.partition_point(|end| *end <= begin)..).unwrap_or_default();
            ends.iter().copied().take_while(|end| wide(begin..*end) <= width).last()
        };
        // At least one cluster per line, however wide, so that the loop ends.
        let next = || between.get(between.partition_point(|end| *end <= begin)).copied();
        let end = fitting(&allowed).or_else(|| fitting(&between)).or_else(next).unwrap_or(text.len());
        lines.push(begin..end);
        begin = end;
    }
    lines
}
