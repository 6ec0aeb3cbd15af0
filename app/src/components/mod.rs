//! Parts of pages: one file a component. Only [`page_data`] and [`session`] ask the server for anything.

pub mod choose_for_me;
pub mod countdown;
pub mod error_notice;
pub mod field;
pub mod footer;
pub mod header;
pub mod loading;
pub mod meter;
pub mod order_facts;
pub mod page_data;
pub mod post;
pub mod posted_error;
pub mod poster;
pub mod problem;
pub mod seat_map;
pub mod session;
pub mod show_chip;
pub mod steps;
pub mod timer;
pub mod venue_time;
