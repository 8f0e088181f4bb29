//! The supervisor without the rest of the product: `supervise --dir DIR --socket PATH --cwd CWD -- COMMAND`. The tests
//! run this program as a separate process.

use std::io::Write;
use std::process::ExitCode;

use sayso_supervisor::Spec;

fn main() -> ExitCode {
    match Spec::parse(std::env::args_os().skip(1)) {
        Ok(spec) => sayso_supervisor::run(spec),
        Err(message) => {
            let _ = writeln!(std::io::stderr(), "supervise: {message}");
            ExitCode::from(2)
        }
    }
}
