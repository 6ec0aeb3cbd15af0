//! Seat states and the map of a whole show: two bits a seat, as Redis keeps it and as the browser receives it.

use super::ids::SeatIndex;
use serde::{Deserialize, Serialize};

/// What can be done with a seat right now.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SeatState {
    /// Free to hold.
    Available,
    /// Held for an order that is not paid yet.
    Locked,
    /// Belongs to a paid order.
    Sold,
    /// Withheld by staff.
    Blocked,
}

impl SeatState {
    /// The two bits of the map, and the number in the database.
    #[must_use]
    pub fn bits(self) -> u8 {
        match self {
            Self::Available => 0,
            Self::Locked => 1,
            Self::Sold => 2,
            Self::Blocked => 3,
        }
    }

    /// The state that the lowest two bits of `bits` mean.
    #[must_use]
    pub fn from_bits(bits: u8) -> Self {
        match bits & 3 {
            0 => Self::Available,
            1 => Self::Locked,
            2 => Self::Sold,
            _ => Self::Blocked,
        }
    }
}

/// One seat's new state, as the change log keeps it: seat number × 4 + state, in 32 bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SeatChange {
    /// The seat that changed.
    pub seat: SeatIndex,
    /// What it changed to.
    pub state: SeatState,
}

impl SeatChange {
    /// The change in one number.
    #[must_use]
    pub fn packed(self) -> u32 {
        (self.seat.0 << 2) | u32::from(self.state.bits())
    }

    /// Reads [`SeatChange::packed`].
    #[must_use]
    pub fn from_packed(packed: u32) -> Self {
        let bits = u8::try_from(packed & 3).unwrap_or_default();
        Self {
            seat: SeatIndex(packed >> 2),
            state: SeatState::from_bits(bits),
        }
    }
}

/// Where a reader stands: which life of the show's keys, and how many seat changes it has seen.
///
/// The epoch changes when the keys are rebuilt, so that a reader never applies changes to a map of another life.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct MapVersion {
    /// Life of the show's keys.
    pub epoch: u32,
    /// Seat changes since the epoch began.
    pub version: u64,
}

impl MapVersion {
    /// As it stands in the address of a poll: `epoch.version`.
    #[must_use]
    pub fn to_query(self) -> String {
        format!("{}.{}", self.epoch, self.version)
    }

    /// Reads [`MapVersion::to_query`].
    #[must_use]
    pub fn from_query(text: &str) -> Option<Self> {
        let (epoch, version) = text.split_once('.')?;
        Some(Self {
            epoch: epoch.parse().ok()?,
            version: version.parse().ok()?,
        })
    }
}

/// Every seat's state at one version. Seat `i` has the bits `7 − 2(i mod 4)` and the next lower of byte `i / 4`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SeatMap {
    /// When the map was like this.
    pub at: MapVersion,
    /// How many seats the show has.
    pub seats: u32,
    /// Two bits a seat; bytes missing at the end mean available.
    pub bits: Vec<u8>,
}

impl SeatMap {
    /// A seat's state; a seat beyond the plan is withheld.
    #[must_use]
    pub fn state(&self, seat: SeatIndex) -> SeatState {
        if seat.0 >= self.seats {
            return SeatState::Blocked;
        }
        let byte = usize::try_from(seat.0 / 4)
            .ok()
            .and_then(|place| self.bits.get(place));
        SeatState::from_bits(byte.copied().unwrap_or(0) >> (6 - 2 * (seat.0 % 4)))
    }

    /// Sets one seat. A seat beyond the plan is ignored.
    pub fn set(&mut self, seat: SeatIndex, state: SeatState) {
        if seat.0 >= self.seats {
            return;
        }
        let Ok(place) = usize::try_from(seat.0 / 4) else {
            return;
        };
        if self.bits.len() <= place {
            self.bits.resize(place + 1, 0);
        }
        let shift = 6 - 2 * (seat.0 % 4);
        self.bits[place] = (self.bits[place] & !(3 << shift)) | (state.bits() << shift);
    }

    /// Every seat's state in order.
    pub fn states(&self) -> impl Iterator<Item = SeatState> + '_ {
        (0..self.seats).map(|seat| self.state(SeatIndex(seat)))
    }
}

/// The answer to a poll of the map.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MapUpdate {
    /// Every seat's state: the reader is new, or too far behind.
    Whole(SeatMap),
    /// What changed since the version the reader named, oldest first.
    Changes {
        /// Where the reader stands after applying them.
        at: MapVersion,
        /// The changes.
        changes: Vec<SeatChange>,
    },
}

/// A body that is not a map update.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not a seat map update")]
pub struct InvalidMapUpdate;

const WHOLE: u8 = 0;
const CHANGES: u8 = 1;

impl MapUpdate {
    /// Where the reader stands afterwards.
    #[must_use]
    pub fn at(&self) -> MapVersion {
        match self {
            Self::Whole(map) => map.at,
            Self::Changes { at, .. } => *at,
        }
    }

