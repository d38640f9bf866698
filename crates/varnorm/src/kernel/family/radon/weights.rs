//! [`Weights`]: random directions, in groups of one dilation.

use crate::random::Normal;

/// Directions that are packed together: two registers' rows of AVX2 or one of AVX-512; see `project.rs`.
pub(super) const GROUP: usize = 6;

/// All directions of a seed.
pub(super) struct Weights {
    /// Steps from the middle of the widest window to its ends, at most.
    pub(super) reach: usize,
    pub(super) groups: Vec<Group>,
}

/// At most [`GROUP`] directions of one dilation.
pub(super) struct Group {
    /// Steps from the middle of the window, ascending.
    pub(super) offsets: Vec<isize>,
    /// Which directions.
    pub(super) directions: Vec<usize>,
    /// For every offset and channel: a weight per direction, zero for those that fill up the group.
    pub(super) rows: Vec<[f64; GROUP]>,
}

impl Weights {
    /// The numbers of a seed: direction by direction, in each place by place, channel by channel. Direction r has the dilation
    /// `1 + r mod dilations`.
    pub(super) fn new(
        directions: usize,
        window: usize,
        dilations: usize,
        channels: usize,
        seed: u64,
    ) -> Self {
        let size = window * channels;
        let numbers: Vec<f64> = Normal::new(seed).take(directions * size).collect();
        let mut groups = Vec::new();
        for first in 0..dilations.min(directions) {
            let of_dilation: Vec<usize> = (first..directions).step_by(dilations).collect();
            for directions in of_dilation.chunks(GROUP) {
                let mut rows = vec![[0.0; GROUP]; size];
                for (slot, direction) in directions.iter().enumerate() {
                    let weights = &numbers[direction * size..(direction + 1) * size];
                    rows.iter_mut().zip(weights).for_each(|(row, weight)| row[slot] = *weight);
                }
                let place = |j: usize| (j as isize - (window as isize - 1) / 2) * (first as isize + 1);
                let offsets = (0..window).map(place).collect();
                groups.push(Group { offsets, directions: directions.to_vec(), rows });
            }
        }
        Self { reach: window / 2 * dilations, groups }
    }
}
