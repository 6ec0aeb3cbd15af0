//! A server is killed at a fail point while customers buy, started again, and everything has to come right.

use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use super::sale::{Habits, Sale};
use super::stack::{Outcome, Stack, wait_for_end, was_killed};

/// How long a point has time to be reached. The rarest wait for an order to expire and its money to go back.
const LOAD_MAX: Duration = Duration::from_secs(30);
/// How long customers go on buying after the server is back: longer than its consumers wait for the dead one (8 s).
const LOAD_AFTER: Duration = Duration::from_secs(10);
const SHOWS: usize = 2;
/// At which passing the server dies, run by run: early, and in the middle of other work.
const PASSINGS: [u32; 3] = [2, 7, 18];
const REBUILD_EVERY: Duration = Duration::from_millis(1_500);

/// A fail point, as the program lists it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Point {
    pub name: String,
    /// `order` or `money`.
    pub area: String,
}

/// Reads what `seatflow fail-points` prints: name, area and what lies on both sides, a point a line.
///
/// # Errors
/// When there is none, as with a program that was built without them.
pub fn read_points(text: &str) -> Result<Vec<Point>> {
    let points: Vec<Point> = text
        .lines()
        .filter_map(|line| {
            let mut columns = line.split('\t');
            Some(Point {
                name: columns.next()?.to_owned(),
                area: columns.next()?.to_owned(),
            })
        })
        .collect();
    let first = points.first();
    first.context("the program has no fail points: it was built without the feature")?;
    for recipe in &RECIPES {
        let is_known = points.iter().any(|point| point.name == recipe.point);
        is_known
            .then_some(())
            .with_context(|| format!("a recipe for a point that is not there: {}", recipe.point))?;
    }
    Ok(points)
}

/// How a point is reached that lies aside of an ordinary sale: other steps are held up until it is.
struct Recipe {
    point: &'static str,
    /// Further entries of SEATFLOW_FAULT: point, passing, and for how many milliseconds it is held up.
    pauses: &'static str,
    settings: &'static [(&'static str, &'static str)],
    /// The shows are read from the database again and again, as if Redis lost them.
    rebuilds: bool,
    passings: &'static [u32],
}

const ORDINARY: Recipe = Recipe {
    point: "",
    pauses: "",
    settings: &[],
    rebuilds: false,
    passings: &PASSINGS,
};

/// Creating is held up longer than a lock may be without a row.
const LATE_CREATION: Recipe = Recipe {
    // Time enough for two rounds over all shows of a stack that many runs have used.
    pauses: "create_before_insert:2:24000",
    settings: &[
        ("SEATFLOW_DISCARD_AFTER_MS", "1000"),
        ("SEATFLOW_LOCK_LEASE_MS", "7000"),
    ],
    passings: &[1, 2, 1],
    ..ORDINARY
};

/// An acknowledgement is held up longer than the relay waits for it.
const LATE_ACKNOWLEDGEMENT: Recipe = Recipe {
    pauses: "place_after_ack:2:3000,place_after_ack:4:3000,place_after_ack:6:3000",
    settings: &[("SEATFLOW_RESEND_AFTER_MS", "500")],
    passings: &[1],
    ..ORDINARY
};

/// A message is held up until it is stale, and shorter than the relay waits.
const LATE_MESSAGE: Recipe = Recipe {
    pauses: "place_after_cache:2:1700",
    settings: &[("SEATFLOW_DISCARD_AFTER_MS", "1000")],
    passings: &[1],
    ..ORDINARY
};

static RECIPES: [Recipe; 13] = [
    Recipe {
        point: "relay_before_send",
        ..LATE_ACKNOWLEDGEMENT
    },
    Recipe {
        point: "relay_after_send",
        ..LATE_ACKNOWLEDGEMENT
    },
    Recipe {
        point: "discard_after_row",
        ..LATE_MESSAGE
    },
    Recipe {
        point: "discard_after_release",
        ..LATE_MESSAGE
    },
    Recipe {
        point: "sweep_before_cancel",
        // Several, since one may be paid for while it is held up.
        pauses: "expire_before_cancel:1:6000,expire_before_cancel:2:6000,expire_before_cancel:3:6000",
        passings: &[1],
        ..ORDINARY
    },
    Recipe {
        point: "settle_after_taking",
        pauses: "cancel_after_commit:1:5000",
        passings: &[1],
        ..ORDINARY
    },
    Recipe {
        point: "rebuild_before_read",
        passings: &[1, 2],
        ..ORDINARY
    },
    Recipe {
        point: "rebuild_before_load",
        passings: &[1, 2],
        ..ORDINARY
    },
    Recipe {
        point: "rebuild_after_load",
        passings: &[1, 2],
        ..ORDINARY
    },
    Recipe {
        point: "reconcile_before_repair",
        ..LATE_CREATION
    },
    Recipe {
        point: "reconcile_after_tombstone",
        ..LATE_CREATION
    },
    Recipe {
        point: "reconcile_before_note",
        ..LATE_CREATION
    },
    Recipe {
        point: "reconcile_after_restore",
        // Longer than a show that was lost waits for orders on their way.
        pauses: "create_before_insert:3:2600,create_before_insert:9:2600",
        settings: &[("SEATFLOW_DRAIN_MAX_MS", "200")],
        rebuilds: true,
        passings: &[1],
    },
];

