//! Parts of pages: one file a component. Only [`page_data`] and [`session`] ask the server for anything.

pub mod attendee_choice;
pub mod choose_for_me;
pub mod countdown;
pub mod error_notice;
pub mod field;
pub mod footer;
pub mod header;
pub mod loading;
pub mod meter;
pub mod order_facts;
pub mod order_timeline;
pub mod page_data;
pub mod post;
pub mod posted_error;
pub mod poster;
pub mod problem;
pub mod quantity_stepper;
pub mod refund_list;
pub mod seat_map;
pub mod session;
pub mod show_chip;
pub mod standing_zones;
pub mod steps;
pub mod submission_key;
pub mod timer;
pub mod venue_time;
