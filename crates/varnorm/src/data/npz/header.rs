//! The header of an `.npy` array: `{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), }`.
//!
//! It is a Python literal, but NumPy only ever writes this form for plain arrays, so no more is understood
//! here: nothing nests, and nothing in a header can make the reader allocate.

/// What the array's bytes mean.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Header {
    pub big_endian: bool,
    /// `f`, `i`, `u`, `b`, `U` or `S`, as NumPy has it.
    pub kind: char,
    /// Bytes per value; letters per value for `U`.
    pub size: usize,
    pub fortran_order: bool,
    pub shape: Vec<usize>,
}

const MAGIC: &[u8] = b"\x93NUMPY";

/// Splits a file into its header and the values' bytes.
pub(super) fn split(bytes: &[u8]) -> Result<(Header, &[u8]), String> {
    let cut = || "the .npy header is cut off; save the array again".to_string();
    let rest = bytes
        .strip_prefix(MAGIC)
        .ok_or("this is no .npy array: it does not start with the bytes of one; save it with numpy.save")?;
    let (version, rest) = rest.split_first_chunk::<2>().ok_or_else(cut)?;
    let (length, rest) = match version[0] {
        1 => rest.split_first_chunk().map(|(n, rest)| (u32::from(u16::from_le_bytes(*n)), rest)),
        2 | 3 => rest.split_first_chunk().map(|(n, rest)| (u32::from_le_bytes(*n), rest)),
        other => return Err(format!("the .npy version {other} is unknown; save the array with numpy.save")),
    }
    .ok_or_else(cut)?;
    let (text, values) =
        usize::try_from(length).ok().and_then(|n| rest.split_at_checked(n)).ok_or_else(cut)?;
    let text = std::str::from_utf8(text).map_err(|_| "the .npy header is not text; save the array again")?;
    let header = parse(text).ok_or_else(|| {
        format!("the .npy header {} is not understood; save the array with numpy.save", quote(text))
    })?;
    Ok((header?, values))
}

fn quote(text: &str) -> String {
    crate::data::text::quote(text.trim())
}

/// `None` where the header has another form, an inner error where it says something unsupported.
fn parse(text: &str) -> Option<Result<Header, String>> {
    let descr = after(text, "descr")?;
    let fortran_order = match after(text, "fortran_order")? {
        t if t.starts_with("True") => true,
        t if t.starts_with("False") => false,
        _ => return None,
    };
    let shape = after(text, "shape")?.strip_prefix('(')?.split_once(')')?.0;
    let shape: Option<Vec<usize>> = shape
        .split(',')
        .map(str::trim)
        .filter(|n| !n.is_empty())
        .map(|n| n.trim_end_matches('L').parse().ok())
        .collect();
    let shape = shape?;
    if descr.starts_with('[') {
        return Some(Err("the array has fields (a record array); save a plain array of numbers".into()));
    }
    let quote = descr.chars().next().filter(|q| "'\"".contains(*q))?;
    let (descr, _) = descr[1..].split_once(quote)?;
    Some(dtype(descr).map(|(big_endian, kind, size)| Header { big_endian, kind, size, fortran_order, shape }))
}

/// What follows `'key':`.
fn after<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    let at = text.find(&format!("'{key}'")).or_else(|| text.find(&format!("\"{key}\"")))?;
    Some(text[at + key.len() + 2..].trim_start().strip_prefix(':')?.trim_start())
}

fn dtype(descr: &str) -> Result<(bool, char, usize), String> {
    let unsupported = || {
        let advice = if descr.contains('O') {
            "save texts with .astype(str) and numbers with .astype(float)"
        } else {
            "save numbers as float64 and texts with .astype(str)"
        };
        format!("values of the type `{descr}` are not supported; {advice}")
    };
    let mut letters = descr.chars();
    let order = letters.next().filter(|c| "<>|=".contains(*c)).ok_or_else(unsupported)?;
    let kind = letters.next().ok_or_else(unsupported)?;
    let size: usize = letters.as_str().parse().map_err(|_| unsupported())?;
    let known = match kind {
        'f' => matches!(size, 4 | 8),
        'i' | 'u' => matches!(size, 1 | 2 | 4 | 8),
        'b' => size == 1,
        'U' | 'S' => true,
        _ => false,
    };
    if known { Ok((order == '>', kind, size)) } else { Err(unsupported()) }
}

/// The bytes before the values of a C-ordered `.npy` array, padded as NumPy pads them: `descr` is NumPy's, such as `<f8`.
pub fn npy_header(descr: &str, shape: &[usize]) -> Vec<u8> {
    let axes: String = shape.iter().map(|n| format!("{n}, ")).collect();
    let axes = if shape.len() == 1 { axes.trim_end() } else { axes.trim_end_matches(", ") };
    let mut literal = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': ({axes}), }}");
    let before = MAGIC.len() + 4;
    let padding = (before + literal.len() + 1).next_multiple_of(64) - (before + literal.len() + 1);
    literal.extend(std::iter::repeat_n(' ', padding));
    literal.push('\n');
    let mut bytes = MAGIC.to_vec();
    bytes.extend([1, 0]);
    // At most a few axes: the header is far shorter than 65536 bytes.
    bytes.extend((literal.len() as u16).to_le_bytes());
    bytes.extend(literal.as_bytes());
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_ends_at_a_multiple_of_64_bytes_and_reads_back() {
        for shape in [&[][..], &[5], &[123_456, 1], &[12, 7, 3], &[usize::MAX; 3]] {
            let bytes = npy_header("<f8", shape);
            assert_eq!(bytes.len() % 64, 0);
            assert_eq!(bytes.last(), Some(&b'\n'));
            let (read, values) = split(&bytes).unwrap();
            let expected =
                Header { big_endian: false, kind: 'f', size: 8, fortran_order: false, shape: shape.to_vec() };
            assert_eq!((read, values.len()), (expected, 0));
        }
    }
}
