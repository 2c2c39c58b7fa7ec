//! Matrices of the run: shape, row statistics and a spy plot, as small PNGs inside the page.
//!
//! PNG and not SVG: a noisy 64 x 64 grid is 2 KB as an image and 100 KB as rectangles. Density is opacity of one
//! colour, so that one image suits a light page, a dark page and paper.

use crate::report::model::{Report, Source, SpyGrid};
use crate::report::show::{count, counted};
use data_encoding::BASE64;
use flate2::{Compression, Crc, write::ZlibEncoder};
use maud::{Markup, html};
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::io::Write;

/// Matrices shown; families take turns, so that each is seen.
const SHOWN: usize = 60;
/// The colour of entries (red, green, blue), readable on white and on near-black.
const INK: [u8; 3] = [0x3b, 0x82, 0xf6];

/// The gallery, or nothing if the run names no sources.
pub(super) fn section(report: &Report) -> Markup {
    if report.sources.is_empty() {
        return html! {};
    }
    let shown = choose(&report.sources);
    let hidden = report.sources.len() - shown.len();
    html! {
        section id="matrices" {
            h2 { "Matrices" }
            p.quiet {
                (count(report.sources.len() as u64)) " in this run"
                @if hidden > 0 { ", " (shown.len()) " shown, every family among them; the others are in report.json" }
                ". The picture shows where entries lie, stronger where they are denser."
            }
            div.gallery { @for source in shown { (figure(source)) } }
        }
    }
}

/// The best picture of each family, then the second best, and so on; families in alphabetical order. A source with
/// a picture comes before one without, which is shown only to stand for its family; more entries before fewer.
fn choose(sources: &[Source]) -> Vec<&Source> {
    let mut families: BTreeMap<&str, Vec<&Source>> = BTreeMap::new();
    for source in sources {
        families.entry(&source.family).or_default().push(source);
    }
    let mut ranked: Vec<(usize, &str, &Source)> = Vec::new();
    for (family, mut members) in families {
        members.sort_by_key(|source| Reverse((source.spy.is_some(), source.nnz)));
        ranked.extend(members.into_iter().enumerate().map(|(turn, source)| (turn, family, source)));
    }
    ranked.retain(|&(turn, _, source)| turn == 0 || source.spy.is_some());
    ranked.sort_by_key(|&(turn, family, _)| (turn, family));
    ranked.truncate(SHOWN);
    ranked.sort_by_key(|&(turn, family, _)| (family, turn));
    ranked.into_iter().map(|(_, _, source)| source).collect()
}

fn figure(source: &Source) -> Markup {
    html! {
        figure {
            @match source.spy.as_ref().and_then(data_uri) {
                Some(uri) => img.spy src=(uri) alt={ "spy plot of " (source.spec) } width="120" height="120";,
                None => div.spy.empty { "no picture" },
            }
            figcaption {
                b title=(source.spec) { @for part in source.spec.split_inclusive([',', ':', '/']) { (part) wbr; } }
                span { (count(source.rows)) " × " (count(source.cols)) ", " (counted(source.nnz, "entry").replace("entrys", "entries")) }
                @if let Some(rows) = source.row_nnz {
                    span.quiet title="stored entries per row" {
                        "per row " (count(rows.min)) "–" (count(rows.max)) ", mean " (format!("{:.2}", rows.mean))
                        ", σ " (format!("{:.2}", rows.std))
                        @if rows.empty > 0 { ", " (count(rows.empty)) " empty" }
                    }
                }
            }
        }
    }
}

/// The grid as a PNG in a `data:` address; `None` for a grid without cells or of the wrong size.
fn data_uri(spy: &SpyGrid) -> Option<String> {
    let cells = u64::from(spy.width) * u64::from(spy.height);
    if cells == 0 || cells != spy.cells.len() as u64 {
        return None;
    }
    Some(format!("data:image/png;base64,{}", BASE64.encode(&png(spy).ok()?)))
}

/// RGBA, 8 bits a channel, no filter.
fn png(spy: &SpyGrid) -> std::io::Result<Vec<u8>> {
    let mut header = Vec::new();
    header.extend(spy.width.to_be_bytes());
    header.extend(spy.height.to_be_bytes());
    header.extend([8, 6, 0, 0, 0]);
    let mut pixels = ZlibEncoder::new(Vec::new(), Compression::best());
    for row in spy.cells.chunks(spy.width as usize) {
        pixels.write_all(&[0])?;
        for &cell in row {
            pixels.write_all(&[INK[0], INK[1], INK[2], opacity(cell)])?;
        }
    }
    let mut file = b"\x89PNG\r\n\x1a\n".to_vec();
    chunk(&mut file, *b"IHDR", &header);
    chunk(&mut file, *b"IDAT", &pixels.finish()?);
    chunk(&mut file, *b"IEND", &[]);
    Ok(file)
}

/// 16 levels, which compress; an occupied cell is never invisible.
fn opacity(cell: u8) -> u8 {
    match cell {
        0 => 0,
        _ => (cell | 0x0f).max(0x4f),
    }
}

fn chunk(file: &mut Vec<u8>, kind: [u8; 4], data: &[u8]) {
    file.extend((data.len() as u32).to_be_bytes());
    file.extend(kind);
    file.extend(data);
    let mut check = Crc::new();
    check.update(&kind);
    check.update(data);
    file.extend(check.sum().to_be_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grids_without_a_picture_give_none() {
        let grid = |width, height, cells: usize| SpyGrid { width, height, cells: vec![9; cells] };
        assert!(data_uri(&grid(0, 0, 0)).is_none());
        assert!(data_uri(&grid(3, 3, 8)).is_none());
        assert!(data_uri(&grid(3, 3, 9)).is_some());
    }

    #[test]
    fn a_crowd_of_one_family_hides_no_other() {
        let source = |family: &str, nnz: u64, picture: bool| Source {
            spec: family.to_owned(),
            family: family.to_owned(),
            rows: 1,
            cols: 1,
            nnz,
            row_nnz: None,
            spy: picture.then(|| SpyGrid { width: 1, height: 1, cells: vec![1] }),
        };
        let mut sources: Vec<Source> = (0..100).map(|nnz| source("crowd", nnz, true)).collect();
        sources.extend((0..100).map(|nnz| source("blank", nnz, false)));
        sources.push(source("alone", 0, false));
        let shown = choose(&sources);
        assert_eq!(shown.len(), SHOWN);
        let of =
            |family: &str| shown.iter().filter(|s| s.family == family).map(|s| s.nnz).collect::<Vec<_>>();
        assert_eq!((of("alone"), of("blank")), (vec![0], vec![99]));
        assert!(of("crowd").contains(&99) && !of("crowd").contains(&0));
    }
}
