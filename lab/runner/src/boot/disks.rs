// SPDX-License-Identifier: MIT OR Apache-2.0
//! Disks of the virtual machine, as options of QEMU.

use std::path::{Path, PathBuf};

use huepage::units::Bytes;
use serde::Serialize;

use super::image::FileSystem;

/// A disk. Disks with the same limit of segments share a virtio-scsi controller, as
/// targets 0, 1, … of it: a machine has fewer slots than an experiment has disks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Disk {
    /// What can be read from it.
    pub content: Content,
    /// Most segments of one request: 2 less than a power of two, as one more
    /// descriptor carries the command and one the status.
    pub segments: u32,
}

/// What can be read from a disk.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Content {
    /// Zeros of this size, at no cost (`null-co`).
    Zeros(Bytes),
    /// A file system, read-only; disks with the same one share its image.
    FileSystem(FileSystem),
    /// Zeros of this size at first, then what the guest wrote; gone after the boot.
    Scratch(Bytes),
}

impl Disk {
    /// Whether a virtqueue can have this limit.
    pub fn can_limit(segments: u32) -> bool {
        (segments + 2).is_power_of_two() && (2..=1022).contains(&segments)
    }
}

/// The options for all disks; `file` gives the file of a disk by its number, if it has
/// one.
pub(super) fn options(
    disks: &[Disk],
    file: &dyn Fn(usize, &Content) -> anyhow::Result<PathBuf>,
) -> anyhow::Result<Vec<String>> {
    let mut options: Vec<String> = Vec::new();
    let mut controllers: Vec<(u32, u32)> = Vec::new();
    for (number, disk) in disks.iter().enumerate() {
        let segments = disk.segments;
        anyhow::ensure!(
            Disk::can_limit(segments),
            "a disk cannot be limited to {segments} segments: use 2 less than a power of two, \
             such as 14 or 62"
        );
        let known = controllers.iter().position(|(limit, _)| *limit == segments);
        let controller = known.unwrap_or_else(|| {
            let controller = controllers.len();
            // Requests are processed in the thread that makes them, so counts vary
            // less.
            let device = format!(
                "virtio-scsi-pci,id=s{controller},num_queues=1,virtqueue_size={},\
                 seg_max_adjust=on,ioeventfd=off",
                segments + 2
            );
            options.extend(["-device".into(), device]);
            controllers.push((segments, 0));
            controller
        });
        let target = controllers[controller].1;
        anyhow::ensure!(target < 256, "a controller has at most 256 disks");
        controllers[controller].1 += 1;
        let node = match &disk.content {
            Content::Zeros(size) => format!("driver=null-co,size={},read-zeroes=on", size.0),
            content @ Content::FileSystem(_) => format!(
                "driver=file,filename={},read-only=on,locking=off",
                escaped(&file(number, content)?)
            ),
            content @ Content::Scratch(_) => {
                format!("driver=file,filename={}", escaped(&file(number, content)?))
            }
        };
        options.extend(["-blockdev".into(), format!("{node},node-name=d{number}")]);
        let device = format!("scsi-hd,bus=s{controller}.0,scsi-id={target},drive=d{number}");
        options.extend(["-device".into(), device]);
    }
    Ok(options)
}

/// A path in a value of an option of QEMU, which takes two commas for one.
pub(crate) fn escaped(path: &Path) -> String {
    path.display().to_string().replace(',', ",,")
}

#[cfg(test)]
mod tests {
    use super::{super::image::Kind, *};

    fn disk(segments: u32) -> Disk {
        Disk { content: Content::Zeros(Bytes::mib(1)), segments }
    }

    #[test]
    fn disks_with_one_limit_are_targets_of_one_controller() {
        let system = FileSystem { kind: Kind::Ext2, file: Bytes::mib(1) };
        let file = Disk { content: Content::FileSystem(system), segments: 14 };
        let scratch = Disk { content: Content::Scratch(Bytes::mib(1)), segments: 62 };
        let path = |number: usize, _: &Content| Ok(PathBuf::from(format!("/a,b/{number}")));
        let disks = [file.clone(), disk(62), file, scratch];
        let text = options(&disks, &path).unwrap().join(" ");
        for part in [
            "id=s0,num_queues=1,virtqueue_size=16,",
            "id=s1,num_queues=1,virtqueue_size=64,",
            "driver=file,filename=/a,,b/0,read-only=on,locking=off,node-name=d0",
            "driver=null-co,size=1048576,read-zeroes=on,node-name=d1",
            "scsi-hd,bus=s0.0,scsi-id=0,drive=d0",
            "scsi-hd,bus=s1.0,scsi-id=0,drive=d1",
            "scsi-hd,bus=s0.0,scsi-id=1,drive=d2",
            "driver=file,filename=/a,,b/3,node-name=d3",
            "scsi-hd,bus=s1.0,scsi-id=1,drive=d3",
        ] {
            assert!(text.contains(part), "{part} in {text}");
        }
    }

    #[test]
    fn a_limit_that_no_queue_has_is_refused() {
        let path = |_: usize, _: &Content| Ok(PathBuf::new());
        for wrong in [0, 1, 15, 16, 2046] {
            let error = options(&[disk(wrong)], &path).unwrap_err().to_string();
            assert!(error.contains(&format!("{wrong} segments")), "{error}");
        }
    }
}
