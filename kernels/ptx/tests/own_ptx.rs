//! The nine files of our own GPU kernels: all parse, all entries decode, quickly, into few slots.

use flate2::read::GzDecoder;
use sparse_ptx::decode::programs;
use sparse_ptx::program::{Act, Program};
use sparse_ptx::text::parse;
use std::io::Read;
use std::path::Path;
use std::time::Instant;

/// The texts, with their names.
fn texts() -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../cuda/ptx");
    let mut texts: Vec<(String, String)> = std::fs::read_dir(folder)
        .expect("the folder of our PTX")
        .map(|file| file.expect("a file").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "gz"))
        .map(|path| {
            let mut text = String::new();
            GzDecoder::new(std::fs::File::open(&path).expect("a file"))
                .read_to_string(&mut text)
                .expect("gzip");
            (path.file_name().expect("a name").to_string_lossy().into_owned(), text)
        })
        .collect();
    texts.sort();
    texts
}

fn all() -> Vec<Program> {
    let mut all = Vec::new();
    for (name, text) in texts() {
        let module = parse(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
        all.extend(programs(&module).unwrap_or_else(|error| panic!("{name}: {error}")));
    }
    all
}

#[test]
fn all_entries_decode_into_few_slots() {
    let all = all();
    assert_eq!(all.len(), 112);
    let steps: usize = all.iter().map(|program| program.steps.len()).sum();
    // 160,391 instructions, and an exit behind the nine entries whose last instruction branches back.
    assert_eq!(steps, 160_391 + 9, "a step an instruction");
    for program in &all {
        let extent = program.extent;
        let slots = extent.predicates + extent.narrow + extent.wide;
        assert!(slots <= 450, "{}: {extent:?}", program.name);
        assert!(matches!(program.steps.last().expect("steps").act, Act::Exit), "{}", program.name);
    }
}

#[test]
#[ignore = "prints times; run it in release"]
fn times() {
    let texts = texts();
    for round in 0..5 {
        let (mut parsing, mut decoding) = (0.0, 0.0);
        for (name, text) in &texts {
            let start = Instant::now();
            let module = parse(text).expect("PTX");
            let parsed = Instant::now();
            let programs = programs(&module).expect("programs");
            let (parse, decode) = ((parsed - start).as_secs_f64(), parsed.elapsed().as_secs_f64());
            (parsing, decoding) = (parsing + parse, decoding + decode);
            if round == 4 {
                let most = programs
                    .iter()
                    .map(|program| program.extent)
                    .max_by_key(|extent| extent.narrow + extent.wide);
                let constants = programs.iter().map(|program| program.initial.len()).max();
                println!(
                    "{name}: parse {parse:.4} s, decode {decode:.4} s, most slots {most:?}, constants {constants:?}"
                );
            }
        }
        println!("parse {parsing:.4} s, decode {decoding:.4} s");
    }
}
