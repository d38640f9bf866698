//! Seeded stationary series of five kinds.

/// Independent normal numbers of a seed.
pub struct Noise {
    state: u64,
}

impl Noise {
    pub fn new(seed: u64) -> Self {
        Self { state: seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ 0x1234_5678_9ABC_DEF1 }
    }

    pub fn uniform(&mut self) -> f64 {
        // SplitMix64.
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }

    pub fn normal(&mut self) -> f64 {
        let (u, v) = (1.0 - self.uniform(), self.uniform());
        (-2.0 * u.ln()).sqrt() * (std::f64::consts::TAU * v).cos()
    }
}

/// The five kinds.
pub const KINDS: [&str; 5] = ["AR", "periodic", "regime switching", "heavy tails", "seasonal"];

/// So many rows of a kind, one channel.
pub fn series(kind: &str, rows: usize, seed: u64) -> Vec<f64> {
    let mut noise = Noise::new(seed);
    let (mut x, mut regime) = (0.0, false);
    let phase = noise.uniform() * std::f64::consts::TAU;
    let wave = |t: usize, period: f64| (std::f64::consts::TAU * t as f64 / period + phase).sin();
    // The first rows are forgotten, so that the state is an ordinary one.
    let all = (0..rows + 500).map(|t| match kind {
        "AR" => {
            x = 0.8 * x + noise.normal();
            x
        }
        "periodic" => wave(t, 24.0) + 0.5 * wave(2 * t, 24.0) + 0.2 * noise.normal(),
        "regime switching" => {
            regime ^= noise.uniform() < 0.02;
            x = if regime { 0.9 * x + 0.3 * noise.normal() } else { 0.2 * x + noise.normal() };
            x
        }
        "heavy tails" => {
            // Student's t with three degrees of freedom.
            let square: f64 = (0..3).map(|_| noise.normal().powi(2)).sum();
            x = 0.5 * x + noise.normal() / (square / 3.0).sqrt();
            x
        }
        _ => {
            x = 0.6 * x + 0.3 * noise.normal();
            2.0 * wave(t, 288.0) + wave(t, 24.0) + x
        }
    });
    all.collect::<Vec<_>>().split_off(500)
}
