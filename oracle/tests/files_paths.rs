//! Files on disk and in the binary: endings, gzip, folders, the embedded pack, statistics and plots.

use flate2::Compression;
use flate2::write::GzEncoder;
use sparse_oracle::format::{Csr, CsrParts};
use sparse_oracle::source::embedded;
use sparse_oracle::source::file::{list_dir, read_path};
use sparse_oracle::source::file_error::FileError;
use sparse_oracle::source::matrix_market::{Field, Symmetry, read_matrix_market};
use sparse_oracle::source::spy::{SpyGrid, SpyStyle, spy_text};
use sparse_oracle::source::statistics::RowStatistics;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

const EYE: &str = "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1\n2 2 1\n";

fn gzip(text: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(text).expect("a Vec takes everything");
    encoder.finish().expect("a Vec takes everything")
}

fn put(folder: &Path, name: &str, bytes: &[u8]) -> PathBuf {
    let path = folder.join(name);
    fs::create_dir_all(path.parent().expect("has a folder")).expect("folder can be made");
    fs::write(&path, bytes).expect("file can be written");
    path
}

fn root(path: &Path) -> FileError {
    let error = read_path(path).expect_err("must be refused");
    assert!(error.to_string().contains(&path.display().to_string()), "the message names the file: {error}");
    error.root().clone()
}

#[test]
fn names_say_the_format_and_gzip_is_found_by_its_magic() {
    let dir = tempfile::tempdir().expect("temporary folder");
    let mask = b"2, 2, 2\n0 1 2\n0 1\n";
    for (name, bytes) in [
        ("a.mtx", EYE.as_bytes().to_vec()),
        ("b.MTX.GZ", gzip(EYE.as_bytes())),
        ("c.mtx", gzip(EYE.as_bytes())),
        ("d.smtx", mask.to_vec()),
        ("e.smtx.gz", gzip(mask)),
    ] {
        let matrix = read_path(&put(dir.path(), name, &bytes)).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!((matrix.coo.rows, matrix.coo.cols, matrix.coo.nnz()), (2, 2, 2), "{name}");
        assert_eq!(matrix.name, &name[..1]);
        assert_eq!(matrix.coo.values, [1.0, 1.0]);
        assert_eq!(matrix.pattern_only, name.contains("smtx"));
    }
    let twice = put(dir.path(), "twice.mtx.gz", &gzip(&gzip(EYE.as_bytes())));
    assert!(matches!(root(&twice), FileError::NoBanner { .. }), "one layer of gzip, not two");
    let parts = [gzip(&EYE.as_bytes()[..60]), gzip(&EYE.as_bytes()[60..])].concat();
    assert!(
        read_path(&put(dir.path(), "members.mtx.gz", &parts)).is_ok(),
        "gzip files may have several members"
    );
}

#[test]
fn what_is_not_a_readable_file_is_a_typed_error() {
    let dir = tempfile::tempdir().expect("temporary folder");
    fs::create_dir(dir.path().join("folder.mtx")).expect("folder can be made");
    assert_eq!(root(&dir.path().join("folder.mtx")), FileError::NotAFile);
    let missing = root(&dir.path().join("missing.mtx"));
    assert!(matches!(missing, FileError::Open { kind: std::io::ErrorKind::NotFound, .. }), "{missing}");
    assert_eq!(root(&put(dir.path(), "empty.mtx", b"")), FileError::Empty);
    assert_eq!(root(&put(dir.path(), "empty.smtx", b"")), FileError::Empty);
    assert_eq!(root(&put(dir.path(), "matrix.rb", EYE.as_bytes())), FileError::UnknownExtension);
    assert_eq!(root(&put(dir.path(), "plain.mtx.gz", EYE.as_bytes())), FileError::NotGzip);
    let packed = gzip(EYE.as_bytes());
    let cut = root(&put(dir.path(), "cut.mtx.gz", &packed[..packed.len() - 9]));
    assert!(matches!(cut, FileError::Read { .. }), "{cut}");
    let mut broken = packed.clone();
    let crc = broken.len() - 8;
    broken[crc] ^= 1;
    let broken = root(&put(dir.path(), "crc.mtx.gz", &broken));
    assert!(matches!(broken, FileError::Read { .. }), "{broken}");
    let junk: Vec<u8> = (0..200_000u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as u8 | 0x80).collect();
    let error = root(&put(dir.path(), "junk.mtx", &junk));
    assert_eq!(error, FileError::LineTooLong { line: 1, limit: 65_536 });
}

