//! Lays out blocks on pages, with tags that describe them.

use std::num::NonZeroU16;

use krilla::Document;
use krilla::color::rgb;
use krilla::geom::{Path, PathBuilder, Point, Rect, Transform};
use krilla::metadata::{DateTime, Metadata};
use krilla::num::NormalizedF32;
use krilla::page::PageSettings;
use krilla::paint::{Fill, FillRule, Stroke, StrokeDash};
use krilla::surface::Surface;
use krilla::tagging::{Artifact, ArtifactType, ContentTag, Identifier, Node, SpanTag, TableHeaderScope, Tag, TagGroup, TagTree};
use railgate::receipt::{Code, Receipt};
use railgate::time::rfc3339;
use railgate::{Error, Result};

use super::text::Line;

/// Millimetres in points.
pub(super) const fn mm(millimetres: f32) -> f32 {
    millimetres * 72.0 / 25.4
}

/// A4.
const PAGE: (f32, f32) = (mm(210.0), mm(297.0));
const LEFT: f32 = mm(16.0);
const TOP: f32 = mm(14.0);
/// The bottom of the last line of a page.
const BOTTOM: f32 = PAGE.1 - mm(18.0);
/// The position of the footer of each page.
const FOOT: f32 = PAGE.1 - mm(10.0);
/// The width between the margins.
pub(super) const WIDTH: f32 = PAGE.0 - 2.0 * LEFT;

/// Red, green and blue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Colour(pub(super) u8, pub(super) u8, pub(super) u8);

/// A part of a page that is never split between pages.
pub(super) struct Block {
    /// The distance from the block above on the same page.
    pub(super) gap: f32,
    pub(super) height: f32,
    pub(super) cells: Vec<Cell>,
}

/// A part of a block with one role.
pub(super) struct Cell {
    role: Role,
    pub(super) marks: Vec<Mark>,
    /// Left, right and bottom of the area that may be drawn on; its top is that of the block.
    pub(super) clip: Option<(f32, f32, f32)>,
}

impl Cell {
    pub(super) fn new(role: Role, marks: Vec<Mark>) -> Self {
        Self { role, marks, clip: None }
    }

    pub(super) fn decoration(marks: Vec<Mark>) -> Self {
        Self::new(Role::Decoration, marks)
    }
}

/// The role of a cell, for readers who do not see it.
pub(super) enum Role {
    Title,
    Headline,
    Paragraph,
    /// The header of a row.
    Name,
    /// The content of a row.
    Value,
    /// A figure with its alternative text.
    Figure(String),
    /// Decoration without meaning.
    Decoration,
}

/// Something to be drawn, with positions relative to the top left of the block.
pub(super) enum Mark {
    /// On the base line `y`.
    Text {
        x: f32,
        y: f32,
        line: Line,
        size: f32,
        colour: Colour,
    },
    Box {
        x: f32,
        y: f32,
        width: f32,
        height: f32,
        colour: Colour,
    },
    /// A rounded outline.
    Frame {
        x: f32,
        y: f32,
        width: f32,
        height: f32,
        round: f32,
        dashed: bool,
        colour: Colour,
    },
    Code {
        x: f32,
        y: f32,
        side: f32,
        code: Code,
    },
}

/// Places `blocks` on pages, with `footer` and the page number at the foot of each.
pub(super) fn print(receipt: &Receipt, blocks: Vec<Block>, footer: Line, number: &mut dyn FnMut(usize, usize) -> Line) -> Result<Vec<u8>> {
    let pages = paginated(blocks);
    let all = pages.len();
    let mut document = Document::new();
    let mut tags = Tags::default();
    for (n, blocks) in pages.into_iter().enumerate() {
        let settings = PageSettings::from_wh(PAGE.0, PAGE.1).ok_or_else(|| Error::internal("A4 is no size of a page"))?;
        let mut page = document.start_page_with(settings);
        let mut surface = page.surface();
        for (y, block) in blocks {
            for cell in &block.cells {
                tags.add(cell, draw(&mut surface, cell, y));
            }
        }
        let number = number(n + 1, all);
        surface.start_tagged(ContentTag::Artifact(Artifact::with_kind(ArtifactType::Footer)));
        text(&mut surface, (LEFT, FOOT), &footer, 7.5, super::SOFT);
        text(&mut surface, (LEFT + WIDTH - number.width, FOOT), &number, 7.5, super::SOFT);
        surface.end_tagged();
        surface.finish();
        page.finish();
    }
    document.set_tag_tree(tags.tree());
    document.set_metadata(metadata(receipt));
    document.finish().map_err(|error| Error::internal(format!("the PDF cannot be written: {error}")))
}

