// SPDX-License-Identifier: MIT OR Apache-2.0
//! Boots of one point, which differ only in their seed or number, and figures over
//! them.

use super::Row;

/// To a millionth, which is as fine as counts of lines, and of instructions in a
/// million pages.
pub fn rounded(value: f64) -> f64 {
    (value * 1e6).round() / 1e6
}

/// Several values of one metric: their mean, the least and the most.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Figures {
    /// The mean.
    pub mean: f64,
    /// The smallest value.
    pub least: f64,
    /// The largest value.
    pub most: f64,
}

impl Figures {
    /// None if there are no values.
    pub fn of(values: impl IntoIterator<Item = f64>) -> Option<Self> {
        let values: Vec<f64> = values.into_iter().collect();
        (!values.is_empty()).then(|| Figures {
            mean: values.iter().sum::<f64>() / values.len() as f64,
            least: values.iter().copied().fold(f64::INFINITY, f64::min),
            most: values.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        })
    }
}

/// Rows of one point, one for each boot.
#[derive(Clone, Debug, Default)]
pub struct Boots<'a>(Vec<&'a Row>);

impl<'a> Boots<'a> {
    /// Of all these rows.
    pub fn of(rows: impl IntoIterator<Item = &'a Row>) -> Self {
        Boots(rows.into_iter().collect())
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The mean of a metric over the boots that have it.
    pub fn mean(&self, name: &str) -> Option<f64> {
        Figures::of(self.values(name)).map(|figures| figures.mean)
    }

    /// The least and the most of a metric, if several boots have it.
    pub fn range(&self, name: &str) -> Option<(f64, f64)> {
        let values = self.values(name);
        let figures = Figures::of(values.iter().copied())?;
        (values.len() > 1).then_some((figures.least, figures.most))
    }

    /// The interval that contains the mean of more such boots in 95 of 100 cases
    /// (Student's t), if there are at least three boots.
    pub fn interval(&self, name: &str) -> Option<(f64, f64)> {
        let (values, mean) = (self.values(name), self.mean(name)?);
        let freedom = values.len().checked_sub(1).filter(|freedom| *freedom > 1)?;
        let t = T_975.get(freedom - 2).copied().unwrap_or(1.96);
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        let half = t * (squares / freedom as f64 / values.len() as f64).sqrt();
        Some((mean - half, mean + half))
    }

    /// The values of a metric, in the order of the boots.
    pub fn values(&self, name: &str) -> Vec<f64> {
        self.0.iter().filter_map(|row| row.metric(name)).collect()
    }

    /// The mean and, if they differ as shown, the least and the most:
    /// `3.1 (2.8 to 3.4)`.
    pub fn text(&self, name: &str, show: impl Fn(f64) -> String) -> String {
        let Some(mean) = self.mean(name) else { return "–".into() };
        match self.range(name) {
            Some((least, most)) if show(least) != show(most) => {
                format!("{} ({} to {})", show(mean), show(least), show(most))
            }
            _ => show(mean),
        }
    }
}

/// The 0.975 quantile of Student's t with 2, 3, … degrees of freedom; beyond, 1.96 is less
/// than a tenth too small.
const T_975: [f64; 18] = [
    4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145,
    2.131, 2.120, 2.110, 2.101, 2.093,
];

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::experiment::map;

    fn row(value: f64) -> Row {
        Row { metrics: map([("x", json!(value))]), ..Row::default() }
    }

    #[test]
    fn several_boots_show_how_far_they_are_apart() {
        let rows = [row(1.0), row(2.0), row(6.0)];
        let show = |value: f64| format!("{value:.1}");
        let of = |rows: &[Row]| Boots::of(rows).text("x", show);
        assert_eq!(of(&rows), "3.0 (1.0 to 6.0)");
        assert_eq!(of(&rows[..1]), "1.0");
        assert_eq!(of(&[row(1.0), row(1.01)]), "1.0");
        assert_eq!(of(&[]), "–");
        assert_eq!(Boots::of(&rows).text("y", show), "–");
        assert!(Boots::of(&rows[..0]).is_empty());
    }

    #[test]
    fn the_interval_of_a_mean_is_students() {
        let rows: Vec<Row> = [1.0, 2.0, 3.0, 4.0].map(row).to_vec();
        let (low, high) = Boots::of(&rows).interval("x").unwrap();
        // s = 1.290994, n = 4: 3.182 · s / 2.
        assert!((low - 0.446_028).abs() < 1e-5 && (high - 4.553_972).abs() < 1e-5, "{low} {high}");
        assert_eq!(Boots::of(&rows[..2]).interval("x"), None);
        assert_eq!(Boots::of(&rows).interval("y"), None);
    }
}
