//! What each family of values promises, in every precision.

use super::range::power_of_two;
use super::*;
use crate::scalar::{Specials, Values};

/// These do not depend on the seed.
const ONES: [ValueFamily; 2] = [ValueFamily::Ones, ValueFamily::OnesA];

fn every() -> impl Iterator<Item = (ValueFamily, Precision)> {
    let all = VALUE_FAMILIES.iter().map(|info| info.family);
    all.flat_map(|family| Precision::ALL.map(|precision| (family, precision)))
}

#[test]
fn the_table_is_in_the_order_of_the_enum() {
    for (at, info) in VALUE_FAMILIES.iter().enumerate() {
        assert_eq!(info.family as usize, at);
        assert_eq!(ValueFamily::from_name(info.name), Some(info.family));
    }
}

#[test]
fn every_value_survives_its_precision_bit_for_bit() {
    for (family, precision) in every() {
        let values = family.fill(3000, 11, precision);
        let back = Values::from_f64(precision, &values).to_f64();
        for (x, y) in values.iter().zip(back) {
            assert_eq!(x.to_bits(), y.to_bits(), "{family} in {precision}: {x} became {y}");
        }
        assert_eq!(family.info().finite, values.iter().all(|x| x.is_finite()), "{family} in {precision}");
    }
}

#[test]
fn seeds_repeat_and_differ() {
    for (family, precision) in every().filter(|(family, _)| !ONES.contains(family)) {
        let bits = |seed| family.fill(64, seed, precision).iter().map(|x| x.to_bits()).collect::<Vec<_>>();
        assert_eq!(bits(1), bits(1));
        assert_ne!(bits(1), bits(2), "{family} in {precision}");
    }
}

/// Values are drawn side by side; a seed gives what it gave when they were drawn one after another.
#[test]
fn values_are_those_of_one_stream() {
    let placed = |family| {
        use ValueFamily::{Cancelling, Coded, NearCancelling, OneBig, OnesB, PlacedSpecial, Special};
        [Cancelling, Coded, NearCancelling, OneBig, OnesB, PlacedSpecial, Special].contains(&family)
    };
    for (family, precision) in every().filter(|(family, _)| !placed(*family)) {
        for n in [0, 1, 3, 4, 7, 1000, (1 << 17) + 5] {
            let mut random = Random::new(9, family.name());
            let drawn = family.fill(n, 9, precision);
            let same = drawn.iter().all(|x| x.to_bits() == family.sample(&mut random, precision).to_bits());
            assert!(same, "{n} of {family} in {precision}");
        }
    }
    for (family, precision) in every() {
        crate::with_scalar!(precision, T => {
            let mut elements = [T::from_f64(0.0); 301];
            family.fill_elements(&mut elements, 4);
            let expected = family.fill(301, 4, precision);
            let same = elements.iter().zip(expected).all(|(x, y)| x.bits64() == T::from_f64(y).bits64());
            assert!(same, "{family} in {precision}");
        });
    }
    // Of the families that change values afterwards: that the stream goes on where it was.
    for precision in Precision::ALL {
        let (mut random, mut one_by_one) = (Random::new(3, "test"), Random::new(3, "test"));
        let normal = |random: &mut Random| Range::of(precision).normal(random, -1, 1);
        let mut found = [0.0; 77];
        side_by_side::fill(&mut found, &mut random, normal);
        let expected = (0..77).map(|_| normal(&mut one_by_one).to_bits());
        assert!(expected.eq(found.iter().map(|x| x.to_bits())), "{precision}");
        assert_eq!(random.bits(), one_by_one.bits(), "{precision}");
    }
}

#[test]
fn cancelling_pairs_cancel_and_near_ones_leave_one_last_place() {
    for precision in Precision::ALL {
        let sums = |family: ValueFamily| {
            let values = family.fill(501, 5, precision);
            values.chunks_exact(2).map(|p| (p[0] + p[1]).abs()).collect::<Vec<_>>()
        };
        assert!(sums(ValueFamily::Cancelling).iter().all(|&sum| sum == 0.0));
        let last_place = power_of_two(-(Range::of(precision).spec.significand as i32 - 1));
        let near = sums(ValueFamily::NearCancelling);
        assert!(near.iter().all(|&sum| sum > 0.0 && sum <= 2.0 * last_place), "{precision}");
    }
}

#[test]
fn wide_products_stay_finite_and_huge_ones_need_not() {
    for precision in Precision::ALL {
        let max = precision.spec().max_finite();
        let largest = |family: ValueFamily| {
            family.fill(4000, 9, precision).into_iter().fold(0.0f64, |m, x| m.max(x.abs()))
        };
        assert!(largest(ValueFamily::Wide).powi(2) * 4.0 <= max, "{precision}");
        assert!(largest(ValueFamily::Huge) > max / 2.0, "{precision}");
    }
}

