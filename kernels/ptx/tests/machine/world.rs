//! A device with one launch, and the assertions about what came of it.

use super::builder::Kernel;
use sparse_oracle::arithmetic::Architecture;
use sparse_ptx::check::{Finding, Kind, Severity};
use sparse_ptx::machine::{Launch, Outcome, Schedule, run};
use sparse_ptx::memory::{Device, Limits};
use sparse_ptx::program::Program;

/// Buffers, one a parameter, and how many blocks and threads.
pub(crate) struct World {
    pub(crate) device: Device,
    pub(crate) buffers: Vec<u64>,
    pub(crate) launch: Launch,
}

impl World {
    /// Buffers of these many bytes, zeroed.
    pub(crate) fn new(blocks: u32, threads: u32, buffers: &[u64]) -> World {
        let mut device = Device::new(Limits::default());
        let mut addresses = Vec::new();
        for &bytes in buffers {
            let address = device.alloc(bytes, 256).expect("it fits");
            device.fill(address, bytes as usize, 0).expect("it is there");
            addresses.push(address);
        }
        let params = addresses.iter().flat_map(|address| address.to_le_bytes()).collect();
        let launch = Launch::new(Architecture::Sm80, blocks, threads, params);
        World { device, buffers: addresses, launch }
    }

    pub(crate) fn schedule(mut self, number: u64) -> World {
        self.launch.schedule = Schedule::number(number);
        self
    }

    pub(crate) fn write(&mut self, buffer: usize, words: &[u32]) {
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        self.device.write(self.buffers[buffer], &bytes).expect("it fits");
    }

    pub(crate) fn run(&mut self, program: &Program) -> Outcome {
        run(program, &self.launch, &mut self.device).expect("the launch is allowed")
    }

    pub(crate) fn words(&mut self, buffer: usize, count: usize) -> Vec<u32> {
        let bytes = self.device.read(self.buffers[buffer], 4 * count).expect("it is there");
        bytes.chunks_exact(4).map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]])).collect()
    }
}

/// Runs a program of one buffer of 4 KiB.
pub(crate) fn run_one(kernel: Kernel, blocks: u32, threads: u32) -> (Outcome, Vec<u32>) {
    let mut world = World::new(blocks, threads, &[4096]);
    let outcome = world.run(&kernel.finish());
    let words = world.words(0, 1024);
    (outcome, words)
}

/// The finding of a kind at a line; nothing else may be found.
pub(crate) fn only(outcome: &Outcome, kind: Kind, line: u32) -> &Finding {
    let all: Vec<String> = outcome.findings.iter().map(ToString::to_string).collect();
    assert_eq!(outcome.findings.len(), 1, "{all:#?}");
    let finding = &outcome.findings[0];
    assert_eq!((finding.kind, finding.line), (kind, line), "{all:#?}");
    assert_eq!(finding.cuda.as_ref().map(|place| place.line), Some(100 + line));
    finding
}

/// Nothing at all may be found, and everything ran.
pub(crate) fn clean(outcome: &Outcome) {
    let all: Vec<String> = outcome.findings.iter().map(ToString::to_string).collect();
    assert!(outcome.findings.is_empty() && outcome.complete, "{all:#?}");
}

/// What is found but notes.
pub(crate) fn errors(outcome: &Outcome) -> Vec<(Kind, u32)> {
    let errors = outcome.findings.iter().filter(|finding| finding.kind.severity() == Severity::Error);
    errors.map(|finding| (finding.kind, finding.line)).collect()
}
