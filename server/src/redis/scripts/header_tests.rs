//! Keeps every script's header, its code and its pair equal.

use super::{
    ScriptPair, block, confirm, free_sold, give_standing, hold, load, load_standing, release,
    renew, restore, seats, sell_standing, set_counters, set_standing_capacity, set_terms,
    take_standing, unload, unload_standing,
};
use std::{collections::BTreeSet, fs, path::Path};

const PAIRS: &[&ScriptPair] = &[
    &block::PAIR,
    &confirm::PAIR,
    &free_sold::PAIR,
    &give_standing::PAIR,
    &hold::PAIR,
    &load::PAIR,
    &load_standing::PAIR,
    &release::PAIR,
    &renew::PAIR,
    &restore::PAIR,
    &seats::PAIR,
    &sell_standing::PAIR,
    &set_counters::PAIR,
    &set_standing_capacity::PAIR,
    &set_terms::PAIR,
    &take_standing::PAIR,
    &unload::PAIR,
    &unload_standing::PAIR,
];

/// What a header says, read as lua/README.md describes it.
#[derive(Debug, Default, PartialEq)]
struct Header {
    name: String,
    keys: Vec<String>,
    arguments: Vec<String>,
    repeated: Vec<String>,
    replies: Vec<String>,
    has_invariant: bool,
}

impl Header {
    fn read(source: &str) -> Self {
        let mut lines = source.lines();
        let first = lines.next().unwrap_or_default();
        assert!(
            first == "#!lua" || first == "#!lua flags=no-writes",
            "first line: {first}"
        );
        let mut header = Self::default();
        let mut section = "";
        for line in lines.map_while(|line| line.strip_prefix("--")) {
            match line.trim() {
                "KEYS" | "ARGV" | "REPLIES" => section = line.trim(),
                "" => {}
                text if section.is_empty() => {
                    if header.name.is_empty() {
                        header.name = text.split(':').next().unwrap_or_default().to_owned();
                    }
                }
                text if text.starts_with("INVARIANT: ") => {
                    header.has_invariant = true;
                    section = "INVARIANT";
                }
                text => header.read_entry(section, text),
            }
        }
        header
    }

    fn read_entry(&mut self, section: &str, text: &str) {
        let mut words = text.split_whitespace().map(str::to_owned);
        let mut next = || {
            words
                .next()
                .unwrap_or_else(|| panic!("entry too short: {text}"))
        };
        match section {
            "KEYS" => {
                assert_eq!(next(), (self.keys.len() + 1).to_string(), "{text}");
                self.keys.push(next());
            }
            "ARGV" => match next().as_str() {
                "*" => self.repeated.push(next()),
                place => {
                    assert_eq!(place, (self.arguments.len() + 1).to_string(), "{text}");
                    assert!(
                        self.repeated.is_empty(),
                        "a numbered argument after a repeated one"
                    );
                    self.arguments.push(next());
                }
            },
            "REPLIES" => self.replies.push(next()),
            _ => {}
        }
        assert!(
            section == "INVARIANT" || words.next().is_some(),
            "not described: {text}"
        );
    }
}

/// Every place at which the code reads `list` by a number.
fn places(code: &str, list: &str) -> BTreeSet<usize> {
    code.split(&format!("{list}["))
        .skip(1)
        .filter_map(|rest| rest.split(']').next()?.parse().ok())
        .collect()
}

fn code(source: &str) -> String {
    source
        .lines()
        .filter(|line| !line.starts_with("--"))
        .collect::<Vec<_>>()
        .join("\n")
}

#[test]
fn every_header_says_what_its_pair_sends_and_expects() {
    for pair in PAIRS {
        let header = Header::read(pair.source);
        let owned = |words: &[&str]| {
            words
                .iter()
                .map(|word| (*word).to_owned())
                .collect::<Vec<_>>()
        };
        let show_keys = pair.show_keys.iter().map(|key| key.word().to_owned());
        let expected = Header {
            name: pair.name.to_owned(),
            keys: show_keys.chain(owned(pair.other_keys)).collect(),
            arguments: owned(pair.arguments),
            repeated: owned(pair.repeated),
            replies: owned(pair.replies),
            has_invariant: true,
        };
        assert_eq!(header, expected, "lua/{}.lua", pair.name);
    }
}

#[test]
fn every_script_answers_exactly_the_words_of_its_header() {
    for pair in PAIRS {
        let code = code(pair.source);
        let answered: BTreeSet<&str> = code
            .split("return { '")
            .skip(1)
            .filter_map(|rest| rest.split('\'').next())
            .collect();
        let promised: BTreeSet<&str> = pair.replies.iter().copied().collect();
        assert_eq!(answered, promised, "lua/{}.lua", pair.name);
    }
}

#[test]
fn every_script_reads_no_key_and_no_argument_beyond_its_header() {
    for pair in PAIRS {
        let code = code(pair.source);
        let keys = pair.show_keys.len() + pair.other_keys.len();
        assert!(
            places(&code, "KEYS")
                .iter()
                .all(|place| (1..=keys).contains(place)),
            "{}",
            pair.name
        );
        let arguments = places(&code, "ARGV");
        assert!(
            arguments.iter().all(|place| *place <= pair.arguments.len()),
            "{}",
            pair.name
        );
    }
}

#[test]
fn every_script_file_has_its_pair() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../lua");
    let files: BTreeSet<String> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter_map(|name| name.strip_suffix(".lua").map(str::to_owned))
        .collect();
    let pairs: BTreeSet<String> = PAIRS.iter().map(|pair| pair.name.to_owned()).collect();
    assert_eq!(files, pairs);
}
