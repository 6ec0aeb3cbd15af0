//! JSON values that know where they stand in the file, and the list of faults found so far.
//!
//! serde_json checks the syntax and finds the ends of values ([`RawValue`] borrows them from the file); the distance of
//! such a slice from the file's start is its place.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::fault::{JsonType, PlanFault, PlanFaultKind};
use super::{PLAN_BYTES_MAX, PLAN_FAULTS_MAX};

/// Longer values are cut in messages, in characters.
const SHOWN_CHARS_MAX: usize = 80;

/// The way to a value, kept on the stack: most are never printed.
#[derive(Clone, Copy)]
pub(super) enum Path<'p> {
    Root,
    Key(&'p Path<'p>, &'p str),
    Item(&'p Path<'p>, usize),
}

/// An object of the file.
pub(super) struct Object<'a, 'p> {
    raw: &'a str,
    pub(super) path: Path<'p>,
    fields: Vec<(Cow<'a, str>, &'a str)>,
}

/// The file under reading.
pub(super) struct Source<'a> {
    text: &'a str,
    line_starts: Vec<usize>,
    faults: Vec<PlanFault>,
    unreported: u32,
    first_unreported: (u32, u32),
}

impl<'a> Source<'a> {
    /// Opens a file and its outermost value.
    ///
    /// # Errors
    /// The one fault of a file that is too large or not JSON.
    pub(super) fn open(text: &'a str) -> Result<(Self, &'a str), PlanFault> {
        if text.len() > PLAN_BYTES_MAX {
            let bytes = text.len().try_into().unwrap_or(u64::MAX);
            return Err(PlanFault {
                line: 1,
                column: 1,
                path: String::new(),
                kind: PlanFaultKind::TooLarge { bytes },
            });
        }
        // Some editors on Windows begin UTF-8 files with a byte order mark, which JSON does not know.
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let line_starts = std::iter::once(0)
            .chain(text.match_indices('\n').map(|(at, _)| at + 1))
            .collect();
        let source = Source {
            text,
            line_starts,
            faults: Vec::new(),
            unreported: 0,
            first_unreported: (1, 1),
        };
        match serde_json::from_str::<IgnoredAny>(text) {
            Ok(_) => Ok((source, text.trim())),
            Err(error) => Err(source.syntax_fault(&error)),
        }
    }

    /// What was found, in the order of the places, or nothing.
    pub(super) fn into_faults(mut self) -> Vec<PlanFault> {
        self.faults.sort_by_key(|fault| (fault.line, fault.column));
        if self.unreported > 0 {
            let (line, column) = self.first_unreported;
            let kind = PlanFaultKind::More {
                count: self.unreported,
            };
            self.faults.push(PlanFault {
                line,
                column,
                path: String::new(),
                kind,
            });
        }
        self.faults
    }

    pub(super) fn is_sound(&self) -> bool {
        self.faults.is_empty()
    }

    /// Notes a fault of `value`, which must be a slice of the file.
    pub(super) fn fault(&mut self, value: &str, path: Path<'_>, kind: PlanFaultKind) {
        if self.faults.len() < PLAN_FAULTS_MAX {
            let (line, column) = self.place(value);
            self.faults.push(PlanFault {
                line,
                column,
                path: path.to_string(),
                kind,
            });
        } else {
            if self.unreported == 0 {
                self.first_unreported = self.place(value);
            }
            self.unreported = self.unreported.saturating_add(1);
        }
    }

    /// The line of a slice of the file, from 1.
    pub(super) fn line(&self, value: &str) -> u32 {
        count(self.line_at(self.offset(value)))
    }

