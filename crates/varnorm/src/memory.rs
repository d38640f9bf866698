//! How much memory there is, and refusing in time what would need more.
//!
//! A process that asks for too much is ended by the system without a word, or aborts. So large sizes are estimated and
//! compared with what the machine, the container and the process's own limit leave, before anything is made.

use std::path::{Path, PathBuf};

use crate::error::{Error, Result};

pub use crate::error::bytes_in_words;

/// What is smaller is not looked at: it is there, and looking takes longer.
const SMALL: f64 = 64e6;

/// An error that says what to do, where so many bytes are more than is free. `what` is the subject of the sentence.
pub(crate) fn require(bytes: f64, what: impl FnOnce() -> String, advice: &str) -> Result<()> {
    if bytes <= SMALL {
        return Ok(());
    }
    // Where the system does not tell, what no address can reach is still too much.
    let free = available().unwrap_or(isize::MAX as f64);
    if bytes <= free {
        return Ok(());
    }
    Err(Error::Memory { what: what(), needed: bytes, free, advice: advice.into() })
}

/// The same for a matrix of numbers.
pub(crate) fn require_matrix(rows: usize, columns: usize, advice: &str) -> Result<()> {
    let bytes = 8.0 * rows as f64 * columns as f64;
    require(bytes, || format!("a matrix of {rows} x {columns} values"), advice)
}

/// Bytes that this process can still get: the least of what the machine has free, what the control groups of the process
/// leave, and its own limit of addresses. `None` where the system does not tell (it is asked under Linux only).
pub fn available() -> Option<f64> {
    [machine(), control_groups(), address_space()].into_iter().flatten().reduce(f64::min)
}

fn machine() -> Option<f64> {
    field(&std::fs::read_to_string("/proc/meminfo").ok()?, "MemAvailable:")
        .map(|kilobytes| 1024.0 * kilobytes)
}

/// The number that follows a name at the start of a line.
fn field(text: &str, name: &str) -> Option<f64> {
    let rest = text.lines().find_map(|line| line.strip_prefix(name))?;
    rest.split_whitespace().next()?.parse().ok()
}

/// The least that a group of the process, or one around it, leaves.
fn control_groups() -> Option<f64> {
    let groups = std::fs::read_to_string("/proc/self/cgroup").ok()?;
    let free = groups.lines().filter_map(|line| {
        let mut parts = line.splitn(3, ':');
        let (_, controllers, path) = (parts.next()?, parts.next()?, parts.next()?);
        match controllers {
            "" => least_of_parents(Path::new("/sys/fs/cgroup"), path, &VERSION_2),
            "memory" => least_of_parents(Path::new("/sys/fs/cgroup/memory"), path, &VERSION_1),
            _ => None,
        }
    });
    free.reduce(f64::min)
}

/// Where a version of control groups has its limit, its use, and what of that could be given back at once.
struct Names {
    limit: &'static str,
    used: &'static str,
    cached: &'static str,
}

const VERSION_2: Names = Names { limit: "memory.max", used: "memory.current", cached: "inactive_file " };
const VERSION_1: Names =
    Names { limit: "memory.limit_in_bytes", used: "memory.usage_in_bytes", cached: "total_inactive_file " };

fn least_of_parents(root: &Path, path: &str, names: &Names) -> Option<f64> {
    let inner: PathBuf = root.join(path.trim_start_matches('/'));
    let folders = inner.ancestors().take_while(|folder| folder.starts_with(root));
    folders.filter_map(|folder| group(folder, names)).reduce(f64::min)
}

fn group(folder: &Path, names: &Names) -> Option<f64> {
    let number = |name: &str| std::fs::read_to_string(folder.join(name)).ok()?.trim().parse::<f64>().ok();
    // `max` is no number: there is no limit.
    let (limit, used) = (number(names.limit)?, number(names.used)?);
    let statistics = std::fs::read_to_string(folder.join("memory.stat")).unwrap_or_default();
    Some((limit - used + field(&statistics, names.cached).unwrap_or(0.0)).max(0.0))
}

/// What `ulimit -v` leaves.
fn address_space() -> Option<f64> {
    let limit = field(&std::fs::read_to_string("/proc/self/limits").ok()?, "Max address space")?;
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    Some((limit - 1024.0 * field(&status, "VmSize:")?).max(0.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_too_much_is_refused_with_a_way_out() {
        let error = require_matrix(10_000_000, 10_000_000, "use landmarks").unwrap_err().to_string();
        assert!(error.starts_with("a matrix of 10000000 x 10000000 values would need about 8"), "{error}");
        assert!(error.ends_with("free; use landmarks"), "{error}");
        require_matrix(100, 100, "").unwrap();
        #[cfg(target_os = "linux")]
        assert!(available().is_some_and(|free| free > 1e6 && free < 1e15));
    }

    #[test]
    fn groups_are_read_with_those_around_them() {
        let root = tempfile::tempdir().unwrap();
        let inner = root.path().join("user/session");
        std::fs::create_dir_all(&inner).unwrap();
        let write = |path: &str, text: &str| std::fs::write(root.path().join(path), text).unwrap();
        write("user/session/memory.max", "max\n");
        write("user/session/memory.current", "10\n");
        write("user/memory.max", "5000\n");
        write("user/memory.current", "3000\n");
        write("user/memory.stat", "active_file 7\ninactive_file 500\n");
        assert_eq!(least_of_parents(root.path(), "/user/session", &VERSION_2), Some(2500.0));
        assert_eq!(least_of_parents(root.path(), "/", &VERSION_2), None);
        assert_eq!(
            field("Max address space         unlimited      unlimited   bytes\n", "Max address space"),
            None
        );
    }
}
