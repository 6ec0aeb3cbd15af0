//! A server, or a command of staff, is killed at a fail point while customers buy. The server is started again, and everything
//! has to come right.

use std::process::ExitStatus;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use super::judge::Outcome;
use super::recipes::{Recipe, Victim, named_points, recipe};
use super::sale::{Habits, Sale};
use super::stack::{Stack, wait_for_end, was_killed};
use super::staff::{Deed, Staff};
use super::trouble::Refusing;
use crate::services::Running;

/// How long a point has time to be reached. The rarest wait for an order that expires, or for one that is spread over pieces and
/// paid for. A run goes on as soon as it is.
const LOAD_MAX: Duration = Duration::from_secs(90);
/// How long customers go on buying after the death: longer than a server's consumers wait for the dead one (8 s).
const LOAD_AFTER: Duration = Duration::from_secs(10);
/// Staff begin when there are orders of all kinds.
const STAFF_AFTER: Duration = Duration::from_secs(4);
const STAFF_PAUSE: Duration = Duration::from_millis(200);
const SHOWS: usize = 2;
const NEVER_REACHED: &str = "the point was never reached";
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
    for named in named_points() {
        let is_known = points.iter().any(|point| point.name == named);
        is_known
            .then_some(())
            .with_context(|| format!("a recipe for a point that is not there: {named}"))?;
    }
    Ok(points)
}

/// One run at one point.
#[derive(Clone, Debug)]
pub struct Run {
    pub point: String,
    pub reached: bool,
    /// Runs before it in which all was well, but nobody came to the point: they have shown nothing about it.
    pub misses: usize,
    pub took: Duration,
    pub outcome: Outcome,
}

impl Run {
    /// Whether nothing is wrong but that nobody came to the point.
    pub fn has_missed(&self) -> bool {
        !self.reached && self.outcome.faults == [NEVER_REACHED]
    }

    /// A run that did not come to its end.
    pub fn broken(point: &str, error: &anyhow::Error) -> Self {
        Self {
            point: point.to_owned(),
            reached: false,
            misses: 0,
            took: Duration::ZERO,
            outcome: Outcome {
                faults: vec![format!("{error:#}")],
                ..Outcome::default()
            },
        }
    }
}

/// Who died in a run.
#[derive(Clone, Copy, Debug)]
enum Death {
    Server(ExitStatus),
    Command,
}

/// A sale in which somebody is to die.
struct Scene<'s, 'a> {
    stack: &'s Stack<'a>,
    sale: &'s Sale<'s>,
    recipe: Recipe,
    point: &'s str,
    number: usize,
}

/// Kills a server or a command at `point` and judges what became of everything. `number` counts the runs of the point from 0.
///
/// # Errors
/// When a server can't be started or asked. Faults are in the outcome.
pub fn run(stack: &mut Stack<'_>, point: &str, number: usize) -> Result<Run> {
    let begun = Instant::now();
    let recipe = recipe(point);
    let log = format!("{point}-{number}");
    stack.promises = Vec::new();
    stack.has_letters = recipe.trouble.is_some();
    let mut running = stack.start_armed(&log, &recipe.first_settings(point, number))?;
    let shows = stack.fresh_shows(SHOWS)?;
    let mut sale = Sale::new(stack.port, &shows, Habits::MIXED);
    sale.crowds = recipe.crowds;
    // Their show may be withdrawn; the sale goes on with the other one.
    let at_work = recipe.staff.zip(shows.last());
    let mut staff = at_work.map(|(work, show)| Staff::new(work, show, number as u64));
    let refusing = recipe
        .trouble
        .map(|trouble| Refusing::begin(stack, trouble))
        .transpose()?;
    let death = stack.sell(&sale, |stack| {
        let scene = Scene {
            stack,
            sale: &sale,
            recipe,
            point,
            number,
        };
        let death = scene.until_death(&mut running, staff.as_mut())?;
        if let Some(Death::Server(_)) = death {
            running = stack.start(&format!("{log}-again"), &recipe.plain_settings())?;
        }
        if death.is_some() {
            scene.go_on(staff.as_mut())?;
        }
        Ok(death)
    });
    if let Some(refusing) = refusing {
        refusing.end()?;
    }
    let death = death?;
    if recipe.loses_orders() {
        stack.forgive(|order| !order.was_written);
    }
    stack.promises = staff.map(|staff| staff.promises).into_iter().collect();
    let mut outcome = stack.judge(&mut running)?;
    outcome.faults.extend(fault_of(death, recipe.victim));
    Ok(Run {
        point: point.to_owned(),
        reached: death.is_some(),
        misses: 0,
        took: begun.elapsed(),
        outcome,
    })
}

