//! [`Array`]: one `.npy` array as numbers or texts.

use super::header::{self, Header};

/// An array in memory: its header and its bytes, checked against each other.
pub(super) struct Array<'a> {
    header: Header,
    bytes: &'a [u8],
    /// Bytes per value.
    width: usize,
}

impl<'a> Array<'a> {
    /// Reads an `.npy` file. The error is a sentence.
    pub fn read(file: &'a [u8]) -> Result<Self, String> {
        let (header, bytes) = header::split(file)?;
        let width = if header.kind == 'U' { header.size.checked_mul(4) } else { Some(header.size) };
        let needed =
            header.shape.iter().try_fold(width.unwrap_or(usize::MAX), |n, &axis| n.checked_mul(axis));
        // A width of zero would let a shape claim any number of empty texts.
        let fits = needed == Some(bytes.len()) && (width != Some(0) || header.shape.contains(&0));
        match width {
            Some(width) if fits => Ok(Self { header, bytes, width }),
            _ => Err(format!(
                "the header promises an array of shape {:?}, which does not fit the {} bytes of values \
                 that follow; \
                 the file is damaged, save it again",
                header.shape,
                bytes.len()
            )),
        }
    }

    pub fn shape(&self) -> &[usize] {
        &self.header.shape
    }

    /// Whether the values are floating-point numbers.
    pub fn is_float(&self) -> bool {
        self.header.kind == 'f'
    }

    /// The values as numbers, in C order.
    pub fn floats(&self) -> Result<Vec<f64>, String> {
        if matches!(self.header.kind, 'U' | 'S') {
            return Err("texts where numbers are expected; save the array with .astype(float)".into());
        }
        Ok(self.cells().map(|cell| self.float(cell)).collect())
    }

    /// The values as whole numbers of zero or more.
    pub fn counts(&self) -> Result<Vec<usize>, String> {
        let whole = |v: f64| (v >= 0.0 && v.fract() == 0.0 && v < 2f64.powi(53)).then_some(v as usize);
        let counts = self.floats()?.into_iter().map(whole).collect::<Option<Vec<_>>>();
        counts.ok_or_else(|| "every value must be a whole number of zero or more".into())
    }

    /// The values as texts, in C order: numbers in their shortest form.
    pub fn texts(&self) -> Result<Vec<String>, String> {
        match self.header.kind {
            'U' => self.cells().map(|cell| self.unicode(cell)).collect(),
            'S' => Ok(self.cells().map(latin).collect()),
            'f' => Ok(self.cells().map(|cell| crate::data::text::number(self.float(cell))).collect()),
            'b' => Ok(self.cells().map(|cell| if cell[0] == 0 { "False" } else { "True" }.into()).collect()),
            _ => Ok(self.cells().map(|cell| self.integer(cell).to_string()).collect()),
        }
    }

    /// The bytes of each value, in C order.
    fn cells(&self) -> impl Iterator<Item = &'a [u8]> + '_ {
        let shape = &self.header.shape;
        let count: usize = shape.iter().product();
        (0..count).map(move |index| {
            let at = if self.header.fortran_order { fortran_position(index, shape) } else { index };
            &self.bytes[at * self.width..(at + 1) * self.width]
        })
    }

    fn float(&self, cell: &[u8]) -> f64 {
        let bits = self.bits(cell);
        match (self.header.kind, self.width) {
            ('f', 4) => f64::from(f32::from_bits(bits as u32)),
            ('f', _) => f64::from_bits(bits),
            _ => self.integer(cell) as f64,
        }
    }

    fn integer(&self, cell: &[u8]) -> i128 {
        let bits = self.bits(cell);
        if self.header.kind == 'i' {
            // Moves the sign bit of a short integer to the top and back, so that it fills the width.
            let unused = 64 - 8 * self.width as u32;
            i128::from((bits << unused).cast_signed() >> unused)
        } else {
            i128::from(bits)
        }
    }

    /// Up to eight bytes as one number, in the array's byte order.
    fn bits(&self, cell: &[u8]) -> u64 {
        let add = |bits: u64, byte: &u8| bits << 8 | u64::from(*byte);
        if self.header.big_endian { cell.iter().fold(0, add) } else { cell.iter().rev().fold(0, add) }
    }

    fn unicode(&self, cell: &[u8]) -> Result<String, String> {
        let letters = cell.chunks_exact(4).map(|code| char::from_u32(self.bits(code) as u32));
        let text: Option<String> = letters.collect();
        let text = text.ok_or("a text holds a code that is no letter; the file is damaged, save it again")?;
        Ok(text.trim_end_matches('\0').into())
    }
}

/// Bytes are UTF-8 where they can be, else one letter each.
fn latin(cell: &[u8]) -> String {
    let end = cell.iter().rposition(|&b| b != 0).map_or(0, |last| last + 1);
    match std::str::from_utf8(&cell[..end]) {
        Ok(text) => text.into(),
        Err(_) => cell[..end].iter().map(|&b| char::from(b)).collect(),
    }
}

/// Where the value with this index in C order is stored when the first axis runs fastest.
fn fortran_position(mut index: usize, shape: &[usize]) -> usize {
    let mut stride: usize = shape.iter().product();
    let mut position = 0;
    for &axis in shape.iter().rev() {
        stride /= axis;
        position += index % axis * stride;
        index /= axis;
    }
    position
}
