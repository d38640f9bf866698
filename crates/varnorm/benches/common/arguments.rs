//! What a measurement is started with.

/// The arguments after `--`, or `None`, with a printed reason, where nothing is to be measured.
///
/// `cargo bench` adds `--bench`; `cargo test --benches` does not, and only wants to know that the program starts.
pub fn arguments() -> Option<Vec<String>> {
    let all: Vec<String> = std::env::args().skip(1).collect();
    if !all.iter().any(|argument| argument == "--bench") {
        println!("nothing is measured without --bench, which `cargo bench` gives");
        return None;
    }
    Some(all.into_iter().filter(|argument| argument != "--bench").collect())
}
