//! Ctrl-C.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command};
use std::time::Duration;

use varnorm::data::{WriteOptions, write};
use varnorm::{Dataset, SeriesSet};

use super::support::Folder;

/// Series enough for half a minute of work.
fn folder() -> Folder {
    let folder = Folder::new();
    let values = (0..1500 * 3000).map(|i| f64::from(i % 1013) * 1e-3).collect();
    let dataset = Dataset::new("big", SeriesSet::from_equal(values, 3000, 1).unwrap());
    write(&dataset, &folder.path("big.npz"), &WriteOptions::default()).unwrap();
    folder
}

fn interrupt(child: &Child) {
    let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
}

#[test]
fn it_stops_the_work_and_leaves_no_file() {
    let folder = folder();
    let line = "gram big.npz --kernel integral_rbf:sigma=1 -o g.npy";
    let mut child = folder.command(line.split_whitespace()).spawn().unwrap();
    let mut talk = BufReader::new(child.stderr.take().unwrap());
    let mut first = String::new();
    // It is said just before the work begins.
    talk.read_line(&mut first).unwrap();
    assert_eq!(first, "kernel integral_rbf:sigma=1, 1500 x 1500 values\n");
    std::thread::sleep(Duration::from_millis(200));
    interrupt(&child);
    let status = child.wait().unwrap();
    let mut rest = String::new();
    talk.read_to_string(&mut rest).unwrap();
    assert_eq!(rest, "error: stopped on request; nothing was written\n");
    assert_eq!(status.code(), Some(2));
    assert_eq!(folder.names(), ["big.npz"]);
}
