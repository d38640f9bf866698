//! Tail probabilities by integration along the path of steepest descent.
//!
//! For any c between 0 and the first branch point, `P(Q > x) = 1/(2 pi i) int exp(K(s) - s x) / s ds` over a line upwards
//! through c; for c below 0 minus the same is `P(Q <= x)`. The path starts at the saddle point of
//! `phi(s) = K(s) - s x - ln |s|` on the real line and goes where `|exp phi|` falls fastest, so that nothing oscillates
//! and the value keeps its relative accuracy however small it is. The path is a polygon: by Cauchy's theorem the
//! integral over it is exact, and each side is short against the distance to the singularities, so that a Kronrod
//! rule of 15 nodes is exact to rounding; its inner rule of 7 nodes says how far off it may be.

use faer::c64;

use super::cumulants::Cumulants;
use super::{Tail, root};

/// Nodes and weights of the Kronrod rule on [0, 1], and the weights of the Gauss rule inside it (odd places).
const NODES: [f64; 8] = [
    0.991_455_371_120_812_6,
    0.949_107_912_342_758_5,
    0.864_864_423_359_769_1,
    0.741_531_185_599_394_4,
    0.586_087_235_467_691_1,
    0.405_845_151_377_397_2,
    0.207_784_955_007_898_47,
    0.0,
];
const KRONROD: [f64; 8] = [
    0.022_935_322_010_529_224,
    0.063_092_092_629_978_55,
    0.104_790_010_322_250_18,
    0.140_653_259_715_525_92,
    0.169_004_726_639_267_9,
    0.190_350_578_064_785_4,
    0.204_432_940_075_298_9,
    0.209_482_141_084_727_82,
];
const GAUSS: [f64; 4] =
    [0.129_484_966_168_869_7, 0.279_705_391_489_276_64, 0.381_830_050_505_118_9, 0.417_959_183_673_469_4];

/// The path ends where the integrand has fallen by this exponent: 1e-17.
const FALLEN: f64 = -39.5;
/// Estimated relative error at which the path is walked again in shorter steps.
const TOLERANCE: f64 = 1e-9;

/// The probability of one tail, for x > 0.
pub(crate) fn tail_probability(cumulants: &Cumulants, x: f64, tail: Tail) -> f64 {
    let path = Path { cumulants, x, tail };
    let saddle = path.saddle();
    let top = path.exponent(c64::new(saddle, 0.0)).0.re;
    let mut step = 1.0;
    loop {
        let (integral, error) = path.integrate(saddle, top, step);
        if error <= TOLERANCE * integral || step < 0.1 {
            return top.exp() * integral / std::f64::consts::PI;
        }
        step *= 0.5;
    }
}

struct Path<'a> {
    cumulants: &'a Cumulants,
    x: f64,
    tail: Tail,
}

impl Path<'_> {
    /// `phi`, `phi'`, `phi''`. For the lower tail s starts below 0, and `ln(-s)` is the branch that is real there.
    fn exponent(&self, s: c64) -> (c64, c64, c64) {
        let k = self.cumulants.at(s);
        let inverse = s.inv();
        (k.value - s * self.x - self.logarithm(s), k.first - self.x - inverse, k.second + inverse * inverse)
    }

    fn logarithm(&self, s: c64) -> c64 {
        if self.tail == Tail::Upper { s.ln() } else { (-s).ln() }
    }

    /// Where phi' = 0 on the real line: between 0 and the branch point, or below 0.
    fn saddle(&self) -> f64 {
        let slope = |s: f64| self.exponent(c64::new(s, 0.0)).1.re;
        match self.tail {
            Tail::Upper => {
                let edge = self.cumulants.branch_point();
                // The slope falls to -inf at 0 and rises to +inf at the branch point.
                let low = (1.0 / (self.x + self.cumulants.mean())).min(0.5 * edge) * 0.25;
                let mut low = low;
                while slope(low) > 0.0 {
                    low *= 0.25;
                }
                // In the logarithm of the distance from the branch point, where the saddles of far tails crowd.
                let mut distance = 0.25 * edge;
                while slope(edge - distance) < 0.0 {
                    distance *= 0.25;
                }
                let far = (edge - low).ln();
                edge - root(|d| -slope(edge - d.exp()), distance.ln(), far).exp()
            }
            Tail::Lower => {
                // K'(s) + 1/|s| = x: rises with s.
                let mut size = 1.0 / self.x;
                while slope(-size) > 0.0 {
                    size *= 4.0;
                }
                let large = size;
                while slope(-size) < 0.0 {
                    size *= 0.25;
                }
                -root(|l| -slope(-l.exp()), size.ln(), large.ln()).exp()
            }
        }
    }

    /// The integral of `exp(phi - top)` along the upper half of the path, over i, its real part; and its error.
    fn integrate(&self, saddle: f64, top: f64, step: f64) -> (f64, f64) {
        let (mut sum, mut error) = (0.0, 0.0);
        let mut from = c64::new(saddle, 0.0);
        for _ in 0..10_000 {
            let (value, first, second) = self.exponent(from);
            if value.re - top < FALLEN {
                break;
            }
            let direction = if from.im == 0.0 { c64::new(0.0, 1.0) } else { -first.conj() / first.norm() };
            // Short against the singularities and against the scale on which the exponential changes.
            let room = 0.5 * self.cumulants.nearest_branch_point(from).min(from.norm());
            let change = 3.0 / first.norm().max(second.norm().sqrt());
            let to = from + direction * (step * room.min(change));
            let (fine, coarse) = self.side(from, to, top);
            sum += fine;
            error += (fine - coarse).abs();
            from = to;
        }
        (sum, error)
    }

    /// One side of the polygon, by both rules: the imaginary part of the integral.
    fn side(&self, from: c64, to: c64, top: f64) -> (f64, f64) {
        let (middle, half) = ((from + to) * 0.5, (to - from) * 0.5);
        let value = |node: f64| {
            let s = middle + half * node;
            (self.cumulants.value(s) - s * self.x - self.logarithm(s) - top).exp()
        };
        let (mut fine, mut coarse) = (c64::new(0.0, 0.0), c64::new(0.0, 0.0));
        for (at, node) in NODES.iter().enumerate() {
            let both = if *node == 0.0 { value(0.0) } else { value(*node) + value(-node) };
            fine += both * KRONROD[at];
            if at % 2 == 1 {
                coarse += both * GAUSS[at / 2];
            }
        }
        ((fine * half).im, (coarse * half).im)
    }
}
