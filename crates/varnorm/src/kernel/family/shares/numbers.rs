//! Many numbers in JSON: base64 of their little-endian bytes, checked against the count that their place demands.

use base64::{Engine, prelude::BASE64_STANDARD};

/// Finite numbers as text.
pub(crate) fn write(numbers: &[f64]) -> String {
    BASE64_STANDARD.encode(numbers.iter().flat_map(|v| v.to_le_bytes()).collect::<Vec<u8>>())
}

/// The numbers of a text, or a sentence where they are not so many finite ones.
pub(crate) fn read(name: &str, text: &str, count: usize) -> Result<Vec<f64>, String> {
    let bytes = bytes(name, text, count.saturating_mul(8))?;
    let (cells, rest) = bytes.as_chunks::<8>();
    if cells.len() != count || !rest.is_empty() {
        return Err(format!(
            "{name} holds {} bytes where {count} numbers of 8 bytes are expected",
            bytes.len()
        ));
    }
    let numbers: Vec<f64> = cells.iter().map(|cell| f64::from_le_bytes(*cell)).collect();
    match numbers.iter().position(|v| !v.is_finite()) {
        None => Ok(numbers),
        Some(at) => Err(format!("{name}: number {at} is {}, which is not finite", numbers[at])),
    }
}

/// Whole numbers as text.
pub(crate) fn write_whole(numbers: &[u32]) -> String {
    BASE64_STANDARD.encode(numbers.iter().flat_map(|v| v.to_le_bytes()).collect::<Vec<u8>>())
}

/// The whole numbers of a text, or a sentence where they are more than `most`.
pub(crate) fn read_whole(name: &str, text: &str, most: usize) -> Result<Vec<u32>, String> {
    let bytes = bytes(name, text, most.saturating_mul(4))?;
    let (cells, rest) = bytes.as_chunks::<4>();
    if !rest.is_empty() {
        return Err(format!("{name} holds {} bytes, which are no numbers of 4 bytes", bytes.len()));
    }
    Ok(cells.iter().map(|cell| u32::from_le_bytes(*cell)).collect())
}

/// The bytes of a text, which are not unpacked where they are more than `most`.
fn bytes(name: &str, text: &str, most: usize) -> Result<Vec<u8>, String> {
    if text.len() > most.div_ceil(3).saturating_mul(4) {
        return Err(format!("{name} has {} letters, too many for {most} bytes", text.len()));
    }
    BASE64_STANDARD.decode(text).map_err(|e| format!("{name} is not base64: {e}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_survive_and_mistakes_are_told() {
        let numbers = [1.0, -0.1, 1e300];
        assert_eq!(read("biases", &write(&numbers), 3).unwrap(), numbers);
        assert_eq!(read_whole("subsets", &write_whole(&[7, 0, u32::MAX]), 9).unwrap(), [7, 0, u32::MAX]);
        let told = |text: &str, count| read("biases", text, count).unwrap_err();
        assert!(told(&write(&numbers), 4).contains("24 bytes where 4 numbers"));
        assert!(told(&write(&numbers), 2).contains("too many for 16 bytes"));
        assert!(told("?", 1).contains("not base64"));
        assert!(told(&write(&[f64::NAN]), 1).contains("not finite"));
        assert!(read_whole("subsets", "AAAA", 9).unwrap_err().contains("3 bytes"));
    }
}
