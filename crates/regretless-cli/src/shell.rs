//! The command line of a run as text that a shell reads.

use std::ffi::OsString;

/// The command line of this run, quoted for a shell. The first argument is the path of the program.
pub fn command_line(arguments: &[OsString]) -> String {
    let mut line = String::from("regretless");
    for argument in arguments.iter().skip(1) {
        line.push(' ');
        line.push_str(&quoted(&argument.to_string_lossy()));
    }
    line
}

/// An argument, quoted if a shell would change it.
pub fn quoted(argument: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./,=+%".contains(c);
    if !argument.is_empty() && argument.chars().all(is_plain) {
        argument.into()
    } else {
        format!("'{}'", argument.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use super::command_line;

    #[test]
    fn the_command_line_is_quoted_for_a_shell() {
        let arguments = ["/bin/regretless", "reproduce", "--only", "KS32;O'Brien"];
        let arguments = arguments.map(OsString::from);
        let expected = r"regretless reproduce --only 'KS32;O'\''Brien'";
        assert_eq!(command_line(&arguments), expected);
    }
}
