// SPDX-License-Identifier: MIT OR Apache-2.0
//! `huepage-lab kernel` from end to end, on a "kernel" that builds in no time.

use std::{fs, path::PathBuf, process::Command, thread};

use assert_cmd::{assert::Assert, cargo::cargo_bin};
use tempfile::TempDir;

/// Takes what it is asked for as its configuration, and its C files as its image.
const MAKEFILE: &str = "\
VERSION = 6
PATCHLEVEL = 12
SUBLEVEL = 9
EXTRAVERSION =
allnoconfig:
\tcp $(KCONFIG_ALLCONFIG) $(O)/.config
\tsed -i 's/^CONFIG_DROPPED=y/# CONFIG_DROPPED is not set/' $(O)/.config
bzImage:
\t@echo '  CC      mm/a.o'
\techo once >> $(O)/../../builds
\tsleep 0.3
\tmkdir -p $(O)/arch/x86/boot
\tcat mm/*.c > $(O)/arch/x86/boot/bzImage
\ttouch $(O)/System.map
";

struct Checkout(TempDir);

impl Checkout {
    fn new() -> Self {
        let checkout = Checkout(tempfile::tempdir().unwrap());
        checkout.write("lab/configs/base.config", "CONFIG_SMP=y\n");
        checkout.write("lab/configs/x86_64.config", "CONFIG_ACPI=y\n");
        checkout.write("linux/Makefile", MAKEFILE);
        checkout.write("linux/mm/a.c", "stock\n");
        let tar = Command::new("tar")
            .args(["-cf", "linux.tar", "linux"])
            .current_dir(checkout.0.path())
            .status()
            .unwrap();
        assert!(tar.success());
        checkout
    }

    fn path(&self, path: &str) -> PathBuf {
        self.0.path().join(path)
    }

    fn write(&self, path: &str, text: &str) {
        fs::create_dir_all(self.path(path).parent().unwrap()).unwrap();
        fs::write(self.path(path), text).unwrap();
    }

    fn kernel(&self, arguments: &[&str]) -> Assert {
        assert_cmd::Command::new(cargo_bin!("huepage-lab"))
            .arg("kernel")
            .args(arguments)
            .current_dir(self.0.path())
            .env("HUEPAGE_LINUX_SOURCE", self.path("linux.tar"))
            .env_remove("HUEPAGE_LAB_DIR")
            .assert()
    }

    /// Builds, and gives the image that was printed.
    fn build(&self, arguments: &[&str]) -> PathBuf {
        let assert = self.kernel(&[&["build"], arguments].concat()).success();
        let stdout = String::from_utf8(assert.get_output().stdout.clone()).unwrap();
        PathBuf::from(stdout.trim_end())
    }

    fn builds(&self) -> usize {
        fs::read_to_string(self.path("target/lab/builds")).unwrap().lines().count()
    }
}

fn stderr(assert: &Assert) -> String {
    String::from_utf8_lossy(&assert.get_output().stderr).into_owned()
}

#[test]
fn a_kernel_is_built_once_and_again_when_an_input_changes() {
    let checkout = Checkout::new();
    let first = checkout.build(&[]);
    assert_eq!(fs::read_to_string(&first).unwrap(), "stock\n");
    let config = fs::read_to_string(first.with_file_name("config")).unwrap();
    assert_eq!(config, "CONFIG_ACPI=y\nCONFIG_SMP=y\n");
    assert_eq!(checkout.build(&[]), first);
    assert_eq!(checkout.builds(), 1);

    checkout.write("lab/configs/x86_64.config", "CONFIG_ACPI=y\nCONFIG_PCI=y\n");
    let second = checkout.build(&[]);
    assert_ne!(second, first);
    assert_eq!(checkout.builds(), 2);
}

#[test]
fn programs_that_want_the_same_kernel_at_once_build_it_once() {
    let checkout = Checkout::new();
    let images: Vec<PathBuf> = thread::scope(|scope| {
        let builds: Vec<_> = (0..3).map(|_| scope.spawn(|| checkout.build(&[]))).collect();
        builds.into_iter().map(|build| build.join().unwrap()).collect()
    });
    assert_eq!(images[0], images[1]);
    assert_eq!(images[1], images[2]);
    assert_eq!(checkout.builds(), 1);
}

#[test]
fn the_variant_huepage_has_our_changes_and_without_any_is_the_stock_kernel() {
    let checkout = Checkout::new();
    let stock = checkout.build(&[]);
    let none = checkout.kernel(&["build", "--variant", "huepage"]).success();
    assert!(stderr(&none).contains("the variant huepage is the stock kernel"), "{none}");
    assert_eq!(
        String::from_utf8_lossy(&none.get_output().stdout).trim_end(),
        stock.to_str().unwrap()
    );

    checkout.write("kernel/overlay/mm/b.c", "ours\n");
    let ours = checkout.build(&["--variant", "huepage"]);
    assert_eq!(fs::read_to_string(ours).unwrap(), "stock\nours\n");
    assert_eq!(checkout.build(&[]), stock);
    assert_eq!(fs::read_to_string(stock).unwrap(), "stock\n");
}

#[test]
fn a_dropped_option_stops_the_build_and_is_named() {
    let checkout = Checkout::new();
    checkout.write("lab/configs/base.config", "CONFIG_DROPPED=y\n");
    let failure = checkout.kernel(&["build"]).code(1);
    assert!(stderr(&failure).contains("base.config asks for CONFIG_DROPPED=y"), "{failure}");
    assert!(!checkout.path("target/lab/builds").exists());
}

#[test]
fn a_failed_build_shows_why_and_leaves_no_image() {
    let checkout = Checkout::new();
    checkout.write("kernel/overlay/mm/b.c/is/a/directory.c", "");
    let failure = checkout.kernel(&["build", "--variant", "huepage"]).code(1);
    let text = stderr(&failure);
    assert!(text.contains("Is a directory") && text.contains("build.log"), "{text}");
    assert!(!checkout.path("target/lab/kernel").exists());
}

#[test]
fn a_source_that_is_not_there_is_named() {
    let checkout = Checkout::new();
    fs::remove_file(checkout.path("linux.tar")).unwrap();
    let failure = checkout.kernel(&["build"]).code(1);
    assert!(stderr(&failure).contains("linux.tar"), "{failure}");
}

#[test]
fn without_changes_there_is_nothing_to_export_or_check() {
    let checkout = Checkout::new();
    for command in ["export", "check"] {
        let assert = checkout.kernel(&[command]).success().stdout("");
        assert!(stderr(&assert).contains("nothing to export"), "{assert}");
    }
}

#[test]
fn a_wrong_option_is_a_usage_error() {
    let checkout = Checkout::new();
    checkout.kernel(&["build", "--config", "none"]).code(2);
    checkout.kernel(&["build", "--arch", "z80"]).code(2);
}
