//! `mma.sp` by hand: shapes, lanes of metadata and fragments as the PTX ISA draws them, and that every map has its inverse.

use sparse_oracle::Precision;
use sparse_oracle::format::SparseMma;

#[test]
fn shapes_of_the_instructions() {
    use SparseMma::{HalfK16, HalfK32, Tf32K8, Tf32K16};
    let shape = |mma: SparseMma| (mma.k(), mma.chunk(), mma.words(), mma.selectors());
    assert_eq!(shape(HalfK16), (16, 4, 8, 4));
    assert_eq!(shape(HalfK32), (32, 4, 16, 2));
    assert_eq!(shape(Tf32K8), (8, 2, 8, 4));
    assert_eq!(shape(Tf32K16), (16, 2, 16, 2));
    for (precision, short, long) in [
        (Precision::F16, Some(HalfK16), Some(HalfK32)),
        (Precision::Bf16, Some(HalfK16), Some(HalfK32)),
        (Precision::Tf32, Some(Tf32K8), Some(Tf32K16)),
        (Precision::F64, None, None),
        (Precision::F32, None, None),
        (Precision::E4m3, None, None),
        (Precision::E5m2, None, None),
    ] {
        assert_eq!(SparseMma::of(precision, true), short, "{precision}");
        assert_eq!(SparseMma::of(precision, false), long, "{precision}");
    }
}

#[test]
fn lanes_of_words_as_ptx_draws_them() {
    use SparseMma::{HalfK16, HalfK32, Tf32K8, Tf32K16};
    for mma in [HalfK16, Tf32K8] {
        // Selector f: lane 4g + f, for all eight g.
        assert_eq!((0..8).map(|g| mma.lane_of_word(g, 0)).collect::<Vec<_>>(), [0, 4, 8, 12, 16, 20, 24, 28]);
        assert_eq!(
            (0..8).map(|g| mma.lane_of_word(g, 3)).collect::<Vec<_>>(),
            [3, 7, 11, 15, 19, 23, 27, 31]
        );
        assert_eq!(
            (mma.word_of_lane(0), mma.word_of_lane(6), mma.word_of_lane(31)),
            ((0, 0), (1, 2), (7, 3))
        );
    }
    for mma in [HalfK32, Tf32K16] {
        // Selector 0: lanes 4g and 4g + 1; selector 1: lanes 4g + 2 and 4g + 3.
        let lanes = |selector| (0..16).map(|word| mma.lane_of_word(word, selector)).collect::<Vec<_>>();
        assert_eq!(lanes(0), [0, 1, 4, 5, 8, 9, 12, 13, 16, 17, 20, 21, 24, 25, 28, 29]);
        assert_eq!(lanes(1), [2, 3, 6, 7, 10, 11, 14, 15, 18, 19, 22, 23, 26, 27, 30, 31]);
        assert_eq!(
            (mma.word_of_lane(1), mma.word_of_lane(6), mma.word_of_lane(31)),
            ((1, 0), (2, 1), (15, 1))
        );
    }
}

#[test]
fn fragments_as_ptx_draws_them() {
    let a = |mma: SparseMma, lane| (0..8).map(|i| mma.a_of_lane(lane, i)).collect::<Vec<_>>();
    // f16: as dense m16n8k8 (four elements), then m16n8k16 (eight).
    let g1t2 = [(1, 4), (1, 5), (9, 4), (9, 5), (1, 12), (1, 13), (9, 12), (9, 13)];
    assert_eq!(a(SparseMma::HalfK16, 6)[..4], g1t2[..4]);
    assert_eq!(a(SparseMma::HalfK32, 6), g1t2);
    // tf32: as dense m16n8k4 (two), then m16n8k8 (four).
    let g1t2 = [(1, 2), (9, 2), (1, 6), (9, 6)];
    assert_eq!(a(SparseMma::Tf32K8, 6)[..2], g1t2[..2]);
    assert_eq!(a(SparseMma::Tf32K16, 6)[..4], g1t2);
    let b = |mma: SparseMma, count| (0..count).map(|i| mma.b_of_lane(6, i)).collect::<Vec<_>>();
    assert_eq!(b(SparseMma::HalfK16, 4), [(4, 1), (5, 1), (12, 1), (13, 1)]);
    assert_eq!(b(SparseMma::HalfK32, 8)[4..], [(20, 1), (21, 1), (28, 1), (29, 1)]);
    assert_eq!(b(SparseMma::Tf32K8, 2), [(2, 1), (6, 1)]);
    assert_eq!(b(SparseMma::Tf32K16, 4), [(2, 1), (6, 1), (10, 1), (14, 1)]);
    for mma in SparseMma::ALL {
        let c: Vec<_> = (0..4).map(|i| mma.c_of_lane(6, i)).collect();
        assert_eq!(c, [(1, 4), (1, 5), (9, 4), (9, 5)]);
    }
}

#[test]
fn every_map_has_its_inverse() {
    for mma in SparseMma::ALL {
        for lane in 0..32 {
            let (word, selector) = mma.word_of_lane(lane);
            assert!(word < mma.words() && selector < mma.selectors());
            assert_eq!(mma.lane_of_word(word, selector), lane, "{mma:?}");
        }
        let mut seen = std::collections::BTreeSet::new();
        for (word, nibble) in (0..mma.words()).flat_map(|word| (0..8).map(move |nibble| (word, nibble))) {
            let (row, chunk) = mma.chunk_of_nibble(word, nibble);
            assert!(row < 16 && chunk < mma.k() / mma.chunk() && seen.insert((row, chunk)));
            assert_eq!(mma.nibble_of_chunk(row, chunk), (word, 4 * nibble as u32), "{mma:?}");
        }
        // A compressed is 16 x k / 2; B is k x 8; C is 16 x 8. Each element is in one place.
        let elements = |per_lane: usize, place: &dyn Fn(usize, usize) -> (usize, usize)| {
            let places = (0..32).flat_map(|lane| (0..per_lane).map(move |i| (lane, i)));
            places.map(|(lane, i)| place(lane, i)).collect::<std::collections::BTreeSet<_>>()
        };
        let whole =
            |rows: usize, cols: usize| (0..rows).flat_map(|r| (0..cols).map(move |c| (r, c))).collect();
        assert_eq!(elements(mma.k() / 4, &|lane, i| mma.a_of_lane(lane, i)), whole(16, mma.k() / 2));
        assert_eq!(elements(mma.k() / 4, &|lane, i| mma.b_of_lane(lane, i)), whole(mma.k(), 8));
        assert_eq!(elements(4, &|lane, i| mma.c_of_lane(lane, i)), whole(16, 8));
        for (lane, i) in (0..32).flat_map(|lane| (0..mma.k() / 4).map(move |i| (lane, i))) {
            let (row, col) = mma.a_of_lane(lane, i);
            assert_eq!(mma.lane_of_a(row, col), (lane, i), "{mma:?}");
        }
    }
}
