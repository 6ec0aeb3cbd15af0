//! Attendees: the people whom tickets are for, and the documents by which they are told apart.

use super::ids::AttendeeId;
use serde::{Deserialize, Serialize};

/// Most entries of one customer's list.
pub const ATTENDEES_MAX: usize = 20;
/// Fewest characters of a name.
pub const NAME_CHARS_MIN: usize = 2;
/// Most characters of a name.
pub const NAME_CHARS_MAX: usize = 60;

/// Fewest letters and digits of a passport or another document.
const NUMBER_CHARS_MIN: usize = 5;
/// Most letters and digits of a passport or another document; ICAO Doc 9303 allows a passport nine, other papers have
/// more.
const NUMBER_CHARS_MAX: usize = 20;
/// Last characters of a number that its owner may see again.
const TAIL_CHARS: usize = 4;

/// What kind of document a person is known by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DocumentKind {
    /// Resident identity card of China, 18 characters (GB 11643-1999).
    ResidentCard,
    /// A passport of any country.
    Passport,
    /// Another official document with a number.
    Other,
}

impl DocumentKind {
    /// Every kind, the most usual first.
    pub const ALL: [Self; 3] = [Self::ResidentCard, Self::Passport, Self::Other];

    /// The word that forms and the database carry.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::ResidentCard => "resident_card",
            Self::Passport => "passport",
            Self::Other => "other",
        }
    }

    /// Reads [`DocumentKind::word`].
    #[must_use]
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.word() == word)
    }
}

/// A document as it was typed. It is never stored, sent on or logged: only its keyed hash and its tail are kept.
#[derive(Clone, PartialEq, Eq)]
pub struct Document {
    kind: DocumentKind,
    number: String,
}

impl std::fmt::Debug for Document {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Document")
            .field("kind", &self.kind)
            .finish_non_exhaustive()
    }
}

impl Document {
    /// Reads a number as people type it: spaces and hyphens are dropped, letters become capitals. None when it can't be a
    /// number of that kind.
    #[must_use]
    pub fn parse(kind: DocumentKind, text: &str) -> Option<Self> {
        let number: String = text
            .trim()
            .chars()
            .filter(|c| !matches!(c, ' ' | '-'))
            .map(|c| c.to_ascii_uppercase())
            .take(NUMBER_CHARS_MAX + 1)
            .collect();
        let good = match kind {
            DocumentKind::ResidentCard => is_resident_card(&number),
            DocumentKind::Passport | DocumentKind::Other => {
                (NUMBER_CHARS_MIN..=NUMBER_CHARS_MAX).contains(&number.len())
                    && number.bytes().all(|byte| byte.is_ascii_alphanumeric())
                    && number.bytes().any(|byte| byte.is_ascii_digit())
            }
        };
        good.then_some(Self { kind, number })
    }

    /// What kind it is.
    #[must_use]
    pub fn kind(&self) -> DocumentKind {
        self.kind
    }

    /// Its number: digits and capitals.
    #[must_use]
    pub fn number(&self) -> &str {
        &self.number
    }

    /// The last characters, by which its owner recognises it: at most four, and never more than a third of it.
    #[must_use]
    pub fn tail(&self) -> &str {
        let shown = TAIL_CHARS.min(self.number.len() / 3).max(1);
        &self.number[self.number.len() - shown..]
    }
}

/// Whether a number can be that of a resident identity card: area, date of birth, sequence, and the check character of
/// ISO 7064 MOD 11-2 that GB 11643-1999 puts last.
fn is_resident_card(number: &str) -> bool {
    const LENGTH: usize = 18;
    let (Some(digits), Some(check)) = (number.get(..LENGTH - 1), number.get(LENGTH - 1..)) else {
        return false;
    };
    if check.len() != 1 || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return false;
    }
    let part = |from: usize, to: usize| digits[from..to].parse::<u32>().unwrap_or(0);
    let (area, year, month, day) = (part(0, 2), part(6, 10), part(10, 12), part(12, 14));
    (11..=91).contains(&area)
        && (1800..=2200).contains(&year)
        && (1..=12).contains(&month)
        && (1..=days_of(year, month)).contains(&day)
        && check_character(digits) == check.chars().next()
}

