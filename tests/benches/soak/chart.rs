//! The samples as a drawing: SVG that is readable on light and on dark pages.

use std::fmt::Write as _;

use super::samples::Sample;

/// A line of a panel: its name, and what it shows.
type Line = (&'static str, fn(&Sample) -> f64);

struct Panel {
    title: &'static str,
    lines: &'static [Line],
}

const PANELS: [Panel; 6] = [
    Panel { title: "Memory, MiB", lines: &[("RSS", |it| it.rss_mib)] },
    Panel { title: "Descriptors and threads", lines: &[("descriptors", |it| it.descriptors), ("threads", |it| it.threads)] },
    Panel { title: "Create, ms", lines: &[("p99", |it| it.create.p99), ("p50", |it| it.create.p50)] },
    Panel { title: "Read, ms", lines: &[("p99", |it| it.read.p99), ("p50", |it| it.read.p50)] },
    Panel { title: "After the event, p99, ms", lines: &[("webhook", |it| it.webhook.p99), ("stream", |it| it.stream.p99)] },
    Panel { title: "Files, MiB", lines: &[("database", |it| it.database_mib), ("write-ahead log", |it| it.wal_mib)] },
];

/// The size of a panel, with what is written around it, and that of its drawing.
const WIDTH: f64 = 380.0;
const HEIGHT: f64 = 190.0;
const INNER: (f64, f64) = (310.0, 110.0);
/// Where the drawing is in its panel.
const AT: (f64, f64) = (54.0, 44.0);
/// As many points as can be told apart: of more, each is the largest of some.
const POINTS: usize = 155;

const STYLE: &str = "
  text { font: 12px system-ui, sans-serif; fill: #333 }
  .title { font-weight: 600 } .axis { stroke: #999; fill: none } .grid { stroke: #e2e2e2 }
  .l0 { stroke: #0b63b5 } .l1 { stroke: #b4530a } .k0 { fill: #0b63b5 } .k1 { fill: #b4530a }
  polyline { fill: none; stroke-width: 1.5 }
  @media (prefers-color-scheme: dark) {
    text { fill: #ddd } .axis { stroke: #888 } .grid { stroke: #3a3a3a }
    .l0 { stroke: #6cb2f5 } .l1 { stroke: #f0a35e } .k0 { fill: #6cb2f5 } .k1 { fill: #f0a35e }
  }
";

/// The drawing of these samples.
pub fn drawn(samples: &[Sample]) -> String {
    let (width, height) = (2.0 * WIDTH, 3.0 * HEIGHT);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" role=\"img\" aria-label=\"Memory, descriptors, response times and files over the run\">\n<style>{STYLE}</style>\n"
    );
    for (n, panel) in PANELS.iter().enumerate() {
        let at = ((n % 2) as f64 * WIDTH, (n / 2) as f64 * HEIGHT);
        let _ = writeln!(svg, "<g transform=\"translate({} {})\">", at.0, at.1);
        draw(&mut svg, panel, samples);
        svg.push_str("</g>\n");
    }
    svg.push_str("</svg>\n");
    svg
}

fn draw(svg: &mut String, panel: &Panel, samples: &[Sample]) {
    let minutes = samples.last().map_or(1.0, |sample| sample.seconds / 60.0);
    let highest = samples.iter().flat_map(|sample| panel.lines.iter().map(move |(_, of)| of(sample))).fold(0.0, f64::max);
    let top = round_up(highest);
    let (x, y) = (|minute: f64| AT.0 + INNER.0 * minute / minutes, |value: f64| AT.1 + INNER.1 * (1.0 - value / top));
    let _ = writeln!(svg, "<text class=\"title\" x=\"{}\" y=\"18\">{}</text>", AT.0, panel.title);
    for part in 0..=4 {
        let value = top * f64::from(part) / 4.0;
        let (right, at) = (AT.0 + INNER.0, y(value));
        let _ = writeln!(svg, "<path class=\"grid\" d=\"M{} {at:.1}H{right}\"/>", AT.0);
        let _ = writeln!(svg, "<text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>", AT.0 - 6.0, at + 4.0, short(value));
        let minute = minutes * f64::from(part) / 4.0;
        let _ =
            writeln!(svg, "<text x=\"{:.1}\" y=\"{}\" text-anchor=\"middle\">{}</text>", x(minute), AT.1 + INNER.1 + 16.0, short(minute));
    }
    let _ = writeln!(svg, "<text x=\"{}\" y=\"18\" text-anchor=\"end\">minutes</text>", AT.0 + INNER.0);
    let mut key = AT.0;
    for (n, (name, of)) in panel.lines.iter().enumerate() {
        let each = samples.len().div_ceil(POINTS).max(1);
        let points = samples.chunks(each).map(|some| {
            let value = some.iter().map(of).fold(0.0, f64::max);
            format!("{:.1},{:.1}", x(some[some.len() - 1].seconds / 60.0), y(value))
        });
        let _ = writeln!(svg, "<polyline class=\"l{n}\" points=\"{}\"/>", points.collect::<Vec<_>>().join(" "));
        let _ = writeln!(svg, "<text class=\"k{n}\" x=\"{key}\" y=\"35\">{name}</text>");
        key += 12.0 + 7.0 * name.len() as f64;
    }
}

/// The next of 1, 2, 4 and 8 times a power of ten.
fn round_up(value: f64) -> f64 {
    let power = 10.0_f64.powf(value.max(0.001).log10().floor());
    [1.0, 2.0, 4.0, 8.0, 10.0].into_iter().map(|step| step * power).find(|step| *step >= value).unwrap_or(value)
}

fn short(value: f64) -> String {
    if value >= 10.0 || value.fract() == 0.0 { format!("{value:.0}") } else { format!("{value:.1}") }
}
