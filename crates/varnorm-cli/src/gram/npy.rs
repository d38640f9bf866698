//! A matrix as a NumPy file.

use std::io::{self, Write};

use varnorm::Matrix;

/// Format 1.0: magic, version, header length, a Python dictionary padded to 64 bytes, the numbers row by row.
pub fn write(out: &mut dyn Write, matrix: &Matrix) -> io::Result<()> {
    const START: usize = 10;
    let shape = format!("({}, {})", matrix.rows(), matrix.columns());
    let mut header = format!("{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}");
    let padding = 63 - (START + header.len()) % 64;
    header.push_str(&" ".repeat(padding));
    header.push('\n');
    let length = u16::try_from(header.len()).map_err(io::Error::other)?;
    out.write_all(b"\x93NUMPY\x01\x00")?;
    out.write_all(&length.to_le_bytes())?;
    out.write_all(header.as_bytes())?;
    matrix.values().iter().try_for_each(|value| out.write_all(&value.to_le_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_numbers_start_at_a_multiple_of_64_bytes() {
        for rows in [1, 12, 123_456] {
            let matrix = Matrix::zeros(rows, 1);
            let mut bytes = Vec::new();
            write(&mut bytes, &matrix).unwrap();
            let start = bytes.len() - 8 * rows;
            assert_eq!(start % 64, 0);
            assert_eq!(start, 10 + usize::from(u16::from_le_bytes([bytes[8], bytes[9]])));
            assert_eq!(bytes[start - 1], b'\n');
        }
    }
}
