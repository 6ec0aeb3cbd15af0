//! Parts of pages: one file a component. Only [`page_data`] and [`wire`] ask for anything.
//!
//! What only the server uses is left out of the browser's build. The rest is what islands are made of.

pub mod address;
pub mod attendee_choice;
pub mod choose_for_me;
pub mod countdown;
pub mod error_notice;
#[cfg(feature = "ssr")]
pub mod field;
#[cfg(feature = "ssr")]
pub mod footer;
pub mod handed;
#[cfg(feature = "ssr")]
pub mod header;
#[cfg(feature = "ssr")]
pub mod meter;
pub mod offer;
#[cfg(feature = "ssr")]
pub mod order_facts;
#[cfg(feature = "ssr")]
pub mod order_timeline;
#[cfg(feature = "ssr")]
pub mod page_data;
pub mod post;
pub mod posted;
#[cfg(feature = "ssr")]
pub mod poster;
#[cfg(feature = "ssr")]
pub mod problem;
pub mod quantity_stepper;
#[cfg(feature = "ssr")]
pub mod refund_list;
pub mod seat_map;
#[cfg(feature = "ssr")]
pub mod show_chip;
pub mod standing_zones;
#[cfg(feature = "ssr")]
pub mod steps;
pub mod submission_key;
pub mod timer;
#[cfg(feature = "ssr")]
pub mod venue_time;
pub mod wire;