    /// Opens `value` as an object; anything else is a fault. A repeated key is one too, and its first value counts.
    pub(super) fn object<'p>(&mut self, value: &'a str, path: Path<'p>) -> Option<Object<'a, 'p>> {
        self.expect(value, path, JsonType::Object)?;
        let parsed = serde_json::from_str::<Fields<'a>>(value).ok()?;
        let mut fields: Vec<(Cow<'a, str>, &'a str)> = Vec::with_capacity(parsed.0.len());
        for (key, value) in parsed.0 {
            if fields.iter().any(|(known, _)| *known == key) {
                let kind = PlanFaultKind::DuplicateKey { key: shown(&key) };
                self.fault(value, path, kind);
            } else {
                fields.push((key, value));
            }
        }
        Some(Object {
            raw: value,
            path,
            fields,
        })
    }

    /// The items of the list `value`; anything else is a fault.
    pub(super) fn items(&mut self, value: &'a str, path: Path<'_>) -> Option<Vec<&'a str>> {
        self.expect(value, path, JsonType::List)?;
        let items = serde_json::from_str::<Vec<&'a RawValue>>(value).ok()?;
        Some(items.into_iter().map(RawValue::get).collect())
    }

    /// The text `value`; anything else is a fault.
    pub(super) fn text(&mut self, value: &'a str, path: Path<'_>) -> Option<String> {
        self.expect(value, path, JsonType::Text)?;
        let text = serde_json::from_str(value).ok();
        if text.is_none() {
            // The syntax is sound, so what is left is half of a surrogate pair.
            let message = "an escape that is no character".to_owned();
            self.fault(value, path, PlanFaultKind::NotJson { message });
        }
        text
    }

    /// The number `value`, which may be infinite (`1e999`); anything else is a fault.
    ///
    /// Not by serde_json, whose quick reading may differ from the nearest number in the last bit.
    pub(super) fn number(&mut self, value: &'a str, path: Path<'_>) -> Option<f64> {
        self.expect(value, path, JsonType::Number)?;
        value.parse().ok()
    }

    /// The field `key` of an object; a fault where it is missing or null.
    pub(super) fn required(&mut self, object: &Object<'a, '_>, key: &str) -> Option<&'a str> {
        let value = object.get(key);
        if value.is_none() {
            self.fault(
                object.raw,
                Path::Key(&object.path, key),
                PlanFaultKind::Missing,
            );
        }
        value
    }

    fn expect(&mut self, value: &str, path: Path<'_>, expected: JsonType) -> Option<()> {
        let found = type_of(value);
        if found == expected {
            return Some(());
        }
        self.fault(value, path, PlanFaultKind::WrongType { expected, found });
        None
    }

    /// Line and column. Counts the characters of the line, so not for every value: a file may be one long line.
    fn place(&self, value: &str) -> (u32, u32) {
        let offset = self.offset(value);
        let line = self.line_at(offset);
        let column = self.text[self.line_starts[line - 1]..offset]
            .chars()
            .count()
            + 1;
        (count(line), count(column))
    }

    fn offset(&self, value: &str) -> usize {
        value
            .as_ptr()
            .addr()
            .saturating_sub(self.text.as_ptr().addr())
            .min(self.text.len())
    }

    fn line_at(&self, offset: usize) -> usize {
        self.line_starts.partition_point(|&start| start <= offset)
    }

    fn syntax_fault(&self, error: &serde_json::Error) -> PlanFault {
        // serde_json counts columns in bytes; a place inside a character (bad text) falls back to the bytes.
        let start = error
            .line()
            .checked_sub(1)
            .and_then(|line| self.line_starts.get(line))
            .copied()
            .unwrap_or(0);
        let before = self
            .text
            .get(start..start + error.column().saturating_sub(1));
        let column = before.map_or(error.column().max(1), |text| text.chars().count() + 1);
        let message = error.to_string();
        let message = message
            .rsplit_once(" at line ")
            .map_or(message.as_str(), |(what, _)| what)
            .to_owned();
        let kind = PlanFaultKind::NotJson { message };
        PlanFault {
            line: count(error.line().max(1)),
            column: count(column),
            path: String::new(),
            kind,
        }
    }
}

impl<'a> Object<'a, '_> {
    /// The value of `key`, nothing where it is missing or null.
    pub(super) fn get(&self, key: &str) -> Option<&'a str> {
        let field = self.fields.iter().find(|(name, _)| name == key);
        field
            .map(|(_, value)| *value)
            .filter(|value| type_of(value) != JsonType::Null)
    }
}

impl fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Path::Root => Ok(()),
            Path::Key(Path::Root, key) => f.write_str(key),
            Path::Key(parent, key) => write!(f, "{parent}.{key}"),
            Path::Item(parent, index) => write!(f, "{parent}[{index}]"),
        }
    }
}

/// A length or index; whatever comes from one file is below `u32::MAX`, since the file is.
pub(super) fn count(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}

/// A value as a message shows it.
pub(super) fn shown(text: &str) -> String {
    match text.char_indices().nth(SHOWN_CHARS_MAX) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

fn type_of(value: &str) -> JsonType {
    match value.as_bytes().first() {
        Some(b'{') => JsonType::Object,
        Some(b'[') => JsonType::List,
        Some(b'"') => JsonType::Text,
        Some(b't' | b'f') => JsonType::Boolean,
        Some(b'n') => JsonType::Null,
        _ => JsonType::Number,
    }
}

/// The fields of an object in their order, repeated keys included, which no map would keep.
struct Fields<'a>(Vec<(Cow<'a, str>, &'a str)>);

impl<'de: 'a, 'a> Deserialize<'de> for Fields<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct InOrder;
        impl<'de> Visitor<'de> for InOrder {
            type Value = Vec<(Cow<'de, str>, &'de str)>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut fields = Vec::new();
                while let Some((key, value)) = map.next_entry::<Key<'de>, &'de RawValue>()? {
                    fields.push((key.0, value.get()));
                }
                Ok(fields)
            }
        }
        deserializer.deserialize_map(InOrder).map(Fields)
    }
}

/// A key, borrowed from the file unless it has escapes.
#[derive(Deserialize)]
struct Key<'a>(#[serde(borrow)] Cow<'a, str>);
