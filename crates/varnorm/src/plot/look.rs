//! What a picture is drawn with: fixed colours for a file of its own, or those of the page that it stands in.

/// Where a picture stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Look {
    /// In a file of its own: black on white.
    Paper,
    /// Inside a page, whose variables `--ink`, `--soft`, `--grid` and `--plot-0` to `--plot-6` give the colours, so
    /// that it turns dark with the page.
    Page,
}

/// Told apart by people who see colours differently (Okabe and Ito).
const PALETTE: [&str; 7] = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#444444"];

impl Look {
    /// Words.
    pub(super) fn ink(self) -> &'static str {
        if self == Self::Paper { "#222222" } else { "var(--ink)" }
    }

    /// Axes and their numbers.
    pub(super) fn soft(self) -> &'static str {
        if self == Self::Paper { "#444444" } else { "var(--soft)" }
    }

    /// Lines behind the data.
    pub(super) fn grid(self) -> &'static str {
        if self == Self::Paper { "#e6e6e6" } else { "var(--grid)" }
    }

    /// A colour of the palette.
    pub(super) fn color(self, which: usize) -> String {
        let which = which % PALETTE.len();
        if self == Self::Paper { PALETTE[which].into() } else { format!("var(--plot-{which})") }
    }
}
