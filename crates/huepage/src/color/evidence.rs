// SPDX-License-Identifier: MIT OR Apache-2.0
//! What was seen in attempts at finding colors, by which a color map is believed or
//! not.

use std::fmt;

/// All attempts of one discovery, in order.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Evidence {
    /// One entry per attempt.
    pub attempts: Vec<Attempt>,
}

impl Evidence {
    /// Attempts in a row that say the same before no more are made.
    const UNANIMOUS: usize = 4;

    /// Whether the last attempts, each by two runs that agree, found one and
    /// the same wrong number of colors: then it is not noise, and further
    /// attempts will not help.
    pub fn is_unanimous(&self) -> bool {
        let Some(last) = self.attempts.last() else { return false };
        let same = |attempt: &&Attempt| {
            attempt.distrust == Some(Distrust::ColorCount)
                && attempt.colors.0 == attempt.colors.1
                && attempt.colors == last.colors
        };
        self.attempts.iter().rev().take_while(same).count() >= Self::UNANIMOUS
    }
}

/// What one attempt saw.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Attempt {
    /// Share of calibration samples classified right, less those wrong: 1 is a
    /// clear difference between hit and miss, 0 is none.
    pub contrast: f64,
    /// In how many ways a line of one page can meet lines of another: 1 for a
    /// plainly indexed cache.
    pub line_masks: usize,
    /// Colors expected from the declared geometry.
    pub expected_colors: Option<u32>,
    /// Colors found by two independent runs.
    pub colors: (usize, usize),
    /// Groups of pages given up as mixed, joined as one color.
    pub mixed: usize,
    /// See `mixed`.
    pub joined: usize,
    /// Share of samples dropped after an interrupt or a change of CPU.
    pub disturbed: f64,
    /// Share of the pages tried that the first run could not assign.
    pub unassigned: f64,
    /// Share of the pages tried to which both runs gave the same color, at line
    /// offsets that neither used for discovery.
    pub agreement: f64,
    /// Why the attempt was not believed; `None` for the one that was.
    pub distrust: Option<Distrust>,
}

/// Why an attempt is not believed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum Distrust {
    /// Hits and misses take the same time.
    #[error("hits and misses of the cache take the same time; is the CPU busy with others?")]
    NoContrast,
    /// No pages evict each other as colors would.
    #[error("no pages evict each other: the cache is not indexed by page frame, or too noisy")]
    NoColors,
    /// Not as many colors as the geometry says.
    #[error("another number of colors than the geometry gives, which may be wrong")]
    ColorCount,
    /// Two independent runs found different numbers of colors.
    #[error("two independent runs found different numbers of colors")]
    RunsDiffer,
    /// Too many pages fit no color.
    #[error("too many pages fit no color; try again on a quieter CPU")]
    Unassigned,
    /// Two independent runs color the same pages differently.
    #[error("two independent runs color the same pages differently; try again on a quieter CPU")]
    Disagreement,
}

/// A line for each attempt, then each reason once, with how many attempts it ended.
impl fmt::Display for Evidence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut reasons: Vec<(Distrust, usize)> = Vec::new();
        for (number, attempt) in self.attempts.iter().enumerate() {
            write!(f, "\n  attempt {}: {attempt}", number + 1)?;
            let Some(reason) = attempt.distrust else { continue };
            match reasons.iter_mut().find(|(seen, _)| *seen == reason) {
                Some((_, count)) => *count += 1,
                None => reasons.push((reason, 1)),
            }
        }
        for (reason, count) in &reasons {
            match (reasons.len(), count) {
                (1, _) => write!(f, "\n  {reason}")?,
                (_, 1) => write!(f, "\n  once: {reason}")?,
                _ => write!(f, "\n  {count} times: {reason}")?,
            }
        }
        Ok(())
    }
}

impl Attempt {
    /// Whether it came as far as having both runs color the same pages; before
    /// that, `unassigned` and `agreement` are not measured.
    fn judged(&self) -> bool {
        matches!(self.distrust, None | Some(Distrust::Unassigned | Distrust::Disagreement))
    }
}

/// The figures, without the reason why they were not believed.
impl fmt::Display for Attempt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} and {} colors", self.colors.0, self.colors.1)?;
        if let Some(expected) = self.expected_colors {
            write!(f, " of {expected}")?;
        }
        write!(
            f,
            ", contrast {:.2}, {} mixed, {:.2} % disturbed",
            self.contrast,
            self.mixed,
            100.0 * self.disturbed
        )?;
        if self.judged() {
            let (unassigned, agreement) = (100.0 * self.unassigned, 100.0 * self.agreement);
            write!(f, ",\n    {unassigned:.1} % unassigned, {agreement:.1} % agreement")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn attempt(distrust: Distrust) -> Attempt {
        Attempt {
            contrast: 1.0,
            expected_colors: Some(32),
            colors: (16, 16),
            unassigned: 0.25,
            agreement: 0.5,
            distrust: Some(distrust),
            ..Attempt::default()
        }
    }

    #[test]
    fn each_reason_is_told_once_after_all_attempts() {
        use Distrust::{ColorCount, NoContrast};
        let starts = |reasons: &[Distrust]| -> Vec<String> {
            let attempts = reasons.iter().copied().map(attempt).collect();
            let text = Evidence { attempts }.to_string();
            text.lines().skip(1).map(|line| line[..line.len().min(20)].to_owned()).collect()
        };
        assert_eq!(
            starts(&[ColorCount, NoContrast, ColorCount]),
            [
                "  attempt 1: 16 and ",
                "  attempt 2: 16 and ",
                "  attempt 3: 16 and ",
                "  2 times: another n",
                "  once: hits and mis"
            ]
        );
        assert_eq!(starts(&[NoContrast; 2])[2..], ["  hits and misses of"]);
    }

    #[test]
    fn what_was_not_measured_is_not_told() {
        let text = |distrust| Evidence { attempts: vec![attempt(distrust)] }.to_string();
        assert!(!text(Distrust::ColorCount).contains("unassigned"));
        let judged = text(Distrust::Disagreement);
        assert!(judged.contains("25.0 % unassigned, 50.0 % agreement"), "{judged}");
        assert!(judged.lines().take(3).all(|line| line.len() <= 80), "{judged}");
    }

    #[test]
    fn only_the_same_wrong_count_again_and_again_is_unanimous() {
        use Distrust::{ColorCount, RunsDiffer};
        let is_unanimous = |attempts: Vec<Attempt>| Evidence { attempts }.is_unanimous();
        assert!(!is_unanimous(vec![]));
        assert!(!is_unanimous(vec![attempt(ColorCount); 3]));
        assert!(is_unanimous(vec![attempt(ColorCount); 4]));
        let mut mixed = vec![attempt(ColorCount); 6];
        mixed[3].colors = (16, 15);
        assert!(!is_unanimous(mixed));
        assert!(!is_unanimous(vec![attempt(RunsDiffer); 9]));
    }
}
