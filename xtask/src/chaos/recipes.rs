//! How each fail point is reached: what is held up meanwhile, what staff do, and who dies.

mod kinds;
mod table;

use super::staff::Work;
use super::trouble::Trouble;
use table::RECIPES;

/// At which passing the server dies, run by run: early, and in the middle of other work.
const PASSINGS: [u32; 3] = [2, 7, 18];

/// Whose process ends at a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Victim {
    Server,
    /// A command that staff have called; the server goes on.
    Command,
}

/// How a point is reached that lies aside of an ordinary sale: other steps are held up until it is, or staff are at work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Recipe {
    point: &'static str,
    pub victim: Victim,
    /// Further entries of SEATFLOW_FAULT for the server: point, passing, and for how many milliseconds it is held up.
    pauses: &'static str,
    settings: &'static [(&'static str, &'static str)],
    /// The shows are read from the database again and again, as if Redis lost them.
    pub rebuilds: bool,
    /// Most customers want places without a seat.
    pub crowds: bool,
    pub staff: Option<Work>,
    /// What the tables refuse for as long as customers buy.
    pub trouble: Option<Trouble>,
    /// Where a command of staff dies first, so that a server finds work that nobody has finished.
    staff_dies_at: &'static str,
    /// The server's n-th passing, or the n-th command of staff.
    passings: &'static [u32],
}

const ORDINARY: Recipe = Recipe {
    point: "",
    victim: Victim::Server,
    pauses: "",
    settings: &[],
    rebuilds: false,
    crowds: false,
    staff: None,
    trouble: None,
    staff_dies_at: "",
    passings: &PASSINGS,
};

/// How a point is reached.
pub fn recipe(point: &str) -> Recipe {
    let known = RECIPES.iter().find(|recipe| recipe.point == point);
    known.copied().unwrap_or(ORDINARY)
}

/// Points that recipes speak of.
pub fn named_points() -> impl Iterator<Item = &'static str> {
    let named = RECIPES
        .iter()
        .flat_map(|recipe| [recipe.point, recipe.staff_dies_at]);
    named.filter(|point| !point.is_empty())
}

impl Recipe {
    /// The environment of the first server, in the `number`-th run of `point`, counted from 0.
    pub fn first_settings(&self, point: &str, number: usize) -> Vec<(String, String)> {
        let mut faults = Vec::new();
        if self.victim == Victim::Server {
            faults.push(format!("{point}:{}", self.passing(number)));
        }
        if !self.pauses.is_empty() {
            faults.push(self.pauses.to_owned());
        }
        let mut settings = self.plain_settings();
        settings.push(("SEATFLOW_FAULT".to_owned(), faults.join(",")));
        settings
    }

    /// The environment of its successor.
    pub fn plain_settings(&self) -> Vec<(String, String)> {
        self.settings
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect()
    }

    /// Where the next command of staff dies, after `done` that were done; none when it is to come to its end.
    pub fn command_fault(
        &self,
        point: &str,
        number: usize,
        done: u32,
        has_died: bool,
    ) -> Option<String> {
        let (place, first) = match self.victim {
            Victim::Command => (point, self.passing(number)),
            Victim::Server => (self.staff_dies_at, 1),
        };
        let is_armed = !has_died && !place.is_empty() && done + 1 >= first;
        is_armed.then(|| format!("{place}:1"))
    }

    /// Whether what Redis alone knows of orders is lost on the way, and its buyers may be told so.
    pub fn loses_orders(&self) -> bool {
        self.rebuilds
    }

    /// Whether staff have nothing to do for a while: what their command left is the server's.
    pub fn is_left_to_the_server(&self, has_died: bool) -> bool {
        self.victim == Victim::Server && !self.staff_dies_at.is_empty() && has_died
    }

    fn passing(&self, number: usize) -> u32 {
        self.passings[number % self.passings.len()]
    }
}

#[cfg(test)]
#[path = "recipes_tests.rs"]
mod tests;
