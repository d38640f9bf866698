//! Cosines and sines of many angles at once.

use crate::simd::{Isa, W};

/// Cosine and sine of angles in turns: of `2 pi` times the numbers. Within 2e-16 or so of the exact ones.
///
/// Whole turns are left out without rounding, however many, so that what is lost with far points is what the turns
/// themselves have lost. The rest is a multiple of a quarter and an angle of at most an eighth, whose Taylor polynomials of
/// degree 16 and 15 have remainders below 1e-17.
#[inline(always)]
pub(crate) fn cosine_and_sine<I: Isa>(turns: [f64; W]) -> ([f64; W], [f64; W]) {
    const COSINE: [f64; 8] = [
        1.0 / 20_922_789_888_000.0,
        -1.0 / 87_178_291_200.0,
        1.0 / 479_001_600.0,
        -1.0 / 3_628_800.0,
        1.0 / 40_320.0,
        -1.0 / 720.0,
        1.0 / 24.0,
        -0.5,
    ];
    const SINE: [f64; 7] = [
        -1.0 / 1_307_674_368_000.0,
        1.0 / 6_227_020_800.0,
        -1.0 / 39_916_800.0,
        1.0 / 362_880.0,
        -1.0 / 5_040.0,
        1.0 / 120.0,
        -1.0 / 6.0,
    ];
    let (mut cosines, mut sines) = ([0.0; W], [0.0; W]);
    for lane in 0..W {
        let part = turns[lane] - turns[lane].round_ties_even();
        let quarters = (4.0 * part).round_ties_even();
        let angle = std::f64::consts::TAU * (part - 0.25 * quarters);
        let square = angle * angle;
        let mut cosine = COSINE[0];
        for k in 1..8 {
            cosine = I::mul_add(cosine, square, COSINE[k]);
        }
        let mut sine = SINE[0];
        for k in 1..7 {
            sine = I::mul_add(sine, square, SINE[k]);
        }
        let cosine = I::mul_add(cosine, square, 1.0);
        let sine = I::mul_add(sine * square, angle, angle);
        // A quarter more turns (cos, sin) into (-sin, cos).
        let across = quarters.abs() == 1.0;
        let (first, second) = if across { (sine, cosine) } else { (cosine, sine) };
        cosines[lane] = if quarters == 0.0 || quarters == -1.0 { first } else { -first };
        sines[lane] = if quarters == 0.0 || quarters == 1.0 { second } else { -second };
    }
    (cosines, sines)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd::{Separate, Work, dispatch};

    struct Both<'a>(&'a [[f64; W]], &'a mut Vec<([f64; W], [f64; W])>);

    impl Work for Both<'_> {
        #[inline(always)]
        fn run<I: Isa>(self) {
            for turns in self.0 {
                self.1.push(cosine_and_sine::<I>(*turns));
            }
        }
    }

    #[test]
    fn cosine_and_sine_agree_with_the_standard_library() {
        let turns: Vec<f64> = (0..80_000).map(|i| f64::from(i).mul_add(0.000_031_37, -1.25)).collect();
        let turns = turns.as_chunks::<W>().0;
        let (mut best, mut plain) = (Vec::new(), Vec::new());
        dispatch(Both(turns, &mut best));
        Both(turns, &mut plain).run::<Separate>();
        for found in [&best, &plain] {
            for (turns, (cosines, sines)) in turns.iter().zip(found) {
                for lane in 0..W {
                    // The angle itself has been rounded: by up to 4e-16 of its size.
                    let angle = std::f64::consts::TAU * turns[lane];
                    assert!((cosines[lane] - angle.cos()).abs() < 2e-15, "{}", turns[lane]);
                    assert!((sines[lane] - angle.sin()).abs() < 2e-15, "{}", turns[lane]);
                    assert!((cosines[lane].hypot(sines[lane]) - 1.0).abs() < 4e-16);
                }
            }
        }
    }

    #[test]
    fn whole_turns_and_quarters_are_exact() {
        let turns = [0.0, 0.25, 0.5, -0.25, -0.5, 7.75, 1e15, 1e300];
        let mut found = Vec::new();
        dispatch(Both(&[turns], &mut found));
        let (cosines, sines) = found[0];
        assert_eq!(cosines, [1.0, 0.0, -1.0, 0.0, -1.0, 0.0, 1.0, 1.0]);
        assert_eq!(sines, [0.0, 1.0, 0.0, -1.0, 0.0, -1.0, 0.0, 0.0]);
    }
}
