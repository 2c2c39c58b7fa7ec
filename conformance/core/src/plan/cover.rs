//! Covering arrays: few rows in which every two levels of different factors meet, and every three of some factors.
//!
//! ```text
//! factors   alpha {1, 0, other}   beta {0, 1}   layout {row, col}         a tuple: (alpha = 0, layout = col)
//! rows      1 0 row | 0 1 col | other 0 col | 1 1 col | 0 0 row | other 1 row     every tuple of two is in one of them
//! ```
//!
//! Greedy, one row at a time (after AETG: Cohen, Dalal, Fredman, Patton, 1997): a row is built around a tuple that no row has yet, and
//! each further factor takes the level that meets most. What can't be built (a combination that a backend excludes, or that means
//! nothing) is refused by whoever makes a row into a case; a tuple that no try can build is left out and counted.
//!
//! Some levels *mask*: a row with one (a request that must be refused, an empty matrix, alpha = 0) shows nothing about the other factors, so
//! it counts only for the tuples that hold all of its masking levels.

use super::mix::Mix;

/// One level per factor.
pub(crate) type Row = Vec<u8>;

/// Factors by their number of levels.
#[derive(Clone, Debug)]
pub(crate) struct Space {
    /// Levels of each factor, each at least 1.
    pub levels: Vec<u8>,
    /// Factors any three of which are covered as well.
    pub strong: Vec<usize>,
    /// Levels that mask the other factors.
    pub masks: Vec<(usize, u8)>,
}

impl Space {
    /// The factors of a row that mask the others.
    pub(super) fn masking(&self, row: &[u8]) -> impl Iterator<Item = usize> {
        let active = self.masks.iter().filter(|&&(f, level)| row[f] == level);
        active.map(|&(f, _)| f)
    }

    /// True for a level that masks.
    fn is_mask(&self, f: usize, level: u8) -> bool {
        self.masks.contains(&(f, level))
    }
}

/// Levels of two or three factors, ascending by factor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Tuple {
    at: [(u8, u8); 3],
    len: u8,
}

impl Tuple {
    /// Factor and level of each part.
    pub(crate) fn parts(&self) -> &[(u8, u8)] {
        &self.at[..usize::from(self.len)]
    }
}

/// The tuples of a space, and which of them are wanted, met, or found to be impossible.
#[derive(Clone, Debug)]
pub(crate) struct Tuples {
    space: Space,
    list: Vec<Tuple>,
    /// Place in `list` of the first tuple of each pair of factors.
    pairs: Vec<usize>,
    /// Place of the first tuple of each three strong factors, with the factors.
    triples: Vec<([usize; 3], usize)>,
    state: Vec<State>,
}

/// What is known of a tuple.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// Nobody asked for it.
    Unwanted,
    /// Asked for and in no row yet.
    Open,
    /// In a row.
    Met,
    /// No try could build a row with it.
    Impossible,
}

impl Tuples {
    /// All tuples of a space; wanted are those for which `wanted` holds.
    pub(crate) fn new(space: &Space, mut wanted: impl FnMut(&Tuple) -> bool) -> Tuples {
        let factors = space.levels.len();
        let (mut list, mut pairs, mut triples) = (Vec::new(), vec![0; factors * factors], Vec::new());
        for i in 0..factors {
            for j in i + 1..factors {
                pairs[i * factors + j] = list.len();
                for a in 0..space.levels[i] {
                    let pair = |b| tuple(&[(i, a), (j, b)]);
                    list.extend((0..space.levels[j]).map(pair));
                }
            }
        }
        for three in threes(&space.strong) {
            triples.push((three, list.len()));
            let [i, j, k] = three;
            for a in 0..space.levels[i] {
                for b in 0..space.levels[j] {
                    let triple = |c| tuple(&[(i, a), (j, b), (k, c)]);
                    list.extend((0..space.levels[k]).map(triple));
                }
            }
        }
        // Three factors are looked at together where none masks the others.
        let masked = |t: &Tuple| t.parts().iter().any(|&(f, level)| space.is_mask(usize::from(f), level));
        let state = |t: &Tuple| {
            if (t.len == 2 || !masked(t)) && wanted(t) { State::Open } else { State::Unwanted }
        };
        Tuples { state: list.iter().map(state).collect(), space: space.clone(), list, pairs, triples }
    }

