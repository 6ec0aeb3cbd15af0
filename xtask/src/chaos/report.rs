//! What chaos came to: a table for people, and the same as JSON.

use std::fs;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result};
use serde_json::{Value, json};

use super::audit::Totals;
use super::kill::Run;
use super::outage::Story;

/// A row of the table.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    pub name: String,
    pub runs: usize,
    pub reached: usize,
    pub totals: Totals,
    /// A run's mean.
    pub seconds: f64,
    /// The longest time from the end of the load until nothing was under way.
    pub quiet_seconds: f64,
    pub remark: String,
    pub faults: Vec<String>,
}

impl Row {
    /// All runs of one point in a row.
    pub fn of_point(point: &str, runs: &[Run]) -> Self {
        let mut row = Self {
            name: point.to_owned(),
            runs: runs.len(),
            reached: runs.iter().filter(|run| run.reached).count(),
            totals: Totals::default(),
            seconds: 0.0,
            quiet_seconds: 0.0,
            remark: String::new(),
            faults: Vec::new(),
        };
        for run in runs {
            row.totals = sum(row.totals, run.outcome.totals);
            row.seconds += run.took.as_secs_f64();
            row.quiet_seconds = row.quiet_seconds.max(run.outcome.quiet_after.as_secs_f64());
            row.faults.extend(run.outcome.faults.iter().cloned());
        }
        let misses: usize = runs.iter().map(|run| run.misses).sum();
        if misses > 0 {
            row.remark = format!("{misses} more never reached it");
        }
        #[expect(clippy::cast_precision_loss, reason = "a handful of runs")]
        if !runs.is_empty() {
            row.seconds /= runs.len() as f64;
        }
        row
    }

    /// A scenario that is run once.
    pub fn of_story(story: &Story) -> Self {
        Self {
            name: story.name.clone(),
            runs: 1,
            reached: 1,
            totals: story.outcome.totals,
            seconds: story.took.as_secs_f64(),
            quiet_seconds: story.outcome.quiet_after.as_secs_f64(),
            remark: story.remark.clone(),
            faults: story.outcome.faults.clone(),
        }
    }

    fn is_clean(&self) -> bool {
        self.faults.is_empty() && self.runs > 0
    }

    fn result(&self) -> String {
        match self.faults.as_slice() {
            [] => "clean".to_owned(),
            [one] => format!("FAILED: {one}"),
            [first, rest @ ..] => format!("FAILED: {first} (and {} more)", rest.len()),
        }
    }
}

fn sum(one: Totals, other: Totals) -> Totals {
    Totals {
        orders: one.orders + other.orders,
        paid: one.paid + other.paid,
        tickets: one.tickets + other.tickets,
        refunded: one.refunded + other.refunded,
        discarded: one.discarded + other.discarded,
        lost: one.lost + other.lost,
    }
}

/// Everything that was run under one name.
pub struct Report {
    pub name: String,
    pub took: Duration,
    pub rows: Vec<Row>,
}

impl Report {
    /// The rows with a fault.
    pub fn failed(&self) -> usize {
        self.rows.iter().filter(|row| !row.is_clean()).count()
    }

    pub fn table(&self) -> String {
        let mut text = format!(
            "\nchaos {}\n{:<28}{:>5}{:>9}{:>8}{:>7}{:>9}{:>10}{:>6}{:>8}{:>7}  result\n",
            self.name,
            "point",
            "runs",
            "reached",
            "orders",
            "paid",
            "refunded",
            "discarded",
            "lost",
            "s/run",
            "quiet"
        );
        for row in &self.rows {
            let totals = row.totals;
            let result = match row.remark.as_str() {
                "" => row.result(),
                remark => format!("{} ({remark})", row.result()),
            };
            text.push_str(&format!(
                "{:<28}{:>5}{:>9}{:>8}{:>7}{:>9}{:>10}{:>6}{:>8.1}{:>7.1}  {result}\n",
                row.name,
                row.runs,
                row.reached,
                totals.orders,
                totals.paid,
                totals.refunded,
                totals.discarded,
                totals.lost,
                row.seconds,
                row.quiet_seconds,
            ));
        }
        let runs: usize = self.rows.iter().map(|row| row.runs).sum();
        text.push_str(&format!(
            "{runs} runs, {} of {} rows clean, {:.0} s in all\n",
            self.rows.len() - self.failed(),
            self.rows.len(),
            self.took.as_secs_f64()
        ));
        text
    }

    /// Writes `chaos-<name>.json` into `folder`.
    ///
    /// # Errors
    /// When the file can't be written.
    pub fn write(&self, folder: &Path) -> Result<()> {
        fs::create_dir_all(folder).context("could not make the folder of the reports")?;
        let rows: Vec<Value> = self.rows.iter().map(json_row).collect();
        let report = json!({
            "chaos": self.name,
            "seconds": self.took.as_secs_f64(),
            "cores": std::thread::available_parallelism().map_or(0, std::num::NonZero::get),
            "failed": self.failed(),
            "rows": rows,
        });
        let file = folder.join(format!("chaos-{}.json", self.name));
        fs::write(&file, serde_json::to_string_pretty(&report)?)
            .with_context(|| format!("could not write {}", file.display()))
    }
}

fn json_row(row: &Row) -> Value {
    json!({
        "point": row.name,
        "runs": row.runs,
        "reached": row.reached,
        "orders": row.totals.orders,
        "paid": row.totals.paid,
        "tickets": row.totals.tickets,
        "refunded": row.totals.refunded,
        "discarded": row.totals.discarded,
        "lost": row.totals.lost,
        "seconds_a_run": row.seconds,
        "quiet_after_seconds_max": row.quiet_seconds,
        "remark": row.remark,
        "faults": row.faults,
    })
}

#[cfg(test)]
mod tests {
    use super::super::judge::Outcome;
    use super::*;

    fn run(reached: bool, faults: &[&str]) -> Run {
        Run {
            point: "place_after_hold".to_owned(),
            reached,
            misses: 0,
            took: Duration::from_secs(10),
            outcome: Outcome {
                totals: Totals {
                    orders: 5,
                    paid: 2,
                    ..Totals::default()
                },
                quiet_after: Duration::from_secs(3),
                faults: faults.iter().map(|fault| (*fault).to_owned()).collect(),
            },
        }
    }

    #[test]
    fn runs_of_a_point_add_up_and_one_fault_fails_the_row() {
        let clean = Row::of_point("place_after_hold", &[run(true, &[]), run(true, &[])]);
        assert_eq!((clean.runs, clean.reached, clean.totals.orders), (2, 2, 10));
        assert!(clean.is_clean());
        let failed = Row::of_point(
            "place_after_hold",
            &[run(true, &[]), run(false, &["no", "way"])],
        );
        let report = Report {
            name: "kill".to_owned(),
            took: Duration::from_secs(40),
            rows: vec![clean, failed],
        };
        assert_eq!(report.failed(), 1);
        let table = report.table();
        assert!(table.contains("FAILED: no (and 1 more)"), "{table}");
        assert!(table.contains("4 runs, 1 of 2 rows clean"), "{table}");
    }

    #[test]
    fn runs_that_had_to_be_tried_again_are_told() {
        let mut late = run(true, &[]);
        late.misses = 2;
        let row = Row::of_point("place_after_hold", &[run(true, &[]), late]);
        assert_eq!((row.runs, row.reached), (2, 2));
        assert_eq!(row.remark, "2 more never reached it");
    }

    #[test]
    fn a_row_without_a_run_is_not_clean() {
        assert!(!Row::of_point("place_after_hold", &[]).is_clean());
    }
}
