//! A program that speaks the protocol and misbehaves as its first argument says, on every request with an odd number, or on
//! all of them (`exit-always`).
//!
//! ```text
//! hostile-subject MODE [MARKER [FILE]]      MARKER only tells its processes from others
//! ```
//!
//! `mixed` is the subject of the issue's bar: it crashes on every tenth request, hangs on every hundredth, reports corrupted
//! inputs on others, and writes each misdeed to FILE.

use sparse_conformance::backend::{Determinism, Portable};
use sparse_conformance::remote::{Asked, Run, manifest_of, message, read_message, respond};
use std::fs::OpenOptions;
use std::io::{Write, stdin, stdout};
use std::process::{Command, Stdio, abort, exit};
use std::time::Duration;

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let word = |i: usize| args.get(i).map_or("", String::as_str);
    let (mode, marker, file) = (word(1), word(2), word(3));
    let always = mode.strip_suffix("-always");
    let mode = always.unwrap_or(mode);
    start(mode, file);
    let mut manifest = manifest_of(&Portable);
    manifest.name = if mode == "portable" { mode } else { "hostile" }.to_owned();
    // One request per case: what claims to be deterministic is asked twice.
    manifest.determinism = Determinism::Unclaimed;
    let input = &mut stdin().lock();
    let mut compiled = false;
    while let Some((header, payload)) = read_message(input, 1 << 40).expect("the judge keeps to the protocol")
    {
        let honest =
            respond(&Portable, &manifest, &header, &payload).expect("the judge keeps to the protocol");
        let Some(honest) = honest else { return };
        let id = match serde_json::from_slice::<Run>(&header) {
            Ok(run) => run.id,
            Err(_) => {
                serde_json::from_slice::<Asked>(&header).expect("a hello");
                send(&honest);
                continue;
            }
        };
        if mode == "compiles-hangs" {
            // Compiles for its first task; loops on matrices of five rows.
            if !std::mem::replace(&mut compiled, true) {
                labour();
            }
            let five = br#""rows":5"#;
            if header.windows(five.len()).any(|part| part == five) {
                spin();
            }
            send(&honest);
        } else if mode.starts_with("killed-") {
            killed(mode, file == id.to_string(), &honest);
        } else if mode == "mixed" {
            mixed(id, file, &honest);
        } else if mode == "late-once" && std::fs::exists(file).expect("a path") {
            send(&honest);
        } else if id % 2 == 1 || always.is_some() {
            misbehave((mode, marker, file), &honest);
        } else {
            send(&honest);
        }
    }
}

/// What goes wrong before a word is said.
fn start(mode: &str, file: &str) {
    match mode {
        "sleep" => hang(),
        "no-start" => {
            eprintln!("library libfast.so not found");
            exit(1);
        }
        "banner" => println!("Welcome to FastSparse 3.1"),
        "mute" => hang(),
        "start-once" if std::fs::exists(file).expect("a path") => {
            eprintln!("licence already in use");
            exit(9);
        }
        "start-once" => std::fs::write(file, "used").expect("a writable path"),
        _ => {}
    }
}

fn mixed(id: u64, file: &str, honest: &[u8]) {
    let note = |what: &str| {
        let mut log = OpenOptions::new().create(true).append(true).open(file).expect("a log");
        log.write_all(format!("{what}\n").as_bytes()).expect("a log");
    };
    match id % 100 {
        55 => {
            note("timed out");
            hang();
        }
        n if n % 10 == 0 => {
            note("crashed");
            eprintln!("about to abort on {id}");
            abort();
        }
        n if n % 10 == 3 => {
            note("wrong");
            send(&tampered(honest, |reply| reply["inputs_modified"] = true.into()));
        }
        _ => send(honest),
    }
}

/// Computes for 0.15 s.
fn labour() {
    let began = std::time::Instant::now();
    while began.elapsed() < Duration::from_millis(150) {
        std::hint::spin_loop();
    }
}

/// Kills itself before, within or after an answer, `now` being its time.
fn killed(mode: &str, now: bool, honest: &[u8]) {
    use rustix::process::{Signal, getpid, kill_process};
    match mode {
        _ if !now => send(honest),
        "killed-within" => send(&honest[..honest.len() / 2]),
        "killed-after" => send(honest),
        _ => {}
    }
    if now {
        kill_process(getpid(), Signal::KILL).expect("a signal to itself");
    }
}