    /// Calls `f` with the place of every tuple that a row meets.
    fn each(&self, row: &[u8], mut f: impl FnMut(usize)) {
        let (levels, factors) = (&self.space.levels, self.space.levels.len());
        let mut pair = |i: usize, j: usize| {
            f(self.pairs[i * factors + j]
                + usize::from(row[i]) * usize::from(levels[j])
                + usize::from(row[j]));
        };
        let mut masking = self.space.masking(row);
        match (masking.next(), masking.next(), masking.next()) {
            (None, ..) => {}
            (Some(mask), None, _) => {
                (0..mask).for_each(|i| pair(i, mask));
                (mask + 1..factors).for_each(|j| pair(mask, j));
                return;
            }
            (Some(f), Some(g), None) => return pair(f.min(g), f.max(g)),
            (Some(_), Some(_), Some(_)) => return,
        }
        drop(masking);
        for i in 0..factors {
            (i + 1..factors).for_each(|j| pair(i, j));
        }
        for &([i, j, k], start) in &self.triples {
            let (b, c) = (usize::from(levels[j]), usize::from(levels[k]));
            f(start + (usize::from(row[i]) * b + usize::from(row[j])) * c + usize::from(row[k]));
        }
    }

    /// Notes a row's tuples as met; true where an open one was among them.
    pub(crate) fn meet(&mut self, row: &[u8]) -> bool {
        let mut met = Vec::new();
        self.each(row, |at| met.push(at));
        let mut news = false;
        for at in met {
            news |= self.state[at] == State::Open;
            if self.state[at] != State::Unwanted {
                self.state[at] = State::Met;
            }
        }
        news
    }

    /// Open tuples that a row would meet.
    fn gain(&self, row: &[u8]) -> usize {
        let mut gain = 0;
        self.each(row, |at| gain += usize::from(self.state[at] == State::Open));
        gain
    }

    /// For each level of factor `f`, its open pairs with the factors of `row` that are set already. (Most of a plan's time: so it counts the
    /// levels side by side.)
    fn gains(&self, row: &[u8], set: &[usize], f: usize) -> Vec<u16> {
        let (levels, factors) = (&self.space.levels, self.space.levels.len());
        let mut gains = vec![0; usize::from(levels[f])];
        for &g in set {
            let level = usize::from(row[g]);
            let (first, step) = if g < f {
                (self.pairs[g * factors + f] + level * gains.len(), 1)
            } else {
                (self.pairs[f * factors + g] + level, usize::from(levels[g]))
            };
            for (gain, state) in gains.iter_mut().zip(self.state[first..].iter().step_by(step)) {
                *gain += u16::from(*state == State::Open);
            }
        }
        gains
    }

    /// These tuples; those that `other` has in the given state are no longer wanted.
    pub(crate) fn without(mut self, other: &Tuples, state: State) -> Tuples {
        for (mine, theirs) in self.state.iter_mut().zip(&other.state) {
            if *theirs == state {
                *mine = State::Unwanted;
            }
        }
        self
    }

    /// Which tuples are asked for: one bit each, four to a hex digit.
    pub(crate) fn wanted_bits(&self) -> String {
        let asked: Vec<bool> = self.state.iter().map(|s| *s != State::Unwanted).collect();
        let digit =
            |four: &[bool]| (0..4).fold(0, |d, at| d << 1 | u32::from(four.get(at).is_some_and(|&bit| bit)));
        let digits = asked.chunks(4).map(digit);
        digits.map(|d| char::from_digit(d, 16).unwrap_or('0')).collect()
    }

    /// The tuples of a space that [`wanted_bits`](Self::wanted_bits) tells; none for a text that is of another space.
    pub(crate) fn of_bits(space: &Space, bits: &str) -> Option<Tuples> {
        let mut tuples = Tuples::new(space, |_| false);
        let digits: Option<Vec<u32>> = bits.chars().map(|digit| digit.to_digit(16)).collect();
        let digits = digits.filter(|digits| digits.len() == tuples.state.len().div_ceil(4))?;
        for (at, state) in tuples.state.iter_mut().enumerate() {
            if digits[at / 4] >> (3 - at % 4) & 1 == 1 {
                *state = State::Open;
            }
        }
        Some(tuples)
    }

