//! What can be wrong with a seating plan file, each with its place and what to do.

use std::fmt;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::{PLAN_BYTES_MAX, PLAN_CATEGORIES_MAX, PLAN_COORDINATE_MAX, PLAN_SEATS_MAX};

/// One fault. Displays as one line: `12:7 zones[0].rows[3].seats[2].seat_guid: "AA-1" is used before, at line 9; …`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanFault {
    /// From 1.
    pub line: u32,
    /// From 1, in characters.
    pub column: u32,
    /// `zones[0].rows[3].seats[2].seat_guid`; empty for the file as a whole.
    pub path: String,
    pub kind: PlanFaultKind,
}

#[derive(Clone, Debug, PartialEq, Eq, Error, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum PlanFaultKind {
    #[error("the file has {bytes} bytes; at most {PLAN_BYTES_MAX} are read")]
    TooLarge { bytes: u64 },
    #[error("not JSON: {message}")]
    NotJson { message: String },
    #[error("is missing")]
    Missing,
    #[error("must be {expected}, but is {found}")]
    WrongType { expected: JsonType, found: JsonType },
    #[error("{key:?} is given twice in one object; keep one")]
    DuplicateKey { key: String },
    #[error("is empty")]
    EmptyText,
    #[error("has {chars} characters; at most {chars_max} are kept")]
    TooLong { chars: u32, chars_max: u32 },
    #[error("{guid:?} is used before, at line {first_line}; every seat needs one of its own")]
    DuplicateGuid { guid: String, first_line: u32 },
    #[error(
        "row {row:?}, seat {number:?} of zone {section:?} is there before, at line {first_line}; \
         two tickets would read the same"
    )]
    DuplicateSeat {
        section: String,
        row: String,
        number: String,
        first_line: u32,
    },
    #[error("{name:?} is not among the categories; add it there or name one of them")]
    UnknownCategory { name: String },
    #[error("category {name:?} is there before, at line {first_line}")]
    DuplicateCategory { name: String, first_line: u32 },
    #[error("there are {count} categories; at most {PLAN_CATEGORIES_MAX} are taken")]
    TooManyCategories { count: u32 },
    #[error(
        "{value} is no usable coordinate; it must lie between -{PLAN_COORDINATE_MAX} and {PLAN_COORDINATE_MAX}"
    )]
    BadCoordinate { value: String },
    #[error("{value} is no usable extent; it must be above 0 and at most {PLAN_COORDINATE_MAX}")]
    BadExtent { value: String },
    #[error("{value:?} is no colour; write it as \"#rrggbb\" or as a CSS colour name")]
    BadColor { value: String },
    #[error("{value:?} is not known; it must be one of {allowed}")]
    BadChoice { value: String, allowed: String },
    #[error("has {count} points; a polygon needs at least 3")]
    TooFewPoints { count: u32 },
    #[error("the plan has no seats; it needs at least one")]
    NoSeats,
    #[error("the plan has {count} seats; at most {PLAN_SEATS_MAX} are taken")]
    TooManySeats { count: u32 },
    #[error("and {count} more")]
    More { count: u32 },
}

/// The kinds of JSON values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum JsonType {
    Object,
    List,
    Text,
    Number,
    Boolean,
    Null,
}

impl fmt::Display for PlanFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{} ", self.line, self.column)?;
        if !self.path.is_empty() {
            write!(f, "{}: ", self.path)?;
        }
        write!(f, "{}", self.kind)
    }
}

impl std::error::Error for PlanFault {}

impl fmt::Display for JsonType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            JsonType::Object => "an object",
            JsonType::List => "a list",
            JsonType::Text => "text",
            JsonType::Number => "a number",
            JsonType::Boolean => "true or false",
            JsonType::Null => "null",
        })
    }
}
