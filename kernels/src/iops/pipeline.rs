//! Three stages side by side: encode, multiply, map. Each hands over by a double buffer.
//!
//! ```text
//! encode    [ e0 ][ e1 ]      [ e2 ]        starts when the multiply before the last is done: its half is free
//! multiply        [    m0    ][ m1 ]        starts when encoded, and when a set of psum buffers is free
//! map                               [ a ]   after the last multiply of a tile of C
//! ```

/// When each stage was last done, in cycles.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Pipeline {
    encoded: u64,
    multiplied: u64,
    multiplied_before: u64,
    mapped: u64,
    mapped_before: u64,
}

impl Pipeline {
    /// A pair of pieces on its way through the array.
    pub(super) fn unit(&mut self, encode: u64, multiply: u64) {
        self.encoded = self.encoded.max(self.multiplied_before) + encode;
        let start = self.encoded.max(self.multiplied).max(self.mapped_before);
        (self.multiplied_before, self.multiplied) = (self.multiplied, start + multiply);
    }

    /// The tile of C of all units since the last is complete.
    pub(super) fn output(&mut self, map: u64) {
        let start = self.multiplied.max(self.mapped);
        (self.mapped_before, self.mapped) = (self.mapped, start + map);
    }

    /// When the last stage is done.
    pub(super) fn total(&self) -> u64 {
        self.mapped.max(self.multiplied)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stages_overlap_as_far_as_two_buffers_let_them() {
        let mut p = Pipeline::default();
        p.unit(2, 10); // encoded at 2, multiplied at 12
        p.unit(2, 10); // encoded at 4, multiplied at 22
        p.unit(2, 10); // a half is free at 12: encoded at 14, multiplied at 32
        assert_eq!((p.encoded, p.multiplied), (14, 32));
        p.output(5);
        assert_eq!(p.total(), 37);
        p.unit(1, 1); // a half is free at 22, the array at 32
        p.output(5); // the mapping before is done at 37
        assert_eq!(p.total(), 42);
        p.unit(1, 1); // the set of psums of the first tile is free at 37
        assert_eq!(p.multiplied, 38);
    }
}