    /// The tuples in a state.
    pub(crate) fn in_state(&self, state: State) -> impl Iterator<Item = &Tuple> {
        let held = self.state.iter().zip(&self.list);
        held.filter(move |(s, _)| **s == state).map(|(_, tuple)| tuple)
    }
}

fn tuple(parts: &[(usize, u8)]) -> Tuple {
    let mut at = [(0, 0); 3];
    for (to, &(factor, level)) in at.iter_mut().zip(parts) {
        *to = (factor as u8, level);
    }
    Tuple { at, len: parts.len() as u8 }
}

fn threes(strong: &[usize]) -> Vec<[usize; 3]> {
    let mut all = Vec::new();
    for (a, &i) in strong.iter().enumerate() {
        for (b, &j) in strong.iter().enumerate().skip(a + 1) {
            all.extend(strong.iter().skip(b + 1).map(|&k| [i, j, k]));
        }
    }
    all
}

/// Tries to build a row around one tuple; the later ones draw the other levels blindly.
const TRIES: u32 = 24;

/// Tries whose best row is taken.
const CANDIDATES: u32 = 3;

/// Adds rows until every wanted tuple is met or found impossible. `make` turns a row into a case and the row that the case really has,
/// or refuses; `allowed` lists the levels worth trying per factor.
pub(crate) fn complete<T>(
    tuples: &mut Tuples,
    allowed: &[Vec<u8>],
    mix: &mut Mix,
    mut make: impl FnMut(&[u8], &mut Mix) -> Option<(Row, T)>,
) -> Vec<T> {
    // A level that masks would make a row useless for its tuple.
    let plain: Vec<Vec<u8>> = allowed
        .iter()
        .enumerate()
        .map(|(f, all)| {
            let plain: Vec<u8> =
                all.iter().copied().filter(|&level| !tuples.space.is_mask(f, level)).collect();
            if plain.is_empty() { all.clone() } else { plain }
        })
        .collect();
    let mut made = Vec::new();
    let mut order: Vec<usize> = (0..tuples.list.len()).collect();
    mix.shuffle(&mut order);
    for at in order {
        if tuples.state[at] != State::Open {
            continue;
        }
        let wanted = tuples.list[at];
        let holds = |row: &[u8]| wanted.parts().iter().all(|&(f, level)| row[usize::from(f)] == level);
        let outside = |&(f, level): &(u8, u8)| !allowed[usize::from(f)].contains(&level);
        let mut best: Option<(usize, Row, T)> = None;
        let mut built = 0;
        for attempt in 0..TRIES {
            if built == CANDIDATES || wanted.parts().iter().any(outside) {
                break;
            }
            let row = fill(tuples, &wanted, &plain, mix, attempt < 2 * CANDIDATES);
            if let Some((row, item)) = make(&row, mix)
                && holds(&row)
            {
                built += 1;
                let gain = tuples.gain(&row);
                if best.as_ref().is_none_or(|b| b.0 < gain) {
                    best = Some((gain, row, item));
                }
            }
        }
        match best {
            // A row that masks its own tuple gains nothing.
            Some((gain, row, item)) if gain > 0 => {
                tuples.meet(&row);
                made.push(item);
            }
            _ => tuples.state[at] = State::Impossible,
        }
    }
    made
}