fn days_of(year: u32, month: u32) -> u32 {
    let is_leap = year.is_multiple_of(4) && !year.is_multiple_of(100) || year.is_multiple_of(400);
    match month {
        2 if is_leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// ISO 7064 MOD 11-2: the character that makes the weighted sum 1 modulo 11; ten is written X.
fn check_character(digits: &str) -> Option<char> {
    // Each step doubles what came before and adds the digit, so that the first digit weighs 2^17.
    let sum = digits
        .bytes()
        .fold(0, |sum, byte| (sum + u32::from(byte - b'0')) * 2 % 11);
    match (12 - sum) % 11 {
        10 => Some('X'),
        value => char::from_digit(value, 10),
    }
}

/// A name as it stands on a ticket: no control characters, spaces put in order. None when it is too short or too long.
#[must_use]
pub fn checked_name(text: &str) -> Option<String> {
    if text.chars().any(char::is_control) {
        return None;
    }
    let name = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let good = (NAME_CHARS_MIN..=NAME_CHARS_MAX).contains(&name.chars().count())
        && name.chars().any(char::is_alphabetic);
    good.then_some(name)
}

/// A person whom the customer buys for, as the customer sees them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attendee {
    /// The entry.
    pub id: AttendeeId,
    /// The name on tickets.
    pub name: String,
    /// What kind of document the person is known by.
    pub document_kind: DocumentKind,
    /// The last characters of the document's number.
    pub document_tail: String,
}

impl Attendee {
    /// The document with all but its end hidden: `••••003X`.
    #[must_use]
    pub fn masked(&self) -> String {
        format!("••••{}", self.document_tail)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn card(text: &str) -> Option<Document> {
        Document::parse(DocumentKind::ResidentCard, text)
    }

    #[test]
    fn a_resident_card_is_read_when_its_date_and_check_character_fit() {
        // The example of GB 11643-1999, and others made by its rule.
        for (text, number) in [
            ("11010519491231002X", "11010519491231002X"),
            (" 110105 19491231 002x ", "11010519491231002X"),
            ("440524188001010014", "440524188001010014"),
        ] {
            assert_eq!(card(text).unwrap().number(), number, "{text}");
        }
        let faults = [
            ("110105194912310021", "another check character"),
            ("11010519491231003X", "one digit changed"),
            ("11010591491231002X", "two digits exchanged"),
            ("110105194913310021", "month 13"),
            ("110105194902300020", "30 February"),
            ("1101051949123100", "too short"),
            ("11010519491231002X1", "too long"),
            ("X1010519491231002X", "a letter in front"),
            ("", "nothing"),
            ("١١٠١٠٥١٩٤٩١٢٣١٠٠٢X", "digits of another script"),
        ];
        for (text, why) in faults {
            assert_eq!(card(text), None, "{why}");
        }
    }

    #[test]
    fn no_single_wrong_digit_of_a_resident_card_goes_unnoticed() {
        let right = "11010519491231002X";
        for place in 0..17 {
            for digit in '0'..='9' {
                let mut wrong = right.to_owned();
                wrong.replace_range(place..=place, &digit.to_string());
                assert!(wrong == right || card(&wrong).is_none(), "{wrong}");
            }
        }
    }

    #[test]
    fn a_leap_day_exists_in_leap_years_only() {
        let on = |date: &str| {
            let digits = format!("110105{date}002");
            card(&format!("{digits}{}", check_character(&digits).unwrap()))
        };
        assert!(on("20000229").is_some() && on("20040229").is_some());
        assert!(on("19000229").is_none() && on("20010229").is_none());
    }

    #[test]
    fn other_documents_are_letters_and_digits() {
        let other = |text| Document::parse(DocumentKind::Passport, text);
        assert_eq!(other(" e1234-5678 ").unwrap().number(), "E12345678");
        for text in [
            "",
            "1234",
            "ABCDEF",
            "E1234567;",
            "护照12345",
            &"1".repeat(21),
        ] {
            assert_eq!(other(text), None, "{text}");
        }
    }

    #[test]
    fn little_of_a_document_is_seen_again() {
        assert_eq!(card("11010519491231002X").unwrap().tail(), "002X");
        let short = Document::parse(DocumentKind::Other, "12345").unwrap();
        assert_eq!(short.tail(), "5");
        assert!(!format!("{short:?}").contains("12345"));
    }

    #[test]
    fn a_name_is_put_in_order_or_refused() {
        assert_eq!(checked_name("  Ann  Example ").unwrap(), "Ann Example");
        assert_eq!(checked_name("示例").unwrap(), "示例");
        for text in ["", " ", "A", "12345", "Ann\nExample", &"é".repeat(61)] {
            assert_eq!(checked_name(text), None, "{text:?}");
        }
    }

    #[test]
    fn kinds_come_back_from_their_words() {
        for kind in DocumentKind::ALL {
            assert_eq!(DocumentKind::from_word(kind.word()), Some(kind));
        }
        assert_eq!(DocumentKind::from_word("driving"), None);
    }
}