/// One run at one point.
#[derive(Clone, Debug)]
pub struct Run {
    pub point: String,
    pub reached: bool,
    pub took: Duration,
    pub outcome: Outcome,
}

impl Run {
    /// A run that did not come to its end.
    pub fn broken(point: &str, error: &anyhow::Error) -> Self {
        Self {
            point: point.to_owned(),
            reached: false,
            took: Duration::ZERO,
            outcome: Outcome {
                faults: vec![format!("{error:#}")],
                ..Outcome::default()
            },
        }
    }
}

/// Kills a server at `point` and judges what became of everything. `number` counts the runs of the point from 0.
///
/// # Errors
/// When a server can't be started or asked. Faults are in the outcome.
pub fn run(stack: &mut Stack<'_>, point: &str, number: usize) -> Result<Run> {
    let begun = Instant::now();
    let recipe = recipe(point);
    let log = format!("{point}-{number}");
    let mut running = stack.start(&log, &settings(point, number))?;
    let shows = stack.fresh_shows(SHOWS)?;
    let sale = Sale::new(stack.port, &shows, Habits::MIXED);
    let ended = stack.sell(&sale, |stack| {
        let mut rebuilt = Instant::now();
        let dying = Instant::now();
        let status = loop {
            let status = wait_for_end(&mut running, Duration::from_millis(200))?;
            if status.is_some() || dying.elapsed() > LOAD_MAX {
                break status;
            }
            if recipe.rebuilds && rebuilt.elapsed() > REBUILD_EVERY {
                for show in &shows {
                    let arguments = ["rebuild", &show.id.to_string()];
                    stack.call("rebuild", &arguments, &plain_settings(point))?;
                }
                rebuilt = Instant::now();
            }
        };
        if status.is_some() {
            running = stack.start(&format!("{log}-again"), &plain_settings(point))?;
            std::thread::sleep(LOAD_AFTER);
        }
        Ok(status)
    })?;
    if recipe.rebuilds {
        stack.forgive(|order| !order.was_written);
    }
    let mut outcome = stack.judge(&mut running)?;
    let reached = ended.is_some();
    match ended {
        None => outcome
            .faults
            .push("the point was never reached".to_owned()),
        Some(status) if !was_killed(status) => {
            outcome
                .faults
                .push(format!("the server ended otherwise: {status}"));
        }
        Some(_) => {}
    }
    Ok(Run {
        point: point.to_owned(),
        reached,
        took: begun.elapsed(),
        outcome,
    })
}

fn recipe(point: &str) -> &'static Recipe {
    RECIPES
        .iter()
        .find(|recipe| recipe.point == point)
        .unwrap_or(&ORDINARY)
}

/// The environment of the server that dies.
fn settings(point: &str, number: usize) -> Vec<(String, String)> {
    let recipe = recipe(point);
    let passing = recipe.passings[number % recipe.passings.len()];
    let mut fault = format!("{point}:{passing}");
    if !recipe.pauses.is_empty() {
        fault.push(',');
        fault.push_str(recipe.pauses);
    }
    let mut settings = plain_settings(point);
    settings.push(("SEATFLOW_FAULT".to_owned(), fault));
    settings
}

/// The environment of its successor.
fn plain_settings(point: &str) -> Vec<(String, String)> {
    recipe(point)
        .settings
        .iter()
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_of_points_is_read_and_a_recipe_for_none_of_them_is_refused() {
        let known = RECIPES
            .each_ref()
            .map(|recipe| format!("{}\torder\tthis, not that", recipe.point));
        let points = read_points(&known.join("\n")).unwrap();
        assert_eq!(points.len(), RECIPES.len());
        assert_eq!(points[0].area, "order");
        assert!(read_points(&known[1..].join("\n")).is_err());
        assert!(read_points("").is_err());
    }

    #[test]
    fn runs_die_at_different_passings_and_a_recipe_adds_its_pauses() {
        let fault = |point, number| settings(point, number).pop().unwrap().1;
        assert_eq!(fault("place_after_hold", 0), "place_after_hold:2");
        assert_eq!(fault("place_after_hold", 1), "place_after_hold:7");
        assert_eq!(fault("place_after_hold", 3), "place_after_hold:2");
        assert_eq!(
            fault("discard_after_row", 2),
            "discard_after_row:1,place_after_cache:2:1700"
        );
        assert!(
            plain_settings("discard_after_row")[0]
                .0
                .ends_with("DISCARD_AFTER_MS")
        );
    }
}
