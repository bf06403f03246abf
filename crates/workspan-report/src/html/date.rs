//! Dates without a clock or a time zone.

/// `2026-08-22 14:05 UTC`, from seconds since 1970.
pub(crate) fn utc(seconds: u64) -> String {
    let (days, rest) = (seconds / 86_400, seconds % 86_400);
    // Years counted from March end with the leap day; 1970 began 719 468 days after March of year 0.
    let days = days + 719_468;
    let (era, day) = (days / 146_097, days % 146_097);
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let (month, next) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    let (hour, minute) = (rest / 3_600, rest % 3_600 / 60);
    format!("{:04}-{month:02}-{day:02} {hour:02}:{minute:02} UTC", era * 400 + year + next)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(seconds: u64, expected: &str) {
        assert_eq!(utc(seconds), expected);
    }

    #[test]
    fn dates_are_those_of_the_calendar() {
        check(0, "1970-01-01 00:00 UTC");
        check(951_782_399, "2000-02-28 23:59 UTC");
        check(951_782_400, "2000-02-29 00:00 UTC");
        check(951_868_800, "2000-03-01 00:00 UTC");
        check(1_798_761_540, "2026-12-31 23:59 UTC");
        check(4_107_542_400, "2100-03-01 00:00 UTC");
    }
}
