//! Where results go: standard output, or a file that is there whole or not at all.

use std::io::{self, BufWriter, ErrorKind, Write};
use std::path::Path;

use serde::Serialize;

use crate::console::Console;
use crate::failure::Failure;

/// Writes a result to the file, or to standard output. A reader who has seen enough and closed the pipe is no
/// error.
pub fn deliver(
    console: &Console,
    file: Option<&Path>,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), Failure> {
    console.run.check()?;
    console.clear();
    if let Some(path) = file {
        return Ok(varnorm::data::write_atomically(path, write)?);
    }
    if was_closed() {
        return Err(Failure::Words(
            "standard output is closed, so the result would be lost; open it, or write to a file with -o"
                .into(),
        ));
    }
    let mut out = BufWriter::new(io::stdout().lock());
    match write(&mut out).and_then(|()| out.flush()) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => {
            // What is left in the buffer has no reader: it must not be tried again.
            drop(out.into_parts());
            Ok(())
        }
        outcome => outcome.map_err(Failure::Output),
    }
}

/// Whether the program was started with its standard output closed. Rust opens the null device in its place, for reading
/// and writing; a shell's `> /dev/null` opens it for writing alone.
#[cfg(unix)]
fn was_closed() -> bool {
    use rustix::fs::{OFlags, fcntl_getfl, fstat, stat};
    let out = io::stdout();
    let (Ok(flags), Ok(own), Ok(null)) = (fcntl_getfl(&out), fstat(&out), stat("/dev/null")) else {
        return false;
    };
    flags.contains(OFlags::RDWR) && (own.st_rdev, own.st_ino) == (null.st_rdev, null.st_ino)
}

#[cfg(not(unix))]
fn was_closed() -> bool {
    false
}

/// As JSON that a person can read too.
pub fn json(out: &mut dyn Write, value: &impl Serialize) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, value)?;
    writeln!(out)
}

/// One line of JSON for each element of a list in it.
pub fn json_lines(out: &mut dyn Write, value: &impl Serialize, list: &str) -> io::Result<()> {
    let whole = serde_json::to_value(value)?;
    for element in whole.get(list).and_then(serde_json::Value::as_array).into_iter().flatten() {
        writeln!(out, "{element}")?;
    }
    Ok(())
}