#[test]
#[cfg(unix)]
fn an_unreadable_file_and_a_pipe_are_typed_errors() {
    use std::os::unix::fs::PermissionsExt;
    let dir = tempfile::tempdir().expect("temporary folder");
    let path = put(dir.path(), "locked.mtx", EYE.as_bytes());
    fs::set_permissions(&path, fs::Permissions::from_mode(0o000)).expect("permissions can be set");
    if fs::read(&path).is_ok() {
        // Past the capture of the test harness.
        let text = "SKIPPED: 1 check (unreadable file): this user may read everything";
        writeln!(std::io::stderr(), "{text}").expect("stderr takes text");
    } else {
        let locked = root(&path);
        assert!(
            matches!(locked, FileError::Open { kind: std::io::ErrorKind::PermissionDenied, .. }),
            "{locked}"
        );
    }
    let device = dir.path().join("zero.mtx");
    std::os::unix::fs::symlink("/dev/zero", &device).expect("link can be made");
    assert_eq!(root(&device), FileError::NotAFile);
}

#[test]
fn a_gzip_bomb_stops_at_the_header() {
    // 64 MiB of entries in 64 KiB; the header promises two.
    let entries = "1 1 1\n".repeat(64 << 20).into_bytes();
    let bomb =
        gzip(&[b"%%MatrixMarket matrix coordinate real general\n1 1 2\n", &entries[..64 << 20]].concat());
    let error = read_matrix_market(&bomb[..]).expect_err("bomb");
    assert_eq!(error, FileError::TooMany { line: 5, what: "entries", promised: 2 });
}

#[test]
fn folders_are_listed_sorted_and_deep() {
    let dir = tempfile::tempdir().expect("temporary folder");
    let names = ["b.mtx", "a/z.smtx", "a/deep/er/y.mtx.gz", "a/README.md", "x.mtx.bz2", "mtx", "c.MTX"];
    for name in names {
        put(dir.path(), name, b"");
    }
    let listing = list_dir(dir.path()).expect("can be listed");
    let under = |names: &[&str]| -> Vec<PathBuf> { names.iter().map(|n| dir.path().join(n)).collect() };
    assert_eq!(listing.matrices, under(&["a/deep/er/y.mtx.gz", "a/z.smtx", "b.mtx", "c.MTX"]));
    assert_eq!(listing.skipped, under(&["a/README.md", "mtx", "x.mtx.bz2"]));
    let error = list_dir(&dir.path().join("nowhere")).expect_err("no folder");
    assert!(matches!(error.root(), FileError::Open { .. }), "{error}");
}

#[test]
#[cfg(unix)]
fn a_loop_of_links_ends() {
    let dir = tempfile::tempdir().expect("temporary folder");
    put(dir.path(), "a/b.mtx", b"");
    std::os::unix::fs::symlink(dir.path(), dir.path().join("a/up")).expect("link can be made");
    let listing = list_dir(dir.path()).expect("can be listed");
    assert_eq!((listing.matrices.len(), listing.skipped.len()), (1, 1));
}

#[test]
fn the_embedded_pack_reads() {
    // name, rows, columns, entries after expansion, as the collection's index has them.
    let expected = [
        ("lp_afiro", 27, 51, 102),
        ("LFAT5", 14, 14, 46),
        ("karate", 34, 34, 156),
        ("west0067", 67, 67, 294),
        ("bfwa62", 62, 62, 450),
        ("lp_blend", 74, 114, 522),
        ("Trec4", 2, 3, 3),
        ("bibd_9_5", 36, 126, 1260),
        ("plskz362", 362, 362, 1760),
        ("well1850", 1850, 712, 8758),
        ("cora", 2708, 2708, 13264),
        ("citeseer", 3327, 3327, 9228),
        ("swin_tiny_attn_proj_unstructured_50", 96, 96, 4608),
        ("rn50_vd0.9_initial_conv", 64, 147, 6455),
    ];
    assert_eq!(embedded::all().len(), expected.len());
    for (pack, (name, rows, cols, nnz)) in embedded::all().iter().zip(expected) {
        let matrix = embedded::read(name).unwrap_or_else(|e| panic!("{name}: {e}"));
        assert_eq!((pack.name, matrix.name.as_str()), (name, name));
        assert_eq!((matrix.coo.rows, matrix.coo.cols, matrix.coo.nnz()), (rows, cols, nnz), "{name}");
        assert!(!pack.origin.is_empty() && !pack.licence.is_empty());
    }
    let trec = embedded::read("Trec4").expect("reads");
    assert_eq!((trec.field, trec.symmetry, trec.pattern_only), (Field::Integer, Symmetry::General, false));
    assert_eq!(trec.coo.values, [3.0, 2.0, 1.0]);
    assert_eq!(embedded::read("nope"), Err(FileError::UnknownName { name: "nope".to_string() }));
}