/// A row with the tuple; the other factors in mixed order, each by what it meets of the levels that may stand there, or blindly.
fn fill(tuples: &Tuples, wanted: &Tuple, allowed: &[Vec<u8>], mix: &mut Mix, greedy: bool) -> Row {
    let factors = tuples.space.levels.len();
    let mut row = vec![0; factors];
    for &(f, level) in wanted.parts() {
        row[usize::from(f)] = level;
    }
    let mut set: Vec<usize> = wanted.parts().iter().map(|&(f, _)| usize::from(f)).collect();
    let mut order: Vec<usize> = (0..factors).filter(|f| !set.contains(f)).collect();
    mix.shuffle(&mut order);
    for f in order {
        let levels = &allowed[f];
        let start = mix.below(levels.len() as u64) as usize;
        row[f] = levels[start];
        if greedy {
            let gains = tuples.gains(&row, &set, f);
            let mut most = 0;
            for &level in levels[start..].iter().chain(&levels[..start]) {
                let gain = gains[usize::from(level)];
                if gain > most {
                    (most, row[f]) = (gain, level);
                }
            }
        }
        set.push(f);
    }
    row
}

#[cfg(test)]
mod tests {
    use super::*;

    fn space() -> Space {
        Space {
            levels: vec![9, 8, 7, 3, 3, 2, 2, 2, 2],
            strong: vec![3, 4, 5, 6, 7],
            masks: vec![(8, 1), (0, 8)],
        }
    }

    fn all(space: &Space) -> Vec<Vec<u8>> {
        space.levels.iter().map(|&n| (0..n).collect()).collect()
    }

    fn rows(seed: u64, legal: fn(&[u8]) -> bool) -> (Tuples, Vec<Row>) {
        let mut tuples = Tuples::new(&space(), |_| true);
        let take = |row: &[u8], _: &mut Mix| legal(row).then(|| (row.to_vec(), row.to_vec()));
        let made = complete(&mut tuples, &all(&space()), &mut Mix::new(&[seed]), take);
        (tuples, made)
    }

    /// True where a row holds the levels, and none that masks besides.
    fn has(rows: &[Row], parts: &[(u8, u8)]) -> bool {
        let clear = |row: &Row| {
            let masked = |&&(f, level): &&(usize, u8)| row[f] == level;
            let masks = space().masks;
            masks.iter().filter(masked).all(|&(f, level)| parts.contains(&(f as u8, level)))
        };
        rows.iter().any(|row| clear(row) && parts.iter().all(|&(f, level)| row[usize::from(f)] == level))
    }

    #[test]
    fn every_pair_and_every_strong_triple_is_in_a_row_and_rows_are_few() {
        for seed in 0..4 {
            let (tuples, made) = rows(seed, |_| true);
            assert_eq!(tuples.in_state(State::Open).count(), 0);
            for tuple in &tuples.list {
                assert!(has(&made, tuple.parts()), "{tuple:?} at seed {seed}");
            }
            // The two largest factors alone need 72 rows, and masked rows 8 more.
            assert!((80..125).contains(&made.len()), "{} rows", made.len());
        }
    }

    #[test]
    fn what_no_row_can_hold_is_left_out_and_nothing_else_is() {
        let (tuples, made) = rows(1, |row| !(row[0] == 4 && row[1] == 2) && row[3] != 1);
        let impossible: Vec<Vec<(u8, u8)>> =
            tuples.in_state(State::Impossible).map(|t| t.parts().to_vec()).collect();
        assert!(impossible.contains(&vec![(0, 4), (1, 2)]));
        let excused = |t: &Vec<(u8, u8)>| t.contains(&(3, 1)) || *t == vec![(0, 4), (1, 2)];
        assert!(impossible.iter().all(excused), "{impossible:?}");
        assert!(made.iter().all(|row| row[3] != 1));
    }

    #[test]
    fn what_is_wanted_survives_a_text() {
        let every_third = std::cell::Cell::new(0u32);
        let tuples = Tuples::new(&space(), |_| {
            every_third.set(every_third.get() + 1);
            every_third.get().is_multiple_of(3)
        });
        let bits = tuples.wanted_bits();
        let back = Tuples::of_bits(&space(), &bits).expect("of this space");
        assert_eq!(back.state, tuples.state);
        assert!(Tuples::of_bits(&space(), &bits[1..]).is_none());
        assert!(Tuples::of_bits(&space(), &bits.replacen('2', "x", 1)).is_none());
    }

    #[test]
    fn the_seed_decides() {
        assert_eq!(rows(7, |_| true).1, rows(7, |_| true).1);
        assert_ne!(rows(7, |_| true).1, rows(8, |_| true).1);
    }
}