impl Scene<'_, '_> {
    /// Lets the sale go on until somebody dies as the recipe says, or the point had time enough to be reached.
    fn until_death(
        &self,
        running: &mut Running,
        mut staff: Option<&mut Staff>,
    ) -> Result<Option<Death>> {
        let begun = Instant::now();
        let mut rebuilt = Instant::now();
        while begun.elapsed() < LOAD_MAX {
            if let Some(status) = wait_for_end(running, STAFF_PAUSE)? {
                return Ok(Some(Death::Server(status)));
            }
            if self.recipe.rebuilds && rebuilt.elapsed() > REBUILD_EVERY {
                self.rebuild()?;
                rebuilt = Instant::now();
            }
            let Some(staff) = staff.as_mut().filter(|_| begun.elapsed() > STAFF_AFTER) else {
                continue;
            };
            if !self.recipe.is_left_to_the_server(staff.has_died) {
                let deed = self.staff_act(staff)?;
                if deed == Deed::Died && self.recipe.victim == Victim::Command {
                    return Ok(Some(Death::Command));
                }
            }
        }
        Ok(None)
    }

    fn staff_act(&self, staff: &mut Staff) -> Result<Deed> {
        let fault = self
            .recipe
            .command_fault(self.point, self.number, staff.done, staff.has_died);
        staff.act(self.stack, self.sale, fault.as_deref())
    }

    fn rebuild(&self) -> Result<()> {
        for show in self.sale.shows {
            let arguments = ["rebuild", &show.id.to_string(), "--lose-unsent"];
            self.stack
                .call("rebuild", &arguments, &self.recipe.plain_settings())?;
        }
        Ok(())
    }

    /// Customers go on buying. In every other run staff go on as well; in the others what a command left half done stays so
    /// until a server puts it right.
    fn go_on(&self, mut staff: Option<&mut Staff>) -> Result<()> {
        let begun = Instant::now();
        while begun.elapsed() < LOAD_AFTER {
            if let Some(staff) = staff.as_mut().filter(|_| self.number % 2 == 1) {
                staff.act(self.stack, self.sale, None)?;
            }
            crate::interrupt::check()?;
            std::thread::sleep(STAFF_PAUSE);
        }
        Ok(())
    }
}

/// What is wrong with how somebody died.
fn fault_of(death: Option<Death>, victim: Victim) -> Option<String> {
    match (death, victim) {
        (None, _) => Some(NEVER_REACHED.to_owned()),
        (Some(Death::Server(status)), Victim::Server) if was_killed(status) => None,
        (Some(Death::Command), Victim::Command) => None,
        (Some(Death::Server(status)), _) => Some(format!("the server ended otherwise: {status}")),
        (Some(Death::Command), Victim::Server) => {
            Some("a command died instead of the server".to_owned())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::process::ExitStatusExt;

    #[test]
    fn the_list_of_points_is_read_and_a_recipe_for_none_of_them_is_refused() {
        let known: Vec<String> = named_points()
            .map(|point| format!("{point}\torder\tthis, not that"))
            .collect();
        let points = read_points(&known.join("\n")).unwrap();
        assert_eq!(points.len(), known.len());
        assert_eq!(points[0].area, "order");
        assert!(read_points(&known[1..].join("\n")).is_err());
        assert!(read_points("").is_err());
    }

    #[test]
    fn only_the_death_that_was_wanted_is_right() {
        let killed = Death::Server(ExitStatus::from_raw(9));
        let stopped = Death::Server(ExitStatus::from_raw(0));
        assert_eq!(fault_of(Some(killed), Victim::Server), None);
        assert_eq!(fault_of(Some(Death::Command), Victim::Command), None);
        for (death, victim) in [
            (None, Victim::Server),
            (Some(stopped), Victim::Server),
            (Some(killed), Victim::Command),
            (Some(Death::Command), Victim::Server),
        ] {
            assert!(fault_of(death, victim).is_some(), "{death:?} {victim:?}");
        }
    }
}
