//! [`Matrix`]: rows of numbers, nothing more; and [`Scaled`], a number of any size.

/// The number `mantissa * 2^exponent`: what an `f64` is, without its limits.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scaled {
    /// Any finite number.
    pub mantissa: f64,
    /// A whole number.
    pub exponent: f64,
}

impl Scaled {
    /// As an `f64`: infinite or zero where that is too narrow.
    pub fn value(self) -> f64 {
        self.mantissa * power_of_two(self.exponent)
    }

    /// The natural logarithm; NaN for a negative number.
    pub fn ln(self) -> f64 {
        self.exponent.mul_add(std::f64::consts::LN_2, self.mantissa.ln())
    }
}

/// A number as one from 1 to 2 (or -2 to -1) and a power of two; zero, what is below the normal range and what is not finite as it is.
pub(crate) fn split_power(value: f64) -> (f64, f64) {
    if !value.is_normal() {
        return (value, 0.0);
    }
    let exponent = ((value.to_bits() >> 52) & 0x7ff) as i32 - 1023;
    (f64::from_bits(value.to_bits() & !(0x7ff << 52) | 1023 << 52), f64::from(exponent))
}

impl From<f64> for Scaled {
    fn from(value: f64) -> Self {
        Self { mantissa: value, exponent: 0.0 }
    }
}

/// `2^exponent` for a whole number, 0 or infinity beyond the range of an `f64`.
pub(crate) fn power_of_two(exponent: f64) -> f64 {
    // In the usual case one shift; exp2 of a whole number is exact as well.
    if exponent == 0.0 { 1.0 } else { exponent.clamp(-1100.0, 1100.0).exp2() }
}

/// A dense matrix, row by row.
#[derive(Debug, Clone, PartialEq)]
pub struct Matrix {
    rows: usize,
    columns: usize,
    values: Vec<f64>,
}

impl Matrix {
    /// A matrix of zeros.
    pub fn zeros(rows: usize, columns: usize) -> Self {
        Self { rows, columns, values: vec![0.0; rows * columns] }
    }

    /// A matrix from its values, row by row; `None` when their number is not `rows * columns`.
    pub fn from_values(rows: usize, columns: usize, values: Vec<f64>) -> Option<Self> {
        (rows.checked_mul(columns)? == values.len()).then_some(Self { rows, columns, values })
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of columns.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// One cell.
    pub fn get(&self, row: usize, column: usize) -> f64 {
        self.values[row * self.columns + column]
    }

    /// One row.
    pub fn row(&self, row: usize) -> &[f64] {
        &self.values[row * self.columns..(row + 1) * self.columns]
    }

    /// One row, to change.
    pub fn row_mut(&mut self, row: usize) -> &mut [f64] {
        &mut self.values[row * self.columns..(row + 1) * self.columns]
    }

    /// All values, row by row.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// All values, to change.
    pub fn values_mut(&mut self) -> &mut [f64] {
        &mut self.values
    }

    /// The matrix without its shape.
    pub fn into_values(self) -> Vec<f64> {
        self.values
    }

    /// Adds the rows of another matrix with as many columns.
    pub(crate) fn append(&mut self, other: Self) {
        debug_assert_eq!(self.columns, other.columns);
        self.rows += other.rows;
        if self.values.is_empty() {
            self.values = other.values;
        } else {
            // No more room than is needed: these matrices are the largest there are.
            self.values.reserve_exact(other.values.len());
            self.values.extend_from_slice(&other.values);
        }
    }

    /// The cells where the given rows and columns meet.
    pub fn select(&self, rows: &[usize], columns: &[usize]) -> Self {
        let values = rows.iter().flat_map(|&r| columns.iter().map(move |&c| self.get(r, c))).collect();
        Self { rows: rows.len(), columns: columns.len(), values }
    }
}
