//! The secrets of this copy of the repository, made once and kept in `.run/secrets.env`.

use std::fs::File;
use std::io::Read;

use anyhow::{Context, Result};

use crate::settings_file::Settings;
use crate::workspace::Workspace;

/// Letters and digits that nobody mistakes for one another, since the demo password is typed from the screen.
const ALPHABET: &[u8; 32] = b"abcdefghijkmnpqrstuvwxyz23456789";

/// Each secret, with its length in characters of 5 bits.
const SECRETS: [(&str, usize); 5] = [
    ("SEATFLOW_SESSION_SECRET", 52),
    ("SEATFLOW_ATTENDEE_SECRET", 52),
    ("SEATFLOW_GATEWAY_SECRET", 52),
    ("SEATFLOW_DEMO_PASSWORD", 12),
    (DATABASE_PASSWORD, 32),
];
const DATABASE_PASSWORD: &str = "DATABASE_PASSWORD";
const DEMO_PASSWORD: &str = "SEATFLOW_DEMO_PASSWORD";

/// The secrets, all present.
#[derive(Clone, Debug)]
pub struct Secrets {
    settings: Settings,
}

impl Secrets {
    /// Reads the secrets and adds those that are missing. One that is there is never changed: sessions and the
    /// database's user depend on it.
    ///
    /// # Errors
    /// When the file cannot be read or written, or there is no randomness.
    pub fn load(workspace: &Workspace) -> Result<Self> {
        let file = workspace.state().join("secrets.env");
        let mut settings = Settings::read(&file)?;
        let known = settings.clone();
        for (name, length) in SECRETS {
            if settings.get(name).is_none_or(str::is_empty) {
                settings.set(name, &random_word(length)?);
            }
        }
        if settings != known {
            settings.write(&file)?;
        }
        Ok(Self { settings })
    }

    pub fn database_password(&self) -> &str {
        self.settings.get(DATABASE_PASSWORD).unwrap_or_default()
    }

    /// The password of the two accounts that the seed creates; one given by the environment is used instead.
    pub fn demo_password(&self) -> String {
        std::env::var(DEMO_PASSWORD).unwrap_or_else(|_| {
            self.settings
                .get(DEMO_PASSWORD)
                .unwrap_or_default()
                .to_owned()
        })
    }

    /// What the server is told, except for what the environment says already.
    pub fn for_server(&self) -> impl Iterator<Item = (&str, &str)> {
        self.settings
            .iter()
            .filter(|(name, _)| name.starts_with("SEATFLOW_") && std::env::var_os(name).is_none())
    }
}

/// A random word of `length` characters, 5 bits each.
///
/// # Errors
/// When `/dev/urandom` cannot be read.
pub fn random_word(length: usize) -> Result<String> {
    Ok(random_bytes(length)?
        .into_iter()
        // 256 is a multiple of 32, so each letter is as likely as any other.
        .map(|byte| char::from(ALPHABET[usize::from(byte) % ALPHABET.len()]))
        .collect())
}

/// # Errors
/// When `/dev/urandom` cannot be read.
pub fn random_bytes(count: usize) -> Result<Vec<u8>> {
    let mut bytes = vec![0; count];
    File::open("/dev/urandom")
        .and_then(|mut source| source.read_exact(&mut bytes))
        .context("could not read /dev/urandom")?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_random_words_differ_and_have_the_length_asked_for() {
        let (one, other) = (random_word(52).unwrap(), random_word(52).unwrap());
        assert_eq!(one.len(), 52);
        assert_ne!(one, other);
        assert!(one.bytes().all(|byte| ALPHABET.contains(&byte)));
    }

    #[test]
    fn the_servers_secrets_are_long_enough_for_it() {
        // The server refuses a session or gateway secret below 32 bytes.
        for (name, length) in SECRETS {
            assert!(!name.ends_with("_SECRET") || length >= 32, "{name}");
        }
    }
}
