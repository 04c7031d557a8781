//! The time of a row as features: weekday, season and hour, as the encoding of dates makes them.

use regretless::data::Dataset;

use super::TableRoles;

impl TableRoles {
    /// Says what the column of times becomes in a table that was encoded by all of its rows. Dates
    /// of too few days for a part become none, and the column is no feature then.
    pub(super) fn describe_calendar(&mut self, encoded: &Dataset) {
        let Some(time) = self.time.clone() else {
            return;
        };
        let Some(encoding) = encoded.features().encoding() else {
            return;
        };
        let mut unused = encoding.unused_columns();
        if let Some((_, reason)) = unused.find(|(column, _)| *column == time) {
            self.calendar = Some(format!("no feature: {reason}"));
            self.features.retain(|name| *name != time);
            return;
        }
        let described = encoding.descriptions().into_iter();
        let mut described = described.filter(|(column, _)| *column == time);
        self.calendar = described.next().map(|(_, text)| text);
    }
}
