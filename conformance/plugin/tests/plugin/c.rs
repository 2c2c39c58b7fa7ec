//! Builds C and C++ sources with the machine's compiler.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The folder of the header.
pub(crate) const INCLUDE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../include");

/// The header as it was released.
pub(crate) const FROZEN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/abi_v1");

/// The compiler of a language (`CC`, `CXX`, or cc, c++), if this machine has one; says so where it has none.
pub(crate) fn compiler(variable: &str, usual: &str) -> Option<String> {
    let name = std::env::var(variable).unwrap_or_else(|_| usual.to_owned());
    match Command::new(&name).arg("--version").output() {
        Ok(output) if output.status.success() => Some(name),
        _ => {
            eprintln!("SKIPPED: 1 test: no compiler {name:?} on this machine; set {variable}");
            None
        }
    }
}

/// Compiles one source text to `folder/name`; warnings are errors. Fails with the compiler's words.
pub(crate) fn compile(compiler: &str, flags: &[&str], source: &str, folder: &Path, name: &str) -> PathBuf {
    let cpp = flags.iter().any(|flag| flag.starts_with("-std=c++"));
    let text = folder.join(format!("{name}.{}", if cpp { "cpp" } else { "c" }));
    std::fs::write(&text, source).expect("the folder is writable");
    let target = folder.join(name);
    let output = Command::new(compiler)
        .args(["-Wall", "-Wextra", "-pedantic", "-Werror"])
        .args(flags)
        .arg(&text)
        .arg("-o")
        .arg(&target)
        .output()
        .expect("the compiler starts");
    let words = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{name}: {words}\n{source}");
    target
}

/// A plug-in whose `sc_run` has this body, and this text before it; `None` without a compiler.
pub(crate) fn plugin(folder: &Path, name: &str, before: &str, body: &str) -> Option<PathBuf> {
    let source = format!(
        "#include \"sparse_conformance.h\"\n\
         uint32_t sc_abi_version(void) {{ return SC_ABI_VERSION; }}\n\
         const char *sc_manifest(void) {{ return \"{{}}\"; }}\n\
         {before}\n\
         int32_t sc_run(const sc_task *task, sc_result *result) {{\n\
         (void)task;\n(void)result;\n{body}\n}}\n"
    );
    shared(folder, name, &source)
}

/// A shared library of this source; `None` without a compiler.
pub(crate) fn shared(folder: &Path, name: &str, source: &str) -> Option<PathBuf> {
    let compiler = compiler("CC", "cc")?;
    let include = format!("-I{INCLUDE}");
    let flags = ["-std=c11", "-O1", "-shared", "-fPIC", &include];
    Some(compile(&compiler, &flags, source, folder, &format!("{name}.so")))
}
