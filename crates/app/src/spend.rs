//! What was spent: per month and project.

use std::collections::BTreeMap;
use std::path::PathBuf;

use jiff::tz::TimeZone;
use serde::{Deserialize, Serialize};
use skillopt_core::Problem;
use skillopt_store::attempts::{self, NightSpend, Spend};
use skillopt_store::projects;

use crate::context::App;

/// How many months are shown when nothing is said.
const USUAL_MONTHS: usize = 12;

/// What is shown.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(optional_fields = nullable))]
pub struct SpendInput {
    /// Of one project; the folder the user is in when empty.
    pub project: Option<PathBuf>,
    /// Of every project.
    #[serde(default)]
    #[cfg_attr(feature = "typescript", ts(as = "Option<_>", optional))]
    pub everywhere: bool,
    /// At most so many months, the newest; 0 for twelve.
    #[serde(default)]
    #[cfg_attr(feature = "typescript", ts(as = "Option<_>", optional))]
    pub months: usize,
}

/// What one project spent in one month on models that cost something.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct MonthRow {
    /// The month in which its nights began, in local time: `2026-11`.
    pub month: String,
    /// Id of the project.
    pub project: String,
    /// Its folder.
    pub root: String,
    /// Nights that paid for something.
    pub nights: u64,
    /// What they spent.
    #[serde(flatten)]
    pub spend: Spend,
}

/// What was spent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Spent {
    /// One for each month and project, the newest month first.
    pub rows: Vec<MonthRow>,
    /// All of them together.
    pub total: Spend,
}

/// Says what was spent. A night counts in the month in which it began.
pub async fn spend(app: &App, input: SpendInput) -> Result<Spent, Problem> {
    let project = if input.everywhere {
        None
    } else {
        Some(app.registered(input.project.as_deref())?.id)
    };
    let (nights, projects) = app.store.read(|db| {
        Ok((
            attempts::spend_of_nights(db, project.as_deref())?,
            projects::list(db)?,
        ))
    })?;
    let roots = projects
        .into_iter()
        .map(|project| (project.id, project.root))
        .collect();
    let months = if input.months == 0 {
        USUAL_MONTHS
    } else {
        input.months
    };
    Ok(by_month(nights, &roots, months, &TimeZone::system()))
}

fn by_month(
    nights: Vec<NightSpend>,
    roots: &BTreeMap<String, String>,
    months: usize,
    zone: &TimeZone,
) -> Spent {
    let mut sums: BTreeMap<(String, String), (u64, Spend)> = BTreeMap::new();
    for night in nights {
        let month = zone.to_datetime(night.started_at).strftime("%Y-%m");
        let (count, sum) = sums.entry((month.to_string(), night.project)).or_default();
        *count += 1;
        *sum += night.spend;
    }
    let mut rows = Vec::new();
    let mut shown: Vec<String> = Vec::new();
    for ((month, project), (nights, spend)) in sums.into_iter().rev() {
        if shown.last() != Some(&month) {
            shown.push(month.clone());
        }
        if shown.len() > months {
            break;
        }
        rows.push(MonthRow {
            root: roots.get(&project).cloned().unwrap_or_default(),
            month,
            project,
            nights,
            spend,
        });
    }
    let mut total = Spend::default();
    for row in &rows {
        total += row.spend;
    }
    Spent { rows, total }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nights_are_summed_by_local_month_and_project() {
        let night = |started_at: &str, project: &str, tokens| NightSpend {
            night: 1,
            project: project.to_owned(),
            started_at: started_at.parse().unwrap(),
            spend: Spend {
                calls: 1,
                tokens,
                cost_micros: tokens * 2,
                ..Spend::default()
            },
        };
        let nights = vec![
            night("2026-09-10T02:00:00Z", "a", 1),
            night("2026-10-31T23:30:00Z", "a", 10),
            night("2026-11-02T02:00:00Z", "a", 100),
            night("2026-11-03T02:00:00Z", "b", 1000),
        ];
        let zone = TimeZone::get("Europe/Paris").unwrap();
        let roots = [("a".to_owned(), "/w/a".to_owned())].into();
        let spent = by_month(nights, &roots, 2, &zone);
        // Half past eleven in the evening of 31 October UTC is November in Paris.
        let rows: Vec<_> = spent
            .rows
            .iter()
            .map(|row| {
                (
                    row.month.as_str(),
                    row.project.as_str(),
                    row.nights,
                    row.spend.tokens,
                )
            })
            .collect();
        assert_eq!(
            rows,
            [
                ("2026-11", "b", 1, 1000),
                ("2026-11", "a", 2, 110),
                ("2026-09", "a", 1, 1)
            ]
        );
        assert_eq!(spent.rows[1].root, "/w/a");
        assert_eq!((spent.total.tokens, spent.total.cost_micros), (1111, 2222));
    }
}
