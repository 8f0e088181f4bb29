//! Makes a release build take the page as it is in `web/dist`, also when the page was built after the server.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    // A debug build reads the folder when it is asked for a file.
    if std::env::var("PROFILE").is_ok_and(|profile| profile == "release") {
        // Cargo takes a folder that is not there for one that changes all the time.
        let _ = std::fs::create_dir_all("../../web/dist");
        println!("cargo::rerun-if-changed=../../web/dist");
    }
}