    /// The body of a poll's answer: kind (1 byte), epoch (4), version (8), then either the number of seats (4) and the
    /// bits, or 4 bytes a change. Numbers are big-endian.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let at = self.at();
        let mut body = Vec::with_capacity(64);
        body.push(if matches!(self, Self::Whole(_)) {
            WHOLE
        } else {
            CHANGES
        });
        body.extend(at.epoch.to_be_bytes());
        body.extend(at.version.to_be_bytes());
        match self {
            Self::Whole(map) => {
                body.extend(map.seats.to_be_bytes());
                body.extend(&map.bits);
            }
            Self::Changes { changes, .. } => {
                body.extend(
                    changes
                        .iter()
                        .flat_map(|change| change.packed().to_be_bytes()),
                );
            }
        }
        body
    }

    /// Reads [`MapUpdate::encode`].
    ///
    /// # Errors
    /// When the body is of another form.
    pub fn decode(body: &[u8]) -> Result<Self, InvalidMapUpdate> {
        let (kind, rest) = body.split_first().ok_or(InvalidMapUpdate)?;
        let (epoch, rest) = rest.split_first_chunk::<4>().ok_or(InvalidMapUpdate)?;
        let (version, rest) = rest.split_first_chunk::<8>().ok_or(InvalidMapUpdate)?;
        let at = MapVersion {
            epoch: u32::from_be_bytes(*epoch),
            version: u64::from_be_bytes(*version),
        };
        match *kind {
            WHOLE => {
                let (seats, bits) = rest.split_first_chunk::<4>().ok_or(InvalidMapUpdate)?;
                let seats = u32::from_be_bytes(*seats);
                Ok(Self::Whole(SeatMap {
                    at,
                    seats,
                    bits: bits.to_vec(),
                }))
            }
            CHANGES => {
                let (packed, left) = rest.as_chunks::<4>();
                if !left.is_empty() {
                    return Err(InvalidMapUpdate);
                }
                let changes = packed
                    .iter()
                    .map(|bytes| SeatChange::from_packed(u32::from_be_bytes(*bytes)))
                    .collect();
                Ok(Self::Changes { at, changes })
            }
            _ => Err(InvalidMapUpdate),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(seats: u32) -> SeatMap {
        SeatMap {
            at: MapVersion {
                epoch: 7,
                version: 3,
            },
            seats,
            bits: Vec::new(),
        }
    }

    #[test]
    fn a_seats_bits_do_not_touch_its_neighbours() {
        let mut seats = map(10);
        seats.set(SeatIndex(4), SeatState::Blocked);
        seats.set(SeatIndex(5), SeatState::Sold);
        seats.set(SeatIndex(6), SeatState::Locked);
        seats.set(SeatIndex(4), SeatState::Available);
        let states: Vec<u8> = seats.states().map(SeatState::bits).collect();
        assert_eq!(states, [0, 0, 0, 0, 0, 2, 1, 0, 0, 0]);
        assert_eq!(seats.bits, [0, 0b0010_0100]);
    }

    #[test]
    fn a_seat_beyond_the_plan_cannot_be_had() {
        let mut seats = map(2);
        seats.set(SeatIndex(2), SeatState::Available);
        assert_eq!(seats.state(SeatIndex(2)), SeatState::Blocked);
        assert!(seats.bits.is_empty());
    }

    #[test]
    fn updates_come_back_as_they_were_sent() {
        let mut seats = map(9);
        seats.set(SeatIndex(8), SeatState::Sold);
        let changes = vec![SeatChange {
            seat: SeatIndex(49_999),
            state: SeatState::Locked,
        }];
        for update in [
            MapUpdate::Whole(seats),
            MapUpdate::Changes {
                at: MapVersion {
                    epoch: 1,
                    version: u64::MAX,
                },
                changes,
            },
        ] {
            assert_eq!(MapUpdate::decode(&update.encode()), Ok(update));
        }
    }

    #[test]
    fn bodies_stay_within_their_limits() {
        let mut seats = map(50_000);
        seats.set(SeatIndex(49_999), SeatState::Sold);
        assert!(MapUpdate::Whole(seats).encode().len() <= 13_000);
        let one = SeatChange {
            seat: SeatIndex(1),
            state: SeatState::Sold,
        };
        let update = MapUpdate::Changes {
            at: MapVersion::default(),
            changes: vec![one; 100],
        };
        assert!(update.encode().len() <= 200 + 4 * 100);
    }

    #[test]
    fn broken_bodies_are_refused() {
        for body in [
            &[][..],
            &[0; 12],
            &[2; 20],
            &[1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 9],
        ] {
            assert_eq!(MapUpdate::decode(body), Err(InvalidMapUpdate));
        }
    }

    #[test]
    fn a_version_is_read_from_an_address_only_when_whole() {
        let at = MapVersion {
            epoch: 2,
            version: 40,
        };
        assert_eq!(MapVersion::from_query(&at.to_query()), Some(at));
        for text in ["", "1", "1.", ".1", "a.b", "-1.2", "1.2.3"] {
            assert_eq!(MapVersion::from_query(text), None, "{text}");
        }
    }
}
