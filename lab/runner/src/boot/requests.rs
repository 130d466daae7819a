// SPDX-License-Identifier: MIT OR Apache-2.0
//! The guest's requests to its disks, from QEMU's trace.

use std::path::Path;

use anyhow::Context;

/// A read of a disk, in the order in which reads came to the controllers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// The SCSI target.
    pub target: u32,
    /// Its first sector of 512 bytes.
    pub sector: u64,
    /// How much is read.
    pub bytes: u64,
    /// Into how many pieces of memory, each contiguous.
    pub segments: u32,
}

/// SCSI's READ(6), READ(10), READ(12) and READ(16).
const READS: [u64; 4] = [0x08, 0x28, 0xa8, 0x88];

const EVENTS: [&str; 3] = ["virtqueue_pop", "scsi_req_parsed", "scsi_req_parsed_lba"];

/// Options that make QEMU write its trace to a file.
pub(super) fn options(trace: &Path) -> Vec<String> {
    let mut options = vec!["-D".to_owned(), trace.display().to_string()];
    for event in EVENTS {
        options.extend(["-trace".to_owned(), format!("enable={event}")]);
    }
    options
}

/// Reads the trace.
pub(super) fn read(trace: &Path) -> anyhow::Result<Vec<Request>> {
    let text = std::fs::read_to_string(trace)
        .with_context(|| format!("read QEMU's trace in {}", trace.display()))?;
    anyhow::ensure!(
        text.contains("virtqueue_pop"),
        "QEMU traced no request: it needs the trace backend 'log', as Debian's has"
    );
    parse(&text)
}

/// A request is three lines: the descriptors, the command, the address.
fn parse(text: &str) -> anyhow::Result<Vec<Request>> {
    let mut requests = Vec::new();
    let mut descriptors = None;
    let mut command = None;
    for line in text.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        // Some versions put process and time before the event: 123@456.7:virtqueue_pop.
        let event = words.first().map_or("", |word| word.rsplit(':').next().unwrap_or(""));
        let field = |name: &str| {
            let at = words.iter().position(|word| *word == name);
            let value = at.and_then(|at| words.get(at + 1)?.parse::<u64>().ok());
            value.with_context(|| format!("QEMU's trace has no {name} in '{line}'"))
        };
        match event {
            "virtqueue_pop" => descriptors = Some(field("in_num")?),
            "scsi_req_parsed" => {
                command = Some((field("target")?, field("command")?, field("length")?));
            }
            "scsi_req_parsed_lba" => {
                // Without its first lines it is not a request of a virtqueue.
                let Some((pieces, (target, command, bytes))) =
                    descriptors.take().zip(command.take())
                else {
                    continue;
                };
                if READS.contains(&command) {
                    requests.push(Request {
                        target: target as u32,
                        sector: field("lba")?,
                        bytes,
                        // One piece takes the status.
                        segments: pieces.saturating_sub(1) as u32,
                    });
                }
            }
            _ => {}
        }
    }
    Ok(requests)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_are_found_and_the_status_is_no_segment() {
        let text = "\
virtqueue_pop vq 0x7f elem 0x7a in_num 1 out_num 0
virtqueue_pop vq 0x7f elem 0x7b in_num 3 out_num 1
scsi_req_parsed target 0 lun 0 tag 31826288 command 40 dir 1 length 131072
scsi_req_parsed_lba target 0 lun 0 tag 31826288 command 40 lba 131032
virtqueue_pop vq 0x7f elem 0x7b in_num 1 out_num 1
scsi_req_parsed target 1 lun 0 tag 7 command 53 dir 0 length 0
scsi_req_parsed_lba target 1 lun 0 tag 7 command 53 lba 0
123@1700000000.5:virtqueue_pop vq 0x7f elem 0x7b in_num 9 out_num 1
123@1700000000.6:scsi_req_parsed target 2 lun 0 tag 9 command 136 dir 1 length 32768
123@1700000000.7:scsi_req_parsed_lba target 2 lun 0 tag 9 command 136 lba 8
";
        let expected = [
            Request { target: 0, sector: 131_032, bytes: 131_072, segments: 2 },
            Request { target: 2, sector: 8, bytes: 32_768, segments: 8 },
        ];
        assert_eq!(parse(text).unwrap(), expected);
    }

    #[test]
    fn a_line_that_is_cut_off_is_an_error() {
        let error = parse("virtqueue_pop vq 0x7f elem").unwrap_err().to_string();
        assert!(error.contains("no in_num"), "{error}");
    }
}
