//! Options of a benchmark, written `name=value`.

/// The value of an option.
pub fn option(name: &str) -> Option<String> {
    let mut words = std::env::args().skip(1);
    words.find_map(|word| Some(word.strip_prefix(name)?.strip_prefix('=')?.to_owned()))
}
