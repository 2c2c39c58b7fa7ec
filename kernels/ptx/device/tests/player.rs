//! The machine itself: what it gives, what it refuses, and that a kernel with a fault fails on it.

use sparse_kernels::cuda::source::Source;
use sparse_kernels::cuda::{CudaError, Gpu, GpuMachine, played_kernels};
use sparse_oracle::arithmetic::Architecture::{self, Sm80, Sm90};
use sparse_oracle::format::{AnySparse, Entries, Entry, FormatKind, FormatParams, Layout};
use sparse_oracle::prelude::*;
use sparse_oracle::refusal::Refusal;
use sparse_oracle::scalar::{AnySlice, AnySliceMut, Precision};
use sparse_oracle::task::{Answer, DenseMut, DenseRef, Task};
use sparse_ptx::machine::Schedule;
use sparse_ptx_device::{Player, TextError, Texts};

const ROWS: usize = 70;
const COLS: usize = 90;
const N: usize = 64;

/// C of a product in f32 by the kernel of this name, which has integers for operands.
fn product(gpu: &Gpu, name: &str, format: FormatKind) -> Result<Vec<f32>, Refusal> {
    let mut list = Vec::new();
    for row in 0..ROWS as u32 {
        for col in (row % 3..COLS as u32).step_by(1 + row as usize % 7) {
            list.push(Entry { row, col, value: f64::from(1 + (row + 2 * col) % 5) });
        }
    }
    let e = Entries { rows: ROWS, cols: COLS, list };
    let kernels = played_kernels(gpu.architecture().expect("it is played"));
    let row = kernels.iter().find(|row| row.kernel.name == name).expect("registered");
    let types = row.kernel.contract.types;
    let a = AnySparse::from_f64(types.a, format, FormatParams::default(), &e)?;
    let b: Vec<f32> = (0..COLS * N).map(|at| (at % 7) as f32 - 3.0).collect();
    let b = match types.b {
        Precision::Tf32 => b.iter().map(|b| sparse_oracle::Tf32(b.to_bits())).collect::<Vec<_>>(),
        other => panic!("{other} is not for this test"),
    };
    let mut c = vec![f32::NAN; ROWS * N];
    let task = Task::Spmm {
        a: &a,
        transpose_a: false,
        b: DenseRef { rows: COLS, cols: N, ld: N, layout: Layout::RowMajor, data: AnySlice::Tf32(&b) },
        transpose_b: false,
        alpha: 1.0,
        beta: 0.0,
        c: DenseMut { rows: ROWS, cols: N, ld: N, layout: Layout::RowMajor, data: AnySliceMut::F32(&mut c) },
    };
    assert_eq!(row.run_on(gpu, task)?, Answer::Written);
    Ok(c)
}

fn rsh(player: Player) -> Result<Vec<f32>, Refusal> {
    product(&player.gpu(), "spmm_rs_tile_tf32_tf32_f32_f32__ptx", FormatKind::RsTile)
}

#[test]
fn every_order_gives_the_same_bits() {
    for architecture in [Sm80, Sm90] {
        let texts = Texts::committed();
        let wanted = rsh(Player::new(architecture, texts.clone())).expect("runs");
        assert!(wanted.iter().all(|c| !c.is_nan()));
        for number in 1..6 {
            let player = Player::new(architecture, texts.clone()).in_order(Schedule::number(number));
            assert_eq!(rsh(player).expect("runs"), wanted, "order {number}");
        }
    }
}

/// A store 256 MiB behind its place, which no comparison of results needs to find: the launch itself fails, and says where.
#[test]
fn a_store_past_the_end_fails_the_launch() {
    let entry = "rsh_tf32_64";
    let text = Source::TilesSpmm.precompiled().expect("committed");
    let (before, after) = text.split_once(&format!(".entry {entry}(")).expect("the entry");
    let stores = |line: &&str| line.contains("st.global") && !line.contains('+');
    let far = |line| if stores(&line) { line.replace(']', "+268435456]") } else { line.to_owned() };
    let after = after.lines().map(far).collect::<Vec<String>>().join("\n");
    let text = format!("{before}.entry {entry}({after}");
    let texts = Texts::committed().replaced(Source::TilesSpmm, &text).expect("it is PTX");
    let refused = rsh(Player::new(Sm90, texts)).expect_err("it stores far away").to_string();
    assert!(refused.contains(entry) && refused.contains("out-of-bounds at line"), "{refused}");
}

#[test]
fn what_is_asked_wrongly_is_refused() {
    let player = Player::new(Sm80, Texts::committed());
    assert_eq!(GpuMachine::architecture(&player), Sm80);
    assert_eq!(player.allocate(1 << 40), Err(CudaError::Memory { bytes: 1 << 40 }));
    let address = player.allocate(8).expect("room");
    player.write(address, &[1; 4]).expect("inside");
    assert!(player.write(address, &[1; 9]).is_err() && player.write(12, &[1]).is_err());
    let mut bytes = [0; 8];
    let undefined = player.read(address, &mut bytes).expect_err("half was never written").to_string();
    assert!(undefined.contains("4 bytes from byte 4 on"), "{undefined}");
    player.read(address, &mut bytes[..4]).expect("written");
    assert_eq!(bytes, [1, 1, 1, 1, 0, 0, 0, 0]);
    player.free(address);
    player.free(address);
    assert!(player.read(address, &mut bytes).is_err(), "it was given back");
}

#[test]
fn a_text_that_is_no_ptx_is_refused_with_its_place() {
    let refused = Texts::committed().replaced(Source::NmTile, "hello").expect_err("no PTX");
    assert!(matches!(refused, TextError::Syntax { source_name: "nm_tile", .. }), "{refused}");
    let text = ".version 9.0\n.target sm_80\n.address_size 64\n.visible .entry e()\n{\n\tbogus.u32;\n}\n";
    let refused = Texts::committed().replaced(Source::NmTile, text).expect_err("no instruction");
    assert!(refused.to_string().contains('6'), "{refused}");
}

/// An entry that the text lacks is an error of the launch.
#[test]
fn an_entry_that_is_missing_is_named() {
    let text = ".version 9.0\n.target sm_80\n.address_size 64\n.visible .entry e()\n{\n\tret;\n}\n";
    let texts = Texts::committed().replaced(Source::TilesSpmm, text).expect("it is PTX");
    let refused = rsh(Player::new(Architecture::Sm89, texts)).expect_err("no such entry").to_string();
    assert!(refused.contains("tiles_spmm.ptx has no entry rsh_tf32"), "{refused}");
}
