//! A system that gives no thread: while a file is there, none can be started. Whoever needs one then panics, as tokio does
//! in each task that hands work to a thread while none is idle.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Stands before the C library's function that starts threads. The error is none that passes: after one of those, tokio
/// waits for a thread that is busy.
const SOURCE: &str = r#"
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

typedef int (*start_thread)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *with) {
    const char *refused_while = getenv("THREADS_REFUSED_WHILE");
    if (refused_while && access(refused_while, F_OK) == 0) return EPERM;
    return ((start_thread)dlsym(RTLD_NEXT, "pthread_create"))(thread, attributes, run, with);
}
"#;

/// The threads of a program that is not started yet.
#[derive(Clone, Debug)]
pub struct Threads {
    library: PathBuf,
    refused_while: PathBuf,
}

impl Threads {
    /// There are enough at first. What keeps them back lies in this folder.
    pub fn start(folder: &Path) -> Self {
        let (source, library) = (folder.join("threads.c"), folder.join("libthreads.so"));
        std::fs::write(&source, SOURCE).expect("the folder is ours");
        let built = Command::new("cc").args(["-shared", "-fPIC", "-o"]).arg(&library).arg(&source).arg("-ldl").status();
        assert!(built.expect("a C compiler, which Rust needs as well").success(), "the library is built");
        Self { library, refused_while: folder.join("no-threads") }
    }

    /// None can be started from now on.
    pub fn refuse(&self) {
        std::fs::write(&self.refused_while, "").expect("the folder is ours");
    }

    /// There are enough again.
    pub fn grant(&self) {
        std::fs::remove_file(&self.refused_while).expect("none could be started");
    }

    /// What a program has in its environment whose threads may be refused.
    pub fn environment(&self) -> Vec<(&'static str, OsString)> {
        vec![("LD_PRELOAD", self.library.clone().into()), ("THREADS_REFUSED_WHILE", self.refused_while.clone().into())]
    }
}
