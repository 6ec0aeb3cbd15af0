//! The live seat map of a show.
//!
//! The seats are not components: a hall may have thousands. The server writes them as plain checkboxes in one piece of HTML
//! ([`render`]), which a form can post without JavaScript. In the browser one controller listens on the whole map, polls for
//! changes, and touches only the seats that changed.
//!
//! **Architecture Invariant:** taking over the server's page costs the same whatever the number of seats. Nothing here
//! walks over all seats at once in the browser: where they are is read a few rows at a time when the keyboard comes to the
//! map, and large updates are shown a hundred seats at a time.

mod choice;
#[cfg(all(feature = "hydrate", not(feature = "ssr")))]
mod controller;
#[cfg(any(test, all(feature = "hydrate", not(feature = "ssr"))))]
mod grid;
#[cfg(feature = "ssr")]
mod ground;
#[cfg(feature = "ssr")]
mod legend;
mod map_state;
#[cfg(any(test, all(feature = "hydrate", not(feature = "ssr"))))]
mod name;
mod notices;
mod panel;
#[cfg(feature = "ssr")]
pub mod render;
mod view;
#[cfg(any(test, all(feature = "hydrate", not(feature = "ssr"))))]
mod zones;

/// How many tints of zones the style sheet knows.
const TINTS: usize = 8;

pub use choice::{read_choice, write_choice};
pub use map_state::{MapFacts, MapState};
pub use notices::{Notices, server_clock};
pub use panel::Panel;
pub use view::SeatMap;

#[cfg(all(test, feature = "ssr"))]
mod render_tests;
