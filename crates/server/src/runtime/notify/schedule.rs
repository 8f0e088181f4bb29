//! Computes when each notification channel is due. Pure: the caller passes the time.

use std::str::FromStr;
use std::time::Duration;

use jiff::tz::TimeZone;
use sayso_core::time::Time;

/// The delays between attempts. After the last one, the channel gives up.
const TRIES: [Duration; 5] = [
    Duration::from_secs(5),
    Duration::from_secs(30),
    Duration::from_secs(120),
    Duration::from_secs(600),
    Duration::from_secs(3_600),
];

/// Maximum delay that a `Retry-After` header can request.
const LONGEST: Duration = Duration::from_secs(3_600);

/// The schedule of one channel.
#[derive(Debug, Clone)]
pub(crate) struct Timing {
    /// How long an ask has to be pending first. Unused for a channel that is only reached by escalation.
    pub(crate) after: Duration,
    pub(crate) quiet: Option<Quiet>,
    /// The index of the next channel of the escalation, and the delay until it is used.
    pub(crate) then: Option<(usize, Duration)>,
    /// False if the channel is only reached by escalation from another one.
    pub(crate) first: bool,
}

impl Timing {
    /// This time, or the end of the quiet hours if it falls into them.
    pub(crate) fn outside_quiet_hours(&self, at: Time) -> Time {
        self.quiet.as_ref().map_or(at, |quiet| quiet.after(at))
    }
}

/// Returns when each channel is due for an ask that was opened at this time and stays pending.
pub(crate) fn due(timings: &[Timing], opened: Time) -> Vec<Option<Time>> {
    let mut due: Vec<Option<Time>> = vec![None; timings.len()];
    for (index, timing) in timings.iter().enumerate().filter(|(_, timing)| timing.first) {
        let mut at = opened.plus(timing.after);
        let mut next = Some(index);
        // The configuration has no cycles; the bound on the steps makes the loop end in any case.
        for _ in 0..timings.len() {
            let Some((here, timing)) = next.and_then(|here| Some((here, timings.get(here)?))) else { break };
            at = timing.outside_quiet_hours(at);
            if let Some(slot) = due.get_mut(here) {
                *slot = Some(slot.map_or(at, |earlier| earlier.min(at)));
            }
            next = timing.then.map(|(then, after)| {
                at = at.plus(after);
                then
            });
        }
    }
    due
}

/// Returns the delay after this many attempts; `None` after the last one. `chance` is a random byte that adds jitter, so that
/// receivers that failed together are not called together.
pub(crate) fn again(tries: u32, chance: u8, asked: Option<Duration>) -> Option<Duration> {
    let wait = TRIES.get(usize::try_from(tries).ok()?.checked_sub(1)?)?;
    let spread = wait.mul_f64(0.8 + 0.4 * f64::from(chance) / 255.0);
    Some(spread.max(asked.unwrap_or_default().min(LONGEST)))
}

/// Hours of the day without notifications: `22:00-07:00`.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Quiet {
    /// Start (inclusive) and end (exclusive), in minutes of the day.
    from: i16,
    to: i16,
    zone: TimeZone,
}

/// A text that is not a valid time range.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("quiet must look like \"22:00-07:00\"")]
pub(crate) struct NoHours;

impl FromStr for Quiet {
    type Err = NoHours;

    /// Parses the hours, in the time zone of this machine.
    fn from_str(text: &str) -> Result<Self, NoHours> {
        let minute = |text: &str| -> Option<i16> {
            let (hour, minute) = text.trim().split_once(':')?;
            let digits = |text: &str| text.len() == 2 && text.bytes().all(|byte| byte.is_ascii_digit());
            let (hour, minute): (i16, i16) = match (digits(hour), digits(minute)) {
                (true, true) => (hour.parse().ok()?, minute.parse().ok()?),
                _ => return None,
            };
            (hour < 24 && minute < 60).then_some(hour * 60 + minute)
        };
        let (from, to) = text.split_once('-').ok_or(NoHours)?;
        let (from, to) = (minute(from).ok_or(NoHours)?, minute(to).ok_or(NoHours)?);
        if from == to { Err(NoHours) } else { Ok(Self { from, to, zone: TimeZone::system() }) }
    }
}

impl std::fmt::Display for Quiet {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:02}:{:02}-{:02}:{:02}", self.from / 60, self.from % 60, self.to / 60, self.to % 60)
    }
}

impl Quiet {
    /// Returns the same hours in another time zone.
    pub(crate) fn within(self, zone: TimeZone) -> Self {
        Self { zone, ..self }
    }