#[test]
fn the_readme_of_the_pack_names_every_file_and_its_terms() {
    let readme = include_str!("../data/matrices/README.md");
    for pack in embedded::all() {
        let line = readme.lines().find(|l| l.starts_with(&format!("| {} |", pack.file)));
        let line = line.unwrap_or_else(|| panic!("{} is not in the README", pack.file));
        assert!(line.ends_with(&format!("| {} |", pack.licence)), "{line}");
    }
}

/// . a . b / . . . . / c . . .
fn small() -> Csr<u8> {
    let (row_ptr, col_idx, values) = (vec![0, 2, 2, 3], vec![1, 3, 0], vec![1, 2, 3]);
    Csr::try_new(CsrParts { rows: 3, cols: 4, row_ptr, col_idx, values }).expect("valid")
}

fn empty(rows: usize, cols: usize) -> Csr<u8> {
    Csr::try_new(CsrParts { rows, cols, row_ptr: vec![0; rows + 1], ..CsrParts::default() }).expect("valid")
}

#[test]
fn statistics_of_a_small_matrix_by_hand() {
    let s = RowStatistics::of(&small());
    assert_eq!((s.rows, s.cols, s.nnz, s.min, s.max, s.col_max), (3, 4, 3, 0, 2, 1));
    assert_eq!((s.mean, s.density, s.bandwidth), (1.0, 0.25, 3));
    assert_eq!((s.empty_rows, s.empty_cols), (1, 1));
    assert_eq!(s.std, 6.0f64.sqrt() / 3.0);
    let (row_ptr, col_idx, values) = (vec![0, 0, 0, 0, 2], vec![0, 3], vec![1u8, 1]);
    let lower = CsrParts { rows: 4, cols: 4, row_ptr, col_idx, values };
    assert_eq!(RowStatistics::of(&Csr::try_new(lower).expect("valid")).bandwidth, 3);
    for (rows, cols) in [(0, 0), (0, 7), (5, 0), (3, u32::MAX as usize)] {
        let s = RowStatistics::of(&empty(rows, cols));
        assert_eq!((s.nnz, s.min, s.max, s.bandwidth, s.empty_rows, s.empty_cols), (0, 0, 0, 0, rows, cols));
        assert_eq!((s.mean, s.std, s.density), (0.0, 0.0, 0.0));
    }
}

#[test]
fn plots_of_a_small_matrix_by_hand() {
    let plot = |columns, lines, style| spy_text(&small(), columns, lines, style).expect("legal size");
    assert_eq!(plot(10, 10, SpyStyle::Ascii), " # #\n    \n#   \n");
    assert_eq!(plot(10, 10, SpyStyle::Blocks), " █ █\n    \n█   \n");
    // Dots: (0,1) is dot 4, (2,0) dot 3; then (0,3) is dot 4 of the second character.
    assert_eq!(plot(10, 10, SpyStyle::Braille), "\u{280c}\u{2808}\n");
    let coarse = SpyGrid::new(&small(), 2, 1).expect("legal size");
    assert_eq!((coarse.count(0, 0), coarse.count(1, 0), coarse.count(2, 0)), (2, 1, 0));
    let svg = SpyGrid::new(&small(), 4, 3).expect("legal size").to_svg();
    assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>"));
    assert!(svg.contains("<path fill-opacity=\"1\" d=\"M1 0h1v1h-1zM3 0h1v1h-1zM0 2h1v1h-1z\"/>"), "{svg}");
    assert!(SpyGrid::new(&small(), 0, 4).is_err() && SpyGrid::new(&small(), 4, 4097).is_err());
    assert_eq!(SpyGrid::new(&empty(0, 0), 5, 5).expect("legal size").to_text(SpyStyle::Ascii), " \n");
}

#[test]
fn a_plot_counts_every_element_and_merges_runs() {
    let mask = embedded::read("rn50_vd0.9_initial_conv").expect("reads");
    let text = String::from_utf8(include_bytes!("../data/matrices/rn50_vd0.9_initial_conv.smtx").to_vec());
    let csr = sparse_oracle::source::smtx::read_smtx(text.expect("is text").as_bytes()).expect("reads");
    for (width, height) in [(1, 1), (7, 5), (40, 64), (1000, 1000)] {
        let grid = SpyGrid::new(&csr, width, height).expect("legal size");
        let cells = (0..grid.height()).flat_map(|y| (0..grid.width()).map(move |x| (x, y)));
        let total: u64 = cells.map(|(x, y)| u64::from(grid.count(x, y))).sum();
        assert_eq!(total, mask.coo.nnz() as u64);
        let svg = grid.to_svg();
        assert!(svg.matches("<path").count() <= 4 && svg.len() < 64 << 10, "{} bytes", svg.len());
    }
}
