//! [`write_atomically`]: a file is there whole, or not at all.

use std::fs;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};

/// Writes a file so that a reader sees the old content or the new one, never half of it.
///
/// The content goes to a temporary file in the same folder, is flushed to disk and then renamed. On any
/// error the target is untouched and the temporary file is gone. Permissions are those of the file that is
/// replaced, or the ordinary ones for a new file.
pub fn write_atomically(
    path: &Path,
    content: impl FnOnce(&mut dyn Write) -> std::io::Result<()>,
) -> Result<()> {
    let target = follow(path);
    let outcome = match fs::metadata(&target) {
        Err(error) if target.is_symlink() => Err(error),
        // A device or a pipe must not be replaced by a file.
        Ok(there) if !there.is_file() && !there.is_dir() => write_through(&target, content),
        there => replace(&target, there.ok().map(|t| t.permissions()), content),
    };
    outcome.map_err(|source| Error::io("write", path, source))
}

/// A link keeps pointing where it points: what it points to is replaced, or made where it is not there yet.
fn follow(path: &Path) -> PathBuf {
    /// Links that are followed: as many as the system follows. A circle is left to it to complain about.
    const LINKS: usize = 40;
    let mut target = path.to_path_buf();
    for _ in 0..LINKS {
        match fs::read_link(&target) {
            // A relative link is relative to its own folder.
            Ok(next) => target = target.parent().map_or_else(|| next.clone(), |folder| folder.join(&next)),
            Err(_) => return target,
        }
    }
    path.into()
}

fn write_through(
    path: &Path,
    content: impl FnOnce(&mut dyn Write) -> std::io::Result<()>,
) -> std::io::Result<()> {
    let mut out = BufWriter::new(fs::OpenOptions::new().write(true).open(path)?);
    content(&mut out)?;
    out.flush()
}

fn replace(
    path: &Path,
    permissions: Option<fs::Permissions>,
    content: impl FnOnce(&mut dyn Write) -> std::io::Result<()>,
) -> std::io::Result<()> {
    let folder = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let mut file = temporary(folder)?;
    let mut out = BufWriter::new(file.as_file_mut());
    content(&mut out)?;
    out.flush()?;
    drop(out);
    if let Some(permissions) = permissions {
        file.as_file().set_permissions(permissions)?;
    }
    file.as_file().sync_all()?;
    file.persist(path)?;
    Ok(())
}

fn temporary(folder: &Path) -> std::io::Result<tempfile::NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".varnorm-");
    // The system takes the umask off, as for any new file.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o644));
    builder.tempfile_in(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_leaves_the_old_file_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.txt");
        write_atomically(&path, |out| out.write_all(b"old")).unwrap();
        let error = write_atomically(&path, |out| {
            out.write_all(b"half")?;
            Err(std::io::Error::other("disk full"))
        })
        .unwrap_err();
        assert!(error.to_string().ends_with("a.txt: disk full"), "{error}");
        assert_eq!(fs::read(&path).unwrap(), b"old");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[cfg(unix)]
    #[test]
    fn permissions_are_ordinary_or_kept() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let (new, plain) = (folder.path().join("new"), folder.path().join("plain"));
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        write_atomically(&new, |out| out.write_all(b"1")).unwrap();
        fs::write(&plain, b"1").unwrap();
        assert_eq!(mode(&new), mode(&plain) & 0o644);
        fs::set_permissions(&new, fs::Permissions::from_mode(0o640)).unwrap();
        write_atomically(&new, |out| out.write_all(b"2")).unwrap();
        assert_eq!(mode(&new), 0o640);
        assert_eq!(fs::read(&new).unwrap(), b"2");
    }

    #[cfg(unix)]
    #[test]
    fn a_link_stays_a_link() {
        let folder = tempfile::tempdir().unwrap();
        let (file, link) = (folder.path().join("file"), folder.path().join("link"));
        fs::write(&file, b"old").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        write_atomically(&link, |out| out.write_all(b"new")).unwrap();
        assert!(link.is_symlink());
        assert_eq!(fs::read(&file).unwrap(), b"new");
        // Nothing is there yet, two links away, the second of them relative.
        let (first, second) = (folder.path().join("first"), folder.path().join("second"));
        fs::create_dir(folder.path().join("deep")).unwrap();
        std::os::unix::fs::symlink(&second, &first).unwrap();
        std::os::unix::fs::symlink("deep/later", &second).unwrap();
        write_atomically(&first, |out| out.write_all(b"made")).unwrap();
        assert!(first.is_symlink() && second.is_symlink());
        assert_eq!(fs::read(folder.path().join("deep/later")).unwrap(), b"made");
        // A circle is an error, not a file.
        let (a, b) = (folder.path().join("a"), folder.path().join("b"));
        std::os::unix::fs::symlink(&b, &a).unwrap();
        std::os::unix::fs::symlink(&a, &b).unwrap();
        assert!(write_atomically(&a, |out| out.write_all(b"lost")).is_err() && a.is_symlink());
    }

    #[test]
    fn a_missing_folder_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("no").join("a.txt");
        let error = write_atomically(&path, |_| Ok(())).unwrap_err();
        assert!(error.to_string().starts_with("cannot write "), "{error}");
    }
}