/// Assigns each block to a page and a position.
fn paginated(blocks: Vec<Block>) -> Vec<Vec<(f32, Block)>> {
    let mut pages: Vec<Vec<(f32, Block)>> = Vec::new();
    let mut y = TOP;
    let mut blocks = blocks.into_iter().peekable();
    while let Some(block) = blocks.next() {
        let top = y + block.gap;
        // A headline stays with the block that it introduces.
        let with = match (&block.cells.first().map(|cell| &cell.role), blocks.peek()) {
            (Some(Role::Headline), Some(next)) => next.gap + next.height,
            _ => 0.0,
        };
        let fits = top + block.height + with <= BOTTOM;
        match pages.last_mut() {
            Some(page) if fits => {
                y = top + block.height;
                page.push((top, block));
            }
            Some(_) | None => {
                y = TOP + block.height;
                pages.push(vec![(TOP, block)]);
            }
        }
    }
    pages
}

fn metadata(receipt: &Receipt) -> Metadata {
    let claims = &receipt.claims;
    let metadata = Metadata::new()
        .title(format!("Receipt {}", claims.reference))
        .language("en".to_owned())
        .authors(vec![receipt.heading().issuer.into_owned()])
        .creator("railgate".to_owned())
        .document_id(format!("{} {}", claims.jti, receipt.key_id));
    match date(claims.iat) {
        Some(date) => metadata.creation_date(date),
        None => metadata,
    }
}

/// In UTC.
fn date(seconds: i64) -> Option<DateTime> {
    let text = rfc3339(seconds.checked_mul(1_000)?);
    let part = |range: std::ops::Range<usize>| text.get(range)?.parse::<u8>().ok();
    let date = DateTime::new(text.get(..4)?.parse().ok()?).month(part(5..7)?).day(part(8..10)?);
    Some(date.hour(part(11..13)?).minute(part(14..16)?).second(part(17..19)?).utc_offset_hour(0).utc_offset_minute(0))
}

/// The structure of the document while it is being built.
#[derive(Default)]
struct Tags {
    done: Vec<Node>,
    /// The rows of the current table.
    rows: Vec<Node>,
}

impl Tags {
    fn add(&mut self, cell: &Cell, content: Option<Identifier>) {
        let Some(content) = content else { return };
        let one = |tag: krilla::tagging::TagKind| TagGroup::with_children(tag, vec![Node::from(content)]);
        match &cell.role {
            Role::Decoration => {}
            Role::Name => {
                let name = one(Tag::TH(TableHeaderScope::Row).into());
                self.rows.push(TagGroup::with_children(Tag::TR, vec![name.into()]).into());
            }
            Role::Value => {
                if let Some(Node::Group(row)) = self.rows.last_mut() {
                    row.push(one(Tag::TD.into()));
                }
            }
            Role::Title => self.other(one(Tag::Hn(NonZeroU16::MIN, None).into())),
            Role::Headline => self.other(one(Tag::Hn(NonZeroU16::MIN.saturating_add(1), None).into())),
            Role::Paragraph => self.other(one(Tag::P.into())),
            Role::Figure(alt) => self.other(one(Tag::Figure(Some(alt.clone())).into())),
        }
    }

    fn other(&mut self, group: TagGroup) {
        self.close();
        self.done.push(group.into());
    }

    fn close(&mut self) {
        if !self.rows.is_empty() {
            self.done.push(TagGroup::with_children(Tag::Table, std::mem::take(&mut self.rows)).into());
        }
    }

    fn tree(mut self) -> TagTree {
        self.close();
        let mut tree = TagTree::new().with_lang(Some("en".to_owned()));
        self.done.into_iter().for_each(|node| tree.push(node));
        tree
    }
}

