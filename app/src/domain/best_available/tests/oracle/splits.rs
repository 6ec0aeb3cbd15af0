//! Seats that are not together: how few groups it takes, and how little harm they can do.

use super::Case;

/// The rules' order: people who sit alone, halved pairs, seats left alone.
pub(in super::super) type SplitHarm = (usize, usize, usize);

/// For each number of groups and of people seated, the least harm known.
type Table = Vec<Vec<Option<SplitHarm>>>;

impl Case<'_> {
    /// How many of the longest offered stretches it takes to seat so many.
    pub(in super::super) fn fewest_groups(&self, quantity: usize) -> usize {
        let mut lengths: Vec<usize> = self
            .stretches()
            .iter()
            .map(|(_, stretch)| stretch.len())
            .collect();
        lengths.sort_unstable();
        let mut seated = 0;
        let needed = lengths.iter().rev().take_while(|length| {
            let more = seated < quantity;
            seated += **length;
            more
        });
        needed.count()
    }

    /// The harm that the fewest groups for so many people do at least, if the harm of each is added up.
    pub(in super::super) fn least_harm(&self, quantity: usize) -> SplitHarm {
        let groups = self.fewest_groups(quantity);
        let mut least: Table = vec![vec![None; quantity + 1]; groups + 1];
        least[0][0] = Some((0, 0, 0));
        for (run, stretch) in self.stretches() {
            let by_length: Vec<SplitHarm> = (1..=stretch.len())
                .map(|length| self.least_harm_of_part(run, stretch, length))
                .collect();
            for group in (0..groups).rev() {
                for seated in 0..quantity {
                    add_part(&mut least, group, seated, &by_length);
                }
            }
        }
        least[groups][quantity].expect("the fewest groups have the seats")
    }

    fn least_harm_of_part(&self, run: &[usize], stretch: &[usize], length: usize) -> SplitHarm {
        let parts = stretch.windows(length).map(|part| self.harm(run, part));
        let (halved, left_alone) = parts.min().expect("a part of the stretch");
        (usize::from(length == 1), halved, left_alone)
    }

    /// The harm that groups do, all taken at once.
    pub(in super::super) fn harm_of_split(&self, groups: &[Vec<usize>]) -> SplitHarm {
        let taken = groups.concat();
        let alone = groups.iter().filter(|group| group.len() == 1).count();
        let harms = self.hall.runs.iter().map(|run| self.harm(run, &taken));
        harms.fold((alone, 0, 0), |sum, harm| {
            (sum.0, sum.1 + harm.0, sum.2 + harm.1)
        })
    }

    /// Whether two groups can have a single free seat of another zone between them, which then suffers from both: what
    /// each does cannot be added up.
    pub(in super::super) fn groups_can_share_a_neighbour(&self) -> bool {
        self.hall.runs.iter().any(|run| {
            run.windows(3).any(|three| {
                let between = three[1];
                self.is_offered(three[0])
                    && self.is_offered(three[2])
                    && self.free[between]
                    && !self.is_offered(between)
            })
        })
    }

    /// The longest stretches of neighbours that are all offered, each with its run.
    fn stretches(&self) -> Vec<(&[usize], &[usize])> {
        let mut stretches = Vec::new();
        for run in &self.hall.runs {
            let of_run = run.split(|seat| !self.is_offered(*seat));
            let of_run = of_run.filter(|stretch| !stretch.is_empty());
            stretches.extend(of_run.map(|stretch| (run.as_slice(), stretch)));
        }
        stretches
    }
}

/// Notes what comes of one more group in which 1, 2, … people are seated, beyond `seated` people in `group` groups.
fn add_part(least: &mut Table, group: usize, seated: usize, by_length: &[SplitHarm]) {
    let Some(so_far) = least[group][seated] else {
        return;
    };
    for (part, harm) in by_length.iter().enumerate() {
        let Some(known) = least[group + 1].get_mut(seated + part + 1) else {
            return;
        };
        let with = (so_far.0 + harm.0, so_far.1 + harm.1, so_far.2 + harm.2);
        *known = Some(known.map_or(with, |known| known.min(with)));
    }
}
