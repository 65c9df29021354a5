//! How much of a plan is left, by the word of a provider.

use skillopt_core::Instant;

/// What is left of the tightest limit that a provider tells of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Allowance {
    /// Whole percent that are left, 0 to 100.
    pub left_percent: u8,
    /// When all of it is there again; `None` when that was not said.
    pub until: Option<Instant>,
    /// When that was so; `None` when the reply itself says it.
    pub as_of: Option<Instant>,
}

impl Allowance {
    /// Of a limit of which the share `used`, from 0 to 1, is gone; `None` for no such number.
    pub(crate) fn after(used: f64, until: Option<Instant>) -> Option<Self> {
        if !used.is_finite() || used < 0.0 {
            return None;
        }
        let left = (1.0 - used) * 100.0 + 1e-9;
        Some(Self {
            left_percent: (0..=100)
                .rev()
                .find(|&whole| f64::from(whole) <= left)
                .unwrap_or(0),
            until,
            as_of: None,
        })
    }

    /// Of a limit of `limit` things of which `remaining` are left.
    pub(crate) fn of(limit: u64, remaining: u64, until: Option<Instant>) -> Option<Self> {
        let percent = remaining.min(limit).checked_mul(100)?.checked_div(limit)?;
        Some(Self {
            left_percent: u8::try_from(percent).ok()?,
            until,
            as_of: None,
        })
    }

    /// The one of these of which the least is left; of equals the one that lasts longest.
    pub(crate) fn tightest(all: impl IntoIterator<Item = Self>) -> Option<Self> {
        all.into_iter()
            .min_by_key(|one| (one.left_percent, std::cmp::Reverse(one.until)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_percents_are_never_rounded_up() {
        for (used, left) in [
            (0.0, 100),
            (0.301, 69),
            (0.7, 30),
            (0.999, 0),
            (1.0, 0),
            (1.7, 0),
        ] {
            let allowance = Allowance::after(used, None).unwrap();
            assert_eq!(allowance.left_percent, left, "{used}");
        }
        for used in [f64::NAN, f64::INFINITY, -0.1] {
            assert_eq!(Allowance::after(used, None), None);
        }
        let of = |limit, remaining| Allowance::of(limit, remaining, None).map(|a| a.left_percent);
        assert_eq!(of(50, 16), Some(32));
        assert_eq!(of(3, 2), Some(66));
        assert_eq!(of(10, 20), Some(100));
        assert_eq!(of(0, 0), None);
        assert_eq!(of(u64::MAX, u64::MAX), None);
    }

    #[test]
    fn the_tightest_counts() {
        let at = |second| Instant::from_second(second).ok();
        let one = |left_percent, until| Allowance {
            left_percent,
            until,
            as_of: None,
        };
        let all = [
            one(40, at(5)),
            one(20, at(10)),
            one(20, at(90)),
            one(90, None),
        ];
        assert_eq!(Allowance::tightest(all), Some(one(20, at(90))));
        assert_eq!(Allowance::tightest([]), None);
    }
}
