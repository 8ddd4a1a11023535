//! Days of UTC: what is kept is kept, and goes, by days.

/// A day of UTC, counted from the Unix epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(in crate::store) struct Day(pub(in crate::store) i64);

pub(in crate::store) const DAY_MS: i64 = 86_400_000;

impl Day {
    pub(in crate::store) fn of(at_ms: i64) -> Self {
        Self(at_ms.div_euclid(DAY_MS))
    }

    /// Year, month and day (days_from_civil backwards, by H. Hinnant).
    pub(in crate::store) fn date(self) -> (i64, i64, i64) {
        let days = self.0.saturating_add(719_468);
        let era = days.div_euclid(146_097);
        let of_era = days.rem_euclid(146_097);
        let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
        let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let month = (5 * of_year + 2) / 153;
        let day = of_year - (153 * month + 2) / 5 + 1;
        let month = if month < 10 { month + 3 } else { month - 9 };
        (year_of_era + era * 400 + i64::from(month <= 2), month, day)
    }

    pub(in crate::store) fn of_date(year: i64, month: i64, day: i64) -> Self {
        let year = year - i64::from(month <= 2);
        let era = year.div_euclid(400);
        let of_era = year.rem_euclid(400);
        let of_year = (153 * (if month > 2 { month - 3 } else { month + 9 }) + 2) / 5 + day - 1;
        Self(era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468)
    }
}
