//! Files packed by gzip or Zstandard.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::io::{self, Read, Write};
use std::path::Path;

use crate::data::ReadLimits;
use crate::error::{Error, Result};

/// How a file is packed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Packing {
    Gzip,
    Zstandard,
}

/// A text has at most so many bytes for each byte of its values.
const TEXT: usize = 4;

impl Packing {
    /// By the last extension, in any case.
    pub fn of(path: &Path) -> Option<Self> {
        let extension = path.extension()?.to_str()?.to_ascii_lowercase();
        match extension.as_str() {
            "gz" | "gzip" => Some(Self::Gzip),
            "zst" | "zstd" => Some(Self::Zstandard),
            _ => None,
        }
    }

    fn of_bytes(bytes: &[u8]) -> Option<Self> {
        match bytes {
            [0x1f, 0x8b, ..] => Some(Self::Gzip),
            [0x28, 0xb5, 0x2f, 0xfd, ..] => Some(Self::Zstandard),
            _ => None,
        }
    }

    /// Writes through the packer.
    pub fn write(
        self,
        out: &mut dyn Write,
        write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> io::Result<()> {
        match self {
            Self::Gzip => {
                let mut packer = flate2::write::GzEncoder::new(out, flate2::Compression::default());
                write(&mut packer)?;
                packer.finish().map(|_| ())
            }
            Self::Zstandard => {
                let mut whole = Vec::new();
                write(&mut whole)?;
                ruzstd::encoding::compress(&whole[..], out, ruzstd::encoding::CompressionLevel::Fastest);
                Ok(())
            }
        }
    }
}

/// The path without the extension of a packer.
pub(super) fn unpacked_name(path: &Path) -> Cow<'_, Path> {
    match Packing::of(path) {
        Some(_) => Cow::Owned(path.with_extension("")),
        None => Cow::Borrowed(path),
    }
}

/// The name without any extension: `a` of `a.csv.gz`.
pub(super) fn stem(path: &Path) -> Option<String> {
    unpacked_name(path).file_stem().map(OsStr::to_string_lossy).map(Cow::into_owned)
}

/// The bytes as they were before packing; no more than the limits allow.
pub(super) fn unpacked<'a>(path: &Path, bytes: &'a [u8], limits: &ReadLimits) -> Result<Cow<'a, [u8]>> {
    let Some(packing) = Packing::of_bytes(bytes) else { return Ok(Cow::Borrowed(bytes)) };
    let most = limits.bytes.saturating_mul(TEXT);
    let wrong = |problem: &dyn std::fmt::Display| {
        Error::file(path, format!("the file cannot be unpacked: {problem}"))
    };
    let mut reader: Box<dyn Read + '_> = match packing {
        Packing::Gzip => Box::new(flate2::read::MultiGzDecoder::new(bytes)),
        Packing::Zstandard => {
            Box::new(ruzstd::decoding::StreamingDecoder::new(bytes).map_err(|e| wrong(&e))?)
        }
    };
    let mut out = Vec::new();
    let mut chunk = vec![0; 1 << 16];
    loop {
        limits.check()?;
        match reader.read(&mut chunk).map_err(|e| wrong(&e))? {
            0 => return Ok(Cow::Owned(out)),
            count => out.extend_from_slice(&chunk[..count]),
        }
        limits.room(out.len().min(most.saturating_add(1)).div_ceil(TEXT), 1)?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_packed_comes_back_and_no_more_than_allowed() {
        let text = b"time,x\n0,1\n1,2\n".repeat(1000);
        for packing in [Packing::Gzip, Packing::Zstandard] {
            let mut packed = Vec::new();
            packing.write(&mut packed, |out| out.write_all(&text)).unwrap();
            assert!(packed.len() < text.len() / 4);
            let none = ReadLimits::default();
            assert_eq!(unpacked(Path::new("x"), &packed, &none).unwrap()[..], text[..]);
            let small = ReadLimits { bytes: 1000, ..none.clone() };
            assert!(unpacked(Path::new("x"), &packed, &small).is_err());
            let cut = &packed[..packed.len() / 2];
            assert!(
                unpacked(Path::new("x.csv.gz"), cut, &none)
                    .unwrap_err()
                    .to_string()
                    .contains("cannot be unpacked")
            );
        }
        assert_eq!(stem(Path::new("d/a.b.csv.gz")).unwrap(), "a.b");
        assert_eq!(stem(Path::new("d/a.csv")).unwrap(), "a");
    }
}
