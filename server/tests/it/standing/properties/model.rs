//! What a piece of a standing zone does, in plain Rust.

use super::super::fixture::NOW;
use app::domain::ids::OrderNo;
use server::redis::{
    scripts::{
        GiveStandingReply, LoadReply, LoadStanding, SellStandingReply, SetCapacityReply,
        TakeStandingReply,
    },
    standing::{PlaceState, TakenPlaces},
};
use std::collections::BTreeMap;

/// A piece without Redis.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Model {
    /// None while the piece is missing.
    pub piece: Option<ModelPiece>,
    /// What is left, before and after each change; none before where the piece was missing.
    pub log: Vec<(Option<i64>, i64)>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelPiece {
    pub epoch: u32,
    pub total: u32,
    pub taken: BTreeMap<OrderNo, TakenPlaces>,
}

impl ModelPiece {
    pub fn count(&self, state: PlaceState) -> u32 {
        let of_state = |taken: &&TakenPlaces| taken.state == state;
        self.taken
            .values()
            .filter(of_state)
            .map(|taken| taken.quantity)
            .sum()
    }

    fn left(&self) -> i64 {
        let taken = self.count(PlaceState::Locked) + self.count(PlaceState::Sold);
        i64::from(self.total) - i64::from(taken)
    }
}

impl Model {
    /// Changes the piece and logs what that does to what is left.
    fn change(&mut self, change: impl FnOnce(&mut ModelPiece)) {
        let piece = self.piece.as_mut().expect("a piece to change");
        let before = piece.left();
        change(piece);
        let after = piece.left();
        if before != after {
            self.log.push((Some(before), after));
        }
    }

    pub fn take(&mut self, order: OrderNo, quantity: u32, least: u32) -> TakeStandingReply {
        let Some(piece) = &self.piece else {
            return TakeStandingReply::Rebuild;
        };
        if let Some(has) = piece.taken.get(&order) {
            return TakeStandingReply::Repeated {
                quantity: has.quantity,
            };
        }
        let left = u32::try_from(piece.left()).unwrap_or(0);
        if left < least {
            return TakeStandingReply::Short { left };
        }
        let count = left.min(quantity);
        let entry = entry(count, PlaceState::Locked);
        self.change(|piece| {
            piece.taken.insert(order, entry);
        });
        TakeStandingReply::Taken {
            quantity: count,
            left: left - count,
        }
    }

    pub fn give(&mut self, order: OrderNo, keep: u32) -> GiveStandingReply {
        let Some(piece) = &self.piece else {
            return GiveStandingReply::Rebuild;
        };
        let Some(has) = piece
            .taken
            .get(&order)
            .copied()
            .filter(|has| has.quantity > keep)
        else {
            return GiveStandingReply::Nothing;
        };
        self.change(|piece| {
            if keep == 0 {
                piece.taken.remove(&order);
            } else {
                piece.taken.insert(
                    order,
                    TakenPlaces {
                        quantity: keep,
                        ..has
                    },
                );
            }
        });
        GiveStandingReply::Given {
            quantity: has.quantity - keep,
        }
    }

    pub fn sell(&mut self, order: OrderNo, quantity: u32, state: PlaceState) -> SellStandingReply {
        let Some(piece) = &self.piece else {
            return SellStandingReply::Rebuild;
        };
        let has = piece.taken.get(&order).copied();
        let is_as_wanted = |has: TakenPlaces| {
            (has.state == PlaceState::Sold && state == PlaceState::Locked)
                || (has.quantity, has.state) == (quantity, state)
        };
        if has.is_some_and(is_as_wanted) {
            return SellStandingReply::AsIs;
        }
        let created = has.map_or(NOW, |has| has.created);
        self.change(|piece| {
            piece.taken.insert(
                order,
                TakenPlaces {
                    quantity,
                    state,
                    created,
                },
            );
        });
        let had = has.map_or(0, |has| has.quantity);
        SellStandingReply::Written {
            change: i64::from(quantity) - i64::from(had),
        }
    }

    pub fn load(&mut self, load: &LoadStanding) -> LoadReply {
        if let Some(piece) = self
            .piece
            .as_ref()
            .filter(|piece| Some(piece.epoch) != load.replaces)
        {
            return LoadReply::AlreadyPresent { epoch: piece.epoch };
        }
        let piece = ModelPiece {
            epoch: load.epoch,
            total: load.total,
            taken: load.taken.iter().copied().collect(),
        };
        self.log.push((None, piece.left()));
        self.piece = Some(piece);
        LoadReply::Loaded
    }

    pub fn set_capacity(&mut self, total: u32) -> SetCapacityReply {
        let Some(piece) = &self.piece else {
            return SetCapacityReply::Rebuild;
        };
        let (locked, sold) = (
            piece.count(PlaceState::Locked),
            piece.count(PlaceState::Sold),
        );
        if locked + sold > total {
            return SetCapacityReply::Below { locked, sold };
        }
        self.change(|piece| piece.total = total);
        SetCapacityReply::Set
    }
}

pub fn entry(quantity: u32, state: PlaceState) -> TakenPlaces {
    TakenPlaces {
        quantity,
        state,
        created: NOW,
    }
}
