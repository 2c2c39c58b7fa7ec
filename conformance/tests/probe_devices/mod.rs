//! Stand-ins for a GPU: one computes with the oracle's own layouts and `apply`, one with the probe's candidates and a fault.

use sparse_conformance::probe::{Batch, Candidate, Executor, Judge, Layout, Subject, recording_name};
use sparse_kernels::cuda::probe::Probe;
use sparse_oracle::arithmetic::Architecture;
use sparse_oracle::model::recording::{Recording, RecordingName};
use sparse_oracle::model::tensor_core::TensorCore;
use sparse_oracle::model::tensor_core::fragment::Fragment;

/// Reads a batch as a recording and answers with `TensorCore::apply`, an element at a time.
#[derive(Default)]
pub(crate) struct Reader {
    probe: Option<Probe>,
}

impl Executor for Reader {
    fn load(&mut self, probe: &Probe) -> Result<(), String> {
        self.probe = Some(*probe);
        Ok(())
    }

    fn run(&mut self, batch: &mut Batch) -> Result<(), String> {
        let probe = self.probe.ok_or("nothing loaded")?;
        let Probe::Matrix { instruction, .. } = probe else {
            return Err("only matrix instructions".to_owned());
        };
        let name = recording_name("h200", &probe).ok_or("no name")?;
        let name = RecordingName::parse(&name).map_err(|e| e.to_string())?;
        let [a, b, c, metadata] = &batch.operands;
        let mut words = vec![a, b, c, &batch.d];
        if instruction.engine.is_sparse() {
            words.push(metadata);
        }
        let bytes: Vec<u8> = words.into_iter().flatten().flat_map(|w| w.to_le_bytes()).collect();
        let recording = Recording::from_bytes(name, &bytes).map_err(|e| e.to_string())?;
        let core = TensorCore::new(Architecture::Sm90, instruction).map_err(|e| e.to_string())?;
        let fragment = Fragment::of(instruction).map_err(|e| e.to_string())?;
        let mut places = vec![(0, 0); usize::from(instruction.m) * usize::from(instruction.n)];
        for lane in 0..fragment.lanes() {
            for i in 0..fragment.c_len() {
                let (row, col) = fragment.c(lane, i);
                places[row * usize::from(instruction.n) + col] = (lane, i);
            }
        }
        let size = batch.d.len() / batch.groups;
        let (d, lanes) = (&mut batch.d, fragment.lanes());
        recording
            .for_each(|sample| {
                let bits = core.apply(sample.c, &sample.a, &sample.b)?;
                let (lane, i) = places[sample.row * usize::from(instruction.n) + sample.col];
                let group = &mut d[sample.group * size..][..size];
                match instruction.acc.bytes() {
                    8 => {
                        group[2 * i * lanes + lane] = bits as u32;
                        group[(2 * i + 1) * lanes + lane] = (bits >> 32) as u32;
                    }
                    2 => {
                        let word = &mut group[i / 2 * lanes + lane];
                        let shift = i % 2 * 16;
                        *word = *word & !(0xffff << shift) | (bits as u32) << shift;
                    }
                    _ => group[i * lanes + lane] = bits as u32,
                }
                Ok(())
            })
            .map_err(|e| e.to_string())
    }
}

/// What is wrong with a [`Model`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// Nothing.
    None,
    /// The last bit of output 5 of group 100 of a batch.
    OneBit,
    /// The last word of a batch is never written.
    Unwritten,
    /// Every NaN has another payload.
    OtherNan,
    /// Another bit in each run.
    NotRepeatable,
    /// The last group of a batch differs.
    DependsOnPlace,
    /// It cannot be loaded.
    Refuses,
    /// It computes as this alternative says.
    Candidate(&'static str),
}

/// Answers with a candidate of the probe, and a fault.
pub(crate) struct Model {
    fault: Fault,
    probe: Option<(Probe, Candidate)>,
    runs: u32,
}

impl Default for Model {
    fn default() -> Model {
        Model::with(Fault::None)
    }
}

impl Model {
    pub(crate) fn with(fault: Fault) -> Model {
        Model { fault, probe: None, runs: 0 }
    }
}

impl Executor for Model {
    fn load(&mut self, probe: &Probe) -> Result<(), String> {
        if self.fault == Fault::Refuses {
            return Err("no such kernel".to_owned());
        }
        let subject = Subject { probe: *probe, architecture: Architecture::Sm90 };
        let mut candidates = subject.candidates();
        let wanted = match self.fault {
            Fault::Candidate(name) => candidates.iter().position(|c| c.name == name),
            _ => Some(0),
        };
        self.probe = Some((*probe, candidates.swap_remove(wanted.ok_or("no such candidate")?)));
        Ok(())
    }

    fn run(&mut self, batch: &mut Batch) -> Result<(), String> {
        let (probe, candidate) = self.probe.as_ref().ok_or("nothing loaded")?;
        let judge = Judge::new(probe, candidate).ok_or("no arithmetic")?;
        let layout = Layout::of(probe, candidate.metadata);
        let size = batch.d.len() / batch.groups;
        let last = batch.d.last().copied();
        self.runs += 1;
        for group in 0..batch.groups {
            let mut outputs = judge.outputs_of(batch, group);
            self.spoil(group, batch.groups, judge.output(), &mut outputs);
            let d = &mut batch.d[group * size..][..size];
            for (at, bits) in outputs.into_iter().enumerate() {
                let Some(layout) = &layout else {
                    d[at] = bits as u32;
                    continue;
                };
                let place = layout.c[at];
                let word = place.word as usize;
                match judge.output().bytes() {
                    8 => {
                        d[word] = bits as u32;
                        d[word + layout.lanes] = (bits >> 32) as u32;
                    }
                    2 => d[word] = d[word] & !(0xffff << place.shift) | (bits as u32) << place.shift,
                    _ => d[word] = bits as u32,
                }
            }
        }
        if let (Fault::Unwritten, Some(word), Some(before)) = (self.fault, batch.d.last_mut(), last) {
            *word = before;
        }
        Ok(())
    }
}

impl Model {
    fn spoil(&self, group: usize, groups: usize, output: sparse_oracle::Precision, outputs: &mut [u64]) {
        match self.fault {
            Fault::OneBit if group == 100 => outputs[5] ^= 1,
            Fault::NotRepeatable if group == 0 => outputs[0] ^= u64::from(self.runs & 1),
            Fault::DependsOnPlace if group + 1 == groups => outputs[0] ^= 1,
            Fault::OtherNan => {
                for bits in outputs {
                    if sparse_oracle::scalar::decode(*bits, output).is_nan() {
                        *bits ^= 1 << 3;
                    }
                }
            }
            _ => {}
        }
    }
}