fn misbehave((mode, marker, file): (&str, &str, &str), honest: &[u8]) {
    match mode {
        "abort" => {
            eprintln!("\u{1b}[31mcorrupted size vs. prev_size\u{1b}[0m");
            abort();
        }
        "segv" => {
            // The first one only takes down the handler that Rust has for stack overflows.
            let own = rustix::process::getpid();
            loop {
                rustix::process::kill_process(own, rustix::process::Signal::SEGV)
                    .expect("a signal to itself");
            }
        }
        "panic" => panic!("index out of bounds"),
        "silent" => exit(0),
        "exit" => exit(3),
        "hang" => hang(),
        "spin" => spin(),
        // Answers well, and leaves a process in a session of its own behind that nobody holds.
        "leaves" => {
            let own = std::env::current_exe().expect("its own path");
            let mut orphan = Command::new("setsid");
            orphan.arg("--fork").arg(own).args(["sleep", marker]);
            orphan.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
            orphan.status().expect("setsid of util-linux");
            send(honest);
        }
        "late-once" => {
            std::fs::write(file, "late").expect("a writable path");
            spin();
        }
        // Some computing.
        "labours" => {
            labour();
            send(honest);
        }
        "half" => {
            send(&honest[..honest.len() / 2]);
            exit(0);
        }
        "slow" => honest.chunks(16).for_each(|some| {
            send(some);
            std::thread::sleep(Duration::from_millis(100));
        }),
        "garbage" => {
            send(b"result: 3.5 4.25\n");
            hang();
        }
        "old-version" => {
            let mut old = honest.to_vec();
            old[6] = 9;
            send(&old);
        }
        "endless-output" => loop {
            send(&[b'x'; 1 << 16]);
        },
        "endless-header" => {
            send(&[b"SPCONF\x01\0".as_slice(), &[0xff; 12]].concat());
            loop {
                send(&[b' '; 1 << 16]);
            }
        }
        "endless-payload" => {
            let mut long = honest.to_vec();
            long[12..20].fill(0x7f);
            send(&long);
            loop {
                send(&[0; 1 << 16]);
            }
        }
        "no-json" => {
            let mut broken = honest.to_vec();
            broken[20] = b'!';
            send(&broken);
        }
        "unknown-field" => send(&tampered(honest, |reply| reply["speed"] = 9.into())),
        "no-outcome" => send(&tampered(honest, |reply| {
            reply["outcome"] = serde_json::Value::Null;
        })),
        "wrong-id" => send(&tampered(honest, |reply| reply["id"] = 7_777.into())),
        "wrong-shape" => send(&tampered(honest, |reply| {
            let count = reply["arrays"][0]["count"].as_u64().expect("a count");
            reply["arrays"][0]["count"] = (count - 1).into();
        })),
        "past-payload" => send(&tampered(honest, |reply| {
            reply["arrays"][0]["count"] = u64::MAX.into();
        })),
        "trailing" => send(&lengthened(honest, 5, b'!')),
        "padded" => send(&lengthened(honest, 63, 0)),
        "wrong-dtype" => send(&tampered(honest, |reply| {
            reply["arrays"][0]["dtype"] = "u32".into();
        })),
        "wrong-name" => send(&tampered(honest, |reply| {
            reply["arrays"][0]["name"] = "result".into();
        })),
        "unsupported" => send(&tampered(honest, |reply| {
            reply["outcome"] = "unsupported".into();
            reply["message"] = "not today".into();
        })),
        "input-corrupted" => send(&tampered(honest, |reply| reply["inputs_modified"] = true.into())),
        "guard-broken" => send(&tampered(honest, |reply| reply["guard_broken"] = (-3).into())),
        "twice" => send(&[honest, honest].concat()),
        // The next request is even, and meets what this one left behind.
        "late-words" => {
            send(honest);
            std::thread::sleep(Duration::from_millis(50));
            send(b"done!\n");
        }
        "dies-after" => {
            send(honest);
            eprintln!("double free in a destructor");
            abort();
        }
        "stderr-flood" => {
            let line = [b'e'; 1 << 20];
            for _ in 0..100 {
                std::io::stderr().write_all(&line).expect("somebody reads");
            }
            send(honest);
        }
        "memory-hog" => {
            let mut held: Vec<Vec<u8>> = Vec::new();
            loop {
                held.push(vec![1; 1 << 20]);
                std::thread::sleep(Duration::from_micros(100));
            }
        }
        "grandchild" => {
            let own = std::env::current_exe().expect("its own path");
            // It inherits standard output, and keeps it open.
            let child = Command::new(own).args(["sleep", marker]).stdin(Stdio::null()).spawn();
            drop(child.expect("a child"));
            exit(0);
        }
        "closed-stdout" => {
            let null = OpenOptions::new().write(true).open("/dev/null").expect("there is one");
            rustix::stdio::dup2_stdout(null).expect("a free descriptor");
            hang();
        }
        // Nothing goes wrong.
        "portable" | "honest" => send(honest),
        "closed-stderr" => {
            let null = OpenOptions::new().write(true).open("/dev/null").expect("there is one");
            rustix::stdio::dup2_stderr(null).expect("a free descriptor");
            hang();
        }
        other => panic!("unknown mode {other}"),
    }
}

fn spin() -> ! {
    loop {
        std::hint::spin_loop();
    }
}

/// The message with so many more bytes of payload.
fn lengthened(honest: &[u8], more: usize, byte: u8) -> Vec<u8> {
    let mut long = honest.to_vec();
    let count = u64::from_le_bytes(long[12..20].try_into().expect("eight bytes"));
    long[12..20].copy_from_slice(&(count + more as u64).to_le_bytes());
    long.resize(honest.len() + more, byte);
    long
}

fn hang() -> ! {
    loop {
        std::thread::sleep(Duration::from_secs(60));
    }
}

fn send(bytes: &[u8]) {
    let out = &mut stdout().lock();
    // A judge that has heard enough kills this process, or hangs up.
    if out.write_all(bytes).and_then(|()| out.flush()).is_err() {
        exit(4);
    }
}

/// An answer with its header changed.
fn tampered(honest: &[u8], change: impl FnOnce(&mut serde_json::Value)) -> Vec<u8> {
    let (header, payload) = read_message(&mut &*honest, u64::MAX).expect("a message").expect("one");
    let mut reply = serde_json::from_slice(&header).expect("JSON");
    change(&mut reply);
    message(&reply, &payload).expect("a short header")
}
