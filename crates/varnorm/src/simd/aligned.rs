//! [`Cells`]: memory for cells of L lanes.

use std::ops::{Deref, DerefMut};

use crate::simd::L;

/// Numbers of a cache line, and its bytes.
const LINE: usize = 8;
const BYTES: usize = 8 * LINE;

/// A buffer of cells that begins where a cache line does: no register that is loaded or stored lies on two lines, which
/// costs the recurrences 5 to 10 %.
#[derive(Default)]
pub(crate) struct Cells {
    numbers: Vec<f64>,
    start: usize,
    count: usize,
}

impl Cells {
    /// So many cells, with undefined content.
    pub(crate) fn take(&mut self, count: usize) -> &mut [[f64; L]] {
        let needed = count * L + LINE - 1;
        if self.numbers.len() < needed {
            self.numbers.clear();
            self.numbers.resize(needed, 0.0);
            self.start = self.numbers.as_ptr().align_offset(BYTES).min(LINE - 1);
        }
        self.count = count;
        self
    }
}

impl Deref for Cells {
    type Target = [[f64; L]];

    #[inline(always)]
    fn deref(&self) -> &[[f64; L]] {
        self.numbers[self.start..self.start + self.count * L].as_chunks().0
    }
}

impl DerefMut for Cells {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [[f64; L]] {
        self.numbers[self.start..self.start + self.count * L].as_chunks_mut().0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_begin_with_a_cache_line() {
        let mut cells = Cells::default();
        assert!(cells.is_empty());
        for count in [3, 1, 700, 20, 40_000] {
            let taken = cells.take(count);
            assert_eq!((taken.len(), taken.as_ptr().addr() % BYTES), (count, 0));
            taken.fill([1.0; L]);
            assert_eq!(cells.iter().flatten().sum::<f64>(), (count * L) as f64);
        }
    }
}