#[test]
fn special_has_each_special_and_never_only_those() {
    for precision in Precision::ALL {
        let values = ValueFamily::Special.fill(4000, 2, precision);
        let has = |f: fn(&f64) -> bool| values.iter().any(f);
        assert!(has(|x| x.is_nan()) && has(|x| x.to_bits() == 0) && has(|x| x.to_bits() == 1 << 63));
        assert_eq!(has(|x| x.is_infinite()), precision.spec().specials == Specials::Ieee);
        assert!(values.contains(&Range::of(precision).spec.max_finite()));
        assert!(values.iter().all(|x| !x.is_nan() || x.to_bits() == f64::NAN.to_bits()));
        for (n, seed) in [(1, 0), (2, 1), (3, 2)] {
            let few = ValueFamily::Special.fill(n, seed, precision);
            assert!(few.iter().any(|x| (0.5..4.0).contains(&x.abs())));
        }
    }
}

#[test]
fn subnormals_are_about_half() {
    for precision in Precision::ALL {
        let limit = power_of_two(Range::of(precision).spec.emin);
        let values = ValueFamily::Subnormal.fill(2000, 3, precision);
        let below = values.iter().filter(|x| x.abs() < limit).count();
        assert!((1000..1500).contains(&below), "{precision}: {below}");
    }
}

/// A flush of subnormal operands to zero takes away a good part of a sum, whichever operand is flushed, and products are
/// ordinary numbers of every type that holds such operands.
#[test]
fn flushed_operands_change_sums_in_their_leading_bits() {
    for precision in Precision::ALL {
        let smallest = power_of_two(Range::of(precision).spec.emin);
        for family in [ValueFamily::SubnormalA, ValueFamily::SubnormalB] {
            let a = family.of(Operand::A).fill(4096, 1, precision);
            let b = family.of(Operand::B).fill(4096, 2, precision);
            let products: Vec<f64> = a.iter().zip(&b).map(|(x, y)| x * y).collect();
            let ordinary = |x: &f64| (0.0078125..=4.0).contains(&x.abs());
            assert!(products.iter().all(ordinary), "{family} in {precision}");
            let flush = |x: f64| if x.abs() < smallest { 0.0 } else { x };
            let mut unseen = 0;
            for row in 0..512 {
                let terms = row * 8..row * 8 + 8;
                let full: f64 = products[terms.clone()].iter().sum();
                let flushed: f64 = terms.clone().map(|i| flush(a[i]) * flush(b[i])).sum();
                let size: f64 = products[terms].iter().map(|x| x.abs()).sum();
                unseen += usize::from((full - flushed).abs() < size / 64.0);
            }
            assert!(unseen < 64, "{family} in {precision}: {unseen} of 512 rows");
        }
    }
}

/// What the operands of a family hold, each by its name.
#[test]
fn operands_of_a_family_are_what_their_names_say() {
    use Operand::{A, B, C};
    for info in &VALUE_FAMILIES {
        let found = [A, B, C].map(|operand| info.family.of(operand).name());
        let wanted = match info.name {
            "ones-a" => ["ones", "coded", "coded"],
            "ones-b" => ["coded", "ones", "coded"],
            "subnormal-a" => ["subnormal-a", "subnormal-b", "near-one"],
            "subnormal-b" => ["subnormal-b", "subnormal-a", "near-one"],
            "one-big" => ["one-big", "small-int", "small-int"],
            "placed-special" => ["placed-special", "near-one", "near-one"],
            "subnormal-sums" => ["subnormal-sums", "small-int", "subnormal-sums"],
            same => [same; 3],
        };
        assert_eq!(found, wanted);
    }
}

/// The bits of a seed, pinned: a change to any of them is a new version of the case lines.
#[test]
fn the_bits_of_every_family_are_pinned() {
    let found = VALUE_FAMILIES.map(|info| {
        let all = Precision::ALL.map(|precision| info.family.fill(500, 42, precision));
        let bytes = all.iter().flatten().flat_map(|x| x.to_bits().to_le_bytes());
        (info.name, crate::source::random::fnv1a(bytes))
    });
    assert_eq!(found, PINNED);
}

const PINNED: [(&str, u64); 19] = [
    ("ones", 0x3cd6_65a1_0cba_4ae5),
    ("small-int", 0x3552_19cb_f488_43b5),
    ("near-one", 0x1243_d896_216d_db97),
    ("wide", 0xc3ee_e6b4_7333_f1b5),
    ("huge", 0x5489_edf1_a83d_6cda),
    ("cancelling", 0x2c1e_bdd6_8378_422d),
    ("near-cancelling", 0x81ea_e91e_e1f5_5cdc),
    ("subnormal", 0x3fa4_3f0a_2bc6_8e06),
    ("special", 0xc7ec_a5b8_6071_cf5c),
    ("signed-zero", 0xaf79_2b09_4e77_6390),
    ("coded", 0xe483_46b2_8461_dfa8),
    ("ones-a", 0x3cd6_65a1_0cba_4ae5),
    ("ones-b", 0x0740_3066_fe3c_d13e),
    ("subnormal-a", 0x7c71_9a4f_f347_9b8e),
    ("subnormal-b", 0x6a6f_e70d_2d35_d456),
    ("one-big", 0x1045_8475_6e1d_2bb8),
    ("placed-special", 0x77fa_412d_4f25_8e21),
    ("subnormal-sums", 0xb848_3b91_f806_dd04),
    ("one-term", 0x75df_31fa_6100_3983),
];