/// Draws a cell of a block whose top is at `top`.
fn draw(surface: &mut Surface<'_>, cell: &Cell, top: f32) -> Option<Identifier> {
    let content = match cell.role {
        Role::Decoration => {
            surface.start_tagged(ContentTag::Artifact(Artifact::with_kind(ArtifactType::Layout)));
            None
        }
        Role::Figure(_) => Some(surface.start_tagged(ContentTag::Other)),
        Role::Title | Role::Headline | Role::Paragraph | Role::Name | Role::Value => {
            Some(surface.start_tagged(ContentTag::Span(SpanTag::empty())))
        }
    };
    let clip = cell.clip.and_then(|(left, right, bottom)| rectangle(LEFT + left, top, right - left, bottom));
    if let Some(clip) = &clip {
        surface.push_clip_path(clip, &FillRule::NonZero);
    }
    for mark in &cell.marks {
        match mark {
            Mark::Text { x, y, line, size, colour } => text(surface, (LEFT + x, top + y), line, *size, *colour),
            Mark::Box { x, y, width, height, colour } => fill(surface, rectangle(LEFT + x, top + y, *width, *height), *colour),
            Mark::Frame { x, y, width, height, round, dashed, colour } => {
                let dash = dashed.then(|| StrokeDash { array: vec![4.0, 3.0], offset: 0.0 });
                let path = rounded((LEFT + x, top + y), (*width, *height), *round);
                surface.set_fill(None);
                surface.set_stroke(Some(Stroke { paint: paint(*colour).into(), width: 1.0, dash, ..Stroke::default() }));
                if let Some(path) = path {
                    surface.draw_path(&path);
                }
                surface.set_stroke(None);
            }
            Mark::Code { x, y, side, code } => {
                // In units of modules: whole numbers, of which there are thousands, are short.
                let module = side / code.side as f32;
                surface.push_transform(&Transform::from_row(module, 0.0, 0.0, module, LEFT + x, top + y));
                fill(surface, modules(code), Colour(0, 0, 0));
                surface.pop();
            }
        }
    }
    if clip.is_some() {
        surface.pop();
    }
    surface.end_tagged();
    content
}

fn paint(Colour(red, green, blue): Colour) -> rgb::Color {
    rgb::Color::new(red, green, blue)
}

fn fill(surface: &mut Surface<'_>, path: Option<Path>, colour: Colour) {
    surface.set_fill(Some(Fill { paint: paint(colour).into(), opacity: NormalizedF32::ONE, rule: FillRule::NonZero }));
    if let Some(path) = path {
        surface.draw_path(&path);
    }
}

fn text(surface: &mut Surface<'_>, (x, y): (f32, f32), line: &Line, size: f32, colour: Colour) {
    surface.set_fill(Some(Fill { paint: paint(colour).into(), opacity: NormalizedF32::ONE, rule: FillRule::NonZero }));
    for run in line.runs.iter().filter(|run| !run.glyphs.is_empty()) {
        surface.draw_glyphs(Point::from_xy(x + run.x, y), &run.glyphs, run.font.clone(), &run.text, size, false);
    }
}

fn rectangle(x: f32, y: f32, width: f32, height: f32) -> Option<Path> {
    let mut path = PathBuilder::new();
    path.push_rect(Rect::from_xywh(x, y, width, height)?);
    path.finish()
}

fn rounded((x, y): (f32, f32), (width, height): (f32, f32), round: f32) -> Option<Path> {
    let (right, bottom) = (x + width, y + height);
    // The distance of the control points of a quarter circle from its corner.
    let c = round * 0.447_715;
    let mut path = PathBuilder::new();
    path.move_to(x + round, y);
    path.line_to(right - round, y);
    path.cubic_to(right - c, y, right, y + c, right, y + round);
    path.line_to(right, bottom - round);
    path.cubic_to(right, bottom - c, right - c, bottom, right - round, bottom);
    path.line_to(x + round, bottom);
    path.cubic_to(x + c, bottom, x, bottom - c, x, bottom - round);
    path.line_to(x, y + round);
    path.cubic_to(x, y + c, x + c, y, x + round, y);
    path.close();
    path.finish()
}

/// The dark modules of a code.
fn modules(code: &Code) -> Option<Path> {
    let mut path = PathBuilder::new();
    for bar in &code.bars {
        path.push_rect(Rect::from_xywh(bar.x as f32, bar.y as f32, bar.length as f32, 1.0)?);
    }
    path.finish()
}
