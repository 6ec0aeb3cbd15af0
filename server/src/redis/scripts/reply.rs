//! A script's answer: a word and a list.

use super::ScriptPair;
use crate::redis::RedisError;
use ::redis::{Value, from_redis_value};
use std::str::FromStr;

pub(super) struct Reply {
    script: &'static str,
    word: &'static str,
    list: Vec<Value>,
}

impl Reply {
    /// Takes an answer apart; a word that the script's header does not name is an error.
    pub fn read(pair: &'static ScriptPair, value: Value) -> Result<Self, RedisError> {
        let unexpected = |found: String| RedisError::UnexpectedReply {
            command: pair.name,
            found,
        };
        let (found, list): (String, Vec<Value>) =
            from_redis_value(value).map_err(|error| unexpected(error.to_string()))?;
        let word = pair.replies.iter().find(|word| **word == found);
        let word = word.ok_or_else(|| unexpected(format!("the word {found:?}")))?;
        Ok(Self {
            script: pair.name,
            word,
            list,
        })
    }

    pub fn word(&self) -> &'static str {
        self.word
    }

    /// The error for a word that its pair does not expect.
    pub fn unknown(&self) -> RedisError {
        self.unexpected(format!("the word {:?}", self.word))
    }

    /// The value at a place of the list, read as text.
    pub fn parsed<T: FromStr>(&self, place: usize) -> Result<T, RedisError> {
        self.list
            .get(place)
            .and_then(parse)
            .ok_or_else(|| self.misshapen(place))
    }

    /// Every value of the list, read as text.
    pub fn all<T: FromStr>(&self) -> Result<Vec<T>, RedisError> {
        let values = self.list.iter().enumerate();
        values
            .map(|(place, value)| parse(value).ok_or_else(|| self.misshapen(place)))
            .collect()
    }

    /// The bytes at a place of the list.
    pub fn bytes(&self, place: usize) -> Result<&[u8], RedisError> {
        match self.list.get(place) {
            Some(Value::BulkString(bytes)) => Ok(bytes),
            _ => Err(self.misshapen(place)),
        }
    }

    /// The error for a value at a place of the list that is not of its kind.
    pub fn misshapen(&self, place: usize) -> RedisError {
        self.unexpected(format!(
            "{:?} with an unusable value at place {place}",
            self.word
        ))
    }

    fn unexpected(&self, found: String) -> RedisError {
        RedisError::UnexpectedReply {
            command: self.script,
            found,
        }
    }
}

fn parse<T: FromStr>(value: &Value) -> Option<T> {
    match value {
        Value::Int(number) => number.to_string().parse().ok(),
        Value::BulkString(bytes) => std::str::from_utf8(bytes).ok()?.parse().ok(),
        _ => None,
    }
}
