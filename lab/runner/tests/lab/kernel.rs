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
olddefconfig:
\tsed -i 's/^CONFIG_DROPPED=y/# CONFIG_DROPPED is not set/' $(O)/.config
all:
\t@test -z $$ODD || echo 'mm/a.c:1: warning: odd'
bindeb-pkg:
\tmkdir -p $(O)/debian
\techo 'linux-libc-dev_1_amd64.deb devel optional' > $(O)/debian/files
\techo 'linux-image-6.12.9$(LOCALVERSION)_1.deb kernel optional' >> $(O)/debian/files
\techo $(KDEB_PKGVERSION) > '$(O)/../linux-image-6.12.9$(LOCALVERSION)_1.deb'
\tcat $(O)/.config mm/*.c >> '$(O)/../linux-image-6.12.9$(LOCALVERSION)_1.deb'
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
        self.command(arguments).assert()
    }

    fn command(&self, arguments: &[&str]) -> assert_cmd::Command {
        let mut command = assert_cmd::Command::new(cargo_bin!("huepage-lab"));
        command
            .arg("kernel")
            .args(arguments)
            .current_dir(self.0.path())
            .env("HUEPAGE_LINUX_SOURCE", self.path("linux.tar"))
            .env_remove("HUEPAGE_LAB_DIR");
        command
    }

    /// Packages, by a build that warns if `odd` is set.
    fn deb(&self, odd: Option<&str>, arguments: &[&str]) -> Assert {
        let mut command = self.command(&[&["deb"], arguments].concat());
        command.env("HUEPAGE_LINUX_CONFIG", self.path("debian"));
        command.env("ODD", odd.unwrap_or_default()).assert()
    }

    /// Builds, and gives the image that was printed.
    fn build(&self, arguments: &[&str]) -> PathBuf {
        let assert = self.kernel(&[&["build"], arguments].concat()).success();
        PathBuf::from(stdout(&assert).trim_end())
    }

    fn builds(&self) -> usize {
        fs::read_to_string(self.path("target/lab/builds")).unwrap().lines().count()
    }
}

fn stdout(assert: &Assert) -> String {
    String::from_utf8_lossy(&assert.get_output().stdout).into_owned()
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
    assert_eq!(stdout(&none).trim_end(), stock.to_str().unwrap());

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

/// A checkout with our changes, and Debian's configuration beside it.
fn with_debians_configuration() -> Checkout {
    let checkout = Checkout::new();
    checkout.write("kernel/overlay/mm/b.c", "ours\n");
    checkout.write("lab/configs/deb.config", "CONFIG_DEBUG_INFO_NONE=y\n");
    checkout.write("lab/configs/huepage.config", "CONFIG_PAGE_COLOR=y\n");
    let debians = "CONFIG_XFS_FS=m\n# CONFIG_DEBUG_INFO_NONE is not set\n";
    checkout.write("debian/config.amd64_none_cloud-amd64", debians);
    let xz = Command::new("xz").arg(checkout.path("debian/config.amd64_none_cloud-amd64")).status();
    assert!(xz.unwrap().success());
    checkout
}

#[test]
fn a_package_has_debians_configuration_with_our_changes_and_options() {
    let checkout = with_debians_configuration();
    let assert = checkout.deb(None, &["--revision", "3", "--output", "out"]).success();
    let stdout = stdout(&assert);
    assert_eq!(stdout, "out/linux-image-6.12.9-huepage-cloud-amd64_1.deb\n");
    assert_eq!(
        fs::read_to_string(checkout.path(stdout.trim_end())).unwrap(),
        "6.12.9-0+huepage3\nCONFIG_XFS_FS=m\nCONFIG_DEBUG_INFO_NONE=y\nCONFIG_PAGE_COLOR=y\n\
         stock\nours\n"
    );
    assert!(!checkout.path("out/linux-libc-dev_1_amd64.deb").exists());
}

#[test]
fn a_package_whose_build_warns_is_a_failure_that_names_the_warning() {
    let checkout = with_debians_configuration();
    let failure = checkout.deb(Some("yes"), &[]).code(1);
    assert!(stderr(&failure).contains("mm/a.c:1: warning: odd"), "{failure}");
    checkout.deb(Some("yes"), &["--warnings"]).success();
}

#[test]
fn a_package_without_debians_configuration_or_with_an_option_dropped_is_refused() {
    let checkout = with_debians_configuration();
    let failure = checkout.deb(None, &["--flavour", "amd64"]).code(1);
    assert!(stderr(&failure).contains("config.amd64_none_amd64.xz"), "{failure}");
    checkout.write("lab/configs/huepage.config", "CONFIG_DROPPED=y\n");
    let failure = checkout.deb(None, &[]).code(1);
    assert!(stderr(&failure).contains("huepage.config asks for CONFIG_DROPPED=y"), "{failure}");
}
