// SPDX-License-Identifier: MIT OR Apache-2.0
//! Latencies of one working set, by whether a neighbor was seen meanwhile.

/// So many quiet samples have a median that one stray sample, disturbed between
/// the two looks around it, cannot move out of the others' range.
const ENOUGH: usize = 3;

/// How many samples of one working set were quiet, as a witness saw them.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct Witnessed {
    /// Samples taken at any moment for which the witness had an answer.
    pub samples: u32,
    /// Those of them beside which a neighbor was seen.
    pub with_neighbor: u32,
    /// Samples in quiet moments, including those that waited for such a moment.
    pub quiet: u32,
    /// Nanoseconds per access in their fastest stretches, in the median of them;
    /// `None` where they are fewer than three.
    pub quiet_nanoseconds: Option<f64>,
}

/// One sample, of an allocation of its own.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Sample {
    /// Nanoseconds per access, in the median of its stretches.
    pub nanoseconds: f64,
    /// In its fastest stretch: a neighbor that ran between two looks slowed some
    /// stretches, and no neighbor makes a stretch faster.
    pub fastest: f64,
    /// Whether the moment was quiet; `None` if that is not known.
    pub quiet: Option<bool>,
}

/// The samples of one working set.
#[derive(Clone, Debug, Default)]
pub(super) struct Samples {
    all: Vec<f64>,
    told: u32,
    with_neighbor: u32,
    quiet: Vec<f64>,
}

impl Samples {
    /// Adds a sample taken at any moment.
    pub fn add(&mut self, sample: Sample) {
        self.all.push(sample.nanoseconds);
        self.told += u32::from(sample.quiet.is_some());
        self.with_neighbor += u32::from(sample.quiet == Some(false));
        self.add_waited_for(sample);
    }

    /// Adds a sample that waited for a quiet moment, and so does not count in the share
    /// of moments with a neighbor.
    pub fn add_waited_for(&mut self, sample: Sample) {
        if sample.quiet == Some(true) {
            self.quiet.push(sample.fastest);
        }
    }

    /// Whether there is a witness, and too few of the moments were quiet.
    pub fn lack_quiet(&self) -> bool {
        self.told > 0 && self.quiet.len() < ENOUGH
    }

    /// Median of the samples taken at any moment.
    pub fn nanoseconds(&self) -> f64 {
        rounded(median(self.all.clone()))
    }

    /// The counts by the witness; `None` without a witness.
    pub fn witnessed(&self) -> Option<Witnessed> {
        let enough = self.quiet.len() >= ENOUGH;
        (self.told > 0).then(|| Witnessed {
            samples: self.told,
            with_neighbor: self.with_neighbor,
            quiet: self.quiet.len() as u32,
            quiet_nanoseconds: enough.then(|| rounded(median(self.quiet.clone()))),
        })
    }
}

impl Witnessed {
    /// Whether values read from a file are possible.
    #[cfg(any(test, feature = "serde"))]
    pub(super) fn validate(&self) -> Result<(), String> {
        if self.with_neighbor > self.samples {
            return Err(format!(
                "a neighbor in {} of {} samples of the curve",
                self.with_neighbor, self.samples
            ));
        }
        match self.quiet_nanoseconds {
            Some(time) if !(time.is_finite() && time > 0.0) => {
                Err(format!("an access of {time} ns in the curve"))
            }
            _ => Ok(()),
        }
    }
}

/// The median; of an even number of samples the upper one of the two in the middle.
pub(super) fn median(mut samples: Vec<f64>) -> f64 {
    samples.sort_by(f64::total_cmp);
    samples[samples.len() / 2]
}

/// To whole picoseconds: more would be noise in the record.
fn rounded(nanoseconds: f64) -> f64 {
    ((nanoseconds * 1000.0).round() / 1000.0).max(0.001)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn samples(list: &[(f64, Option<bool>)]) -> Samples {
        let mut samples = Samples::default();
        for &(nanoseconds, quiet) in list {
            samples.add(Sample { nanoseconds, fastest: nanoseconds - 0.5, quiet });
        }
        samples
    }

    #[test]
    fn the_quiet_ones_have_a_median_of_their_own() {
        let quiet = Some(true);
        let list = [(7.0, quiet), (90.0, Some(false)), (6.0, quiet), (80.0, Some(false))];
        let mut samples = samples(&list);
        assert!(samples.lack_quiet());
        let two = samples.witnessed().unwrap();
        assert_eq!((two.samples, two.with_neighbor, two.quiet), (4, 2, 2));
        assert_eq!((samples.nanoseconds(), two.quiet_nanoseconds), (80.0, None));
        samples.add_waited_for(Sample { nanoseconds: 80.0, fastest: 6.0, quiet });
        samples.add_waited_for(Sample { nanoseconds: 99.0, fastest: 1.0, quiet: Some(false) });
        assert!(!samples.lack_quiet());
        let three = samples.witnessed().unwrap();
        assert_eq!((three.samples, three.with_neighbor, three.quiet), (4, 2, 3));
        assert_eq!((samples.nanoseconds(), three.quiet_nanoseconds), (80.0, Some(6.0)));
    }

    #[test]
    fn without_a_witness_nothing_is_said_of_quiet() {
        let samples = samples(&[(7.0, None), (8.0, None), (9.0, None)]);
        assert_eq!((samples.nanoseconds(), samples.witnessed()), (8.0, None));
        assert!(!samples.lack_quiet());
    }
}