    /// Returns this time, or the end of the quiet hours if the time is within them.
    fn after(&self, at: Time) -> Time {
        let Ok(stamp) = jiff::Timestamp::from_millisecond(at.as_millis()) else { return at };
        let here = stamp.to_zoned(self.zone.clone());
        let minute = i16::from(here.hour()) * 60 + i16::from(here.minute());
        let is_quiet =
            if self.from < self.to { (self.from..self.to).contains(&minute) } else { minute >= self.from || minute < self.to };
        if !is_quiet {
            return at;
        }
        let day = if minute < self.to { Ok(here.date()) } else { here.date().tomorrow() };
        let (hour, minute) = (i8::try_from(self.to / 60).unwrap_or(0), i8::try_from(self.to % 60).unwrap_or(0));
        let end = day.and_then(|day| day.at(hour, minute, 0, 0).to_zoned(self.zone.clone()));
        // Changes to and from daylight saving time must not return an earlier time.
        end.map_or(at, |end| Time::from_millis(end.timestamp().as_millisecond()).max(at))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Time {
        text.parse().unwrap()
    }

    fn minutes(minutes: u64) -> Duration {
        Duration::from_secs(60 * minutes)
    }

    fn timing(after: u64, quiet: Option<&str>, then: Option<(usize, u64)>, first: bool) -> Timing {
        let quiet = quiet.map(|quiet| quiet.parse::<Quiet>().unwrap().within(TimeZone::UTC));
        Timing { after: Duration::from_secs(after), quiet, then: then.map(|(to, after)| (to, minutes(after))), first }
    }

    #[test]
    fn each_channel_waits_as_long_as_it_says_and_leads_to_the_next() {
        let timings = [
            timing(20, None, Some((2, 10)), true),
            timing(0, None, None, true),
            timing(20, None, Some((3, 5)), false),
            timing(20, None, None, false),
        ];
        let opened = at("2026-11-16T12:00:00Z");
        let times = ["12:00:20", "12:00:00", "12:10:20", "12:15:20"].map(|time| Some(at(&format!("2026-11-16T{time}Z"))));
        assert_eq!(due(&timings, opened), times);
        assert_eq!(due(&[], opened), []);
    }

    #[test]
    fn earliest_due_time_of_a_channel_wins() {
        let timings = [timing(0, None, Some((2, 30)), true), timing(60, None, Some((2, 1)), true), timing(0, None, None, false)];
        assert_eq!(due(&timings, at("2026-11-16T12:00:00Z"))[2], Some(at("2026-11-16T12:02:00Z")));
    }

    #[test]
    fn escalation_cycle_terminates() {
        let timings = [timing(0, None, Some((1, 1)), true), timing(0, None, Some((0, 1)), false)];
        assert_eq!(due(&timings, at("2026-11-16T12:00:00Z")).len(), 2);
    }

    #[test]
    fn in_quiet_hours_a_note_waits_for_their_end() {
        for (opened, told) in [
            ("2026-11-16T21:59:00Z", "2026-11-16T21:59:20Z"),
            ("2026-11-16T21:59:40Z", "2026-11-17T07:00:00Z"),
            ("2026-11-16T23:30:00Z", "2026-11-17T07:00:00Z"),
            ("2026-12-31T23:30:00Z", "2027-01-01T07:00:00Z"),
            ("2026-11-17T06:59:00Z", "2026-11-17T07:00:00Z"),
            ("2026-11-17T07:00:00Z", "2026-11-17T07:00:20Z"),
        ] {
            assert_eq!(due(&[timing(20, Some("22:00-07:00"), None, true)], at(opened)), [Some(at(told))], "{opened}");
        }
        let lunch = [timing(0, Some("12:00-13:30"), Some((1, 10)), true), timing(0, None, None, false)];
        let told = due(&lunch, at("2026-11-16T12:15:00Z"));
        assert_eq!(told, [Some(at("2026-11-16T13:30:00Z")), Some(at("2026-11-16T13:40:00Z"))], "the next one counts from there");
    }

    #[test]
    fn quiet_hours_follow_the_clock_on_the_wall() {
        let zone = TimeZone::get("Europe/Berlin").unwrap();
        let quiet = "22:00-07:00".parse::<Quiet>().unwrap().within(zone);
        assert_eq!(quiet.after(at("2026-07-01T21:00:00Z")), at("2026-07-02T05:00:00Z"), "summer");
        assert_eq!(quiet.after(at("2026-12-01T21:30:00Z")), at("2026-12-02T06:00:00Z"), "winter");
        assert_eq!(quiet.after(at("2026-10-24T23:00:00Z")), at("2026-10-25T06:00:00Z"), "the night when clocks are put back");
    }

    #[test]
    fn hours_are_written_in_one_way() {
        for wrong in
            ["", "22", "22:00", "22-7", "24:00-07:00", "22:60-07:00", "7:00-8:00", "07:00-07:00", "-1:00-02:00", "22:00-07:00-"]
        {
            assert_eq!(wrong.parse::<Quiet>(), Err(NoHours), "{wrong}");
        }
    }

    #[test]
    fn tries_are_further_and_further_apart_and_end() {
        for (tries, low, high) in [(1, 4, 6), (2, 24, 36), (3, 96, 144), (4, 480, 720), (5, 2_880, 4_320)] {
            assert_eq!(again(tries, 0, None), Some(Duration::from_secs(low)), "{tries}");
            assert_eq!(again(tries, 255, None), Some(Duration::from_secs(high)), "{tries}");
        }
        assert_eq!((again(0, 0, None), again(6, 0, None)), (None, None));
        assert_eq!(again(1, 0, Some(minutes(7))), Some(minutes(7)), "a receiver that asks for patience gets it");
        assert_eq!(again(1, 0, Some(minutes(900))), Some(minutes(60)), "up to the maximum");
    }
}
