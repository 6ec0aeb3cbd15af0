//! Standing zones: the scripts of a piece, and the sale of places without seats.

mod ending;
mod exact_places;
mod fixture;
pub(crate) mod floor;
mod losing;
mod lost_pieces;
pub(crate) mod properties;
mod scripts;
mod seeding;
mod selling;
mod unload;
