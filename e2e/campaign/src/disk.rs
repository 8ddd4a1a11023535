//! A disk that hangs: while a file is there, whatever waits for the disk waits on, as with a network file system whose
//! server is gone. Writing itself goes on, as it does to the page cache.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Stands before the C library's functions that wait for the disk.
const SOURCE: &str = r#"
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>

static void wait_for_the_disk(void) {
    const char *hangs_while = getenv("HANGS_WHILE");
    while (hangs_while && access(hangs_while, F_OK) == 0) usleep(5000);
}
int fsync(int file) {
    int (*next)(int) = (int (*)(int))dlsym(RTLD_NEXT, "fsync");
    wait_for_the_disk();
    return next(file);
}
int fdatasync(int file) {
    int (*next)(int) = (int (*)(int))dlsym(RTLD_NEXT, "fdatasync");
    wait_for_the_disk();
    return next(file);
}
"#;

/// The disk below a program that is not started yet.
#[derive(Clone, Debug)]
pub struct Disk {
    library: PathBuf,
    hangs_while: PathBuf,
}

impl Disk {
    /// It works at first. What makes it hang lies in this folder.
    pub fn start(folder: &Path) -> Self {
        let (source, library) = (folder.join("disk.c"), folder.join("libdisk.so"));
        std::fs::write(&source, SOURCE).expect("the folder is ours");
        let built = Command::new("cc").args(["-shared", "-fPIC", "-o"]).arg(&library).arg(&source).arg("-ldl").status();
        assert!(built.expect("a C compiler, which Rust needs as well").success(), "the disk is built");
        Self { library, hangs_while: folder.join("hangs") }
    }

    /// Nothing reaches it from now on.
    pub fn hang(&self) {
        std::fs::write(&self.hangs_while, "").expect("the folder is ours");
    }

    /// It works again.
    pub fn free(&self) {
        std::fs::remove_file(&self.hangs_while).expect("it hung");
    }

    /// What a program on it has in its environment.
    pub fn environment(&self) -> Vec<(&'static str, OsString)> {
        vec![("LD_PRELOAD", self.library.clone().into()), ("HANGS_WHILE", self.hangs_while.clone().into())]
    }
}
