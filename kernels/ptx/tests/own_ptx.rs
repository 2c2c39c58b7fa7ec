//! The ten files of our own GPU kernels: all parse, all entries decode, quickly, into few slots.

use flate2::read::GzDecoder;
use sparse_oracle::arithmetic::Architecture;
use sparse_ptx::decode::programs;
use sparse_ptx::machine::{Launch, run};
use sparse_ptx::memory::Device;
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
    assert_eq!(all.len(), 124);
    let steps: usize = all.iter().map(|program| program.steps.len()).sum();
    // Instructions, and an exit behind the nine entries whose last one branches back.
    assert_eq!(steps, 122_239 + 9, "a step an instruction");
    for program in &all {
        let extent = program.extent;
        let slots = extent.predicates + extent.narrow + extent.wide;
        assert!(slots <= 450, "{}: {extent:?}", program.name);
        assert!(matches!(program.steps.last().expect("steps").act, Act::Exit), "{}", program.name);
    }
}

/// `ffma` measures; what it stores, it stores only where the sum of its 16 chains is 1. With this factor they all end at 1/16.
#[test]
fn the_chains_of_the_measuring_kernel_end_where_they_must() {
    let all = all();
    let program = all.iter().find(|program| program.name == "ffma").expect("it is ours");
    for (factor, stored) in [(1.0f32 / 17.0, 1.0f32), (0.5, 0.0)] {
        let mut device = Device::default();
        let out = device.alloc(4, 256).expect("room");
        device.write(out, &0.0f32.to_ne_bytes()).expect("inside");
        let mut params = out.to_ne_bytes().to_vec();
        params.extend(4u32.to_ne_bytes());
        params.extend(factor.to_ne_bytes());
        let mut launch = Launch::new(Architecture::Sm80, 1, 1, params);
        launch.step_limit = 10_000;
        let outcome = run(program, &launch, &mut device).expect("it can be launched");
        assert!(outcome.is_clean(), "{:?}", outcome.findings);
        let bytes = device.read(out, 4).expect("inside");
        assert_eq!(bytes, stored.to_ne_bytes(), "factor {factor}");
    }
}

/// `read_all` empties L2: it reads every word of the buffer, seen by the one that is not zero, and stores nothing where all are.
#[test]
fn the_reading_kernel_reads_every_word() {
    let all = all();
    let program = all.iter().find(|program| program.name == "read_all").expect("it is ours");
    let (words, threads) = (3 * 64 + 5, 64);
    for seen in [None, Some(0), Some(63), Some(64), Some(words - 1)] {
        let mut device = Device::default();
        let buffer = device.alloc(16 * words, 256).expect("room");
        let mut bytes = vec![0u8; 16 * words as usize];
        if let Some(word) = seen {
            bytes[16 * word as usize + 8] = 1;
        }
        device.write(buffer, &bytes).expect("inside");
        let out = device.alloc(4, 256).expect("room");
        device.write(out, &[0; 4]).expect("inside");
        let params = [buffer, words, out].iter().flat_map(|word| word.to_ne_bytes()).collect();
        let outcome = run(program, &Launch::new(Architecture::Sm80, 1, threads, params), &mut device);
        let outcome = outcome.expect("it can be launched");
        assert!(outcome.is_clean(), "{:?}", outcome.findings);
        let stored = device.read(out, 4).expect("inside");
        assert_eq!(stored, u32::from(seen.is_some()).to_ne_bytes(), "{seen:?}");
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
