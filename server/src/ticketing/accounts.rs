//! Registering and signing in: passwords are hashed with argon2id, off the async threads, a few at a time.

use super::{Ticketing, failure::OrTell};
use crate::mysql::DbError;
use app::{
    domain::{
        time::{Millis, Timestamp},
        user::{PASSWORD_BYTES_MAX, PASSWORD_CHARS_MIN, Phone, Role, User},
    },
    error::{AppError, Field},
    ports::{SessionChange, Visitor},
};
use argon2::{
    Argon2,
    password_hash::{PasswordHasher, PasswordVerifier, phc::PasswordHash},
};
use moka::sync::Cache;
use std::{net::IpAddr, time::Duration};

/// How long a request waits for its turn to hash.
const TURN_WAIT_MAX: Duration = Duration::from_secs(1);
/// Failed attempts of one address or for one phone number within the window, after which further ones must wait.
const FAILURES_MAX: u32 = 10;
const FAILURE_WINDOW: Duration = Duration::from_secs(60);
const ATTEMPTS_KEPT: u64 = 100_000;

/// Failed attempts to sign in, lately.
pub struct LoginAttempts {
    by_address: Cache<IpAddr, u32>,
    by_phone: Cache<String, u32>,
}

impl Default for LoginAttempts {
    fn default() -> Self {
        fn cache<K: std::hash::Hash + Eq + Send + Sync + 'static>() -> Cache<K, u32> {
            Cache::builder()
                .max_capacity(ATTEMPTS_KEPT)
                .time_to_live(FAILURE_WINDOW)
                .build()
        }
        Self {
            by_address: cache(),
            by_phone: cache(),
        }
    }
}

impl LoginAttempts {
    fn is_too_many(&self, address: IpAddr, phone: &Phone) -> bool {
        let by_address = self.by_address.get(&address).unwrap_or(0);
        let by_phone = self.by_phone.get(phone.as_str()).unwrap_or(0);
        // Many customers may share an address.
        by_address >= FAILURES_MAX * 5 || by_phone >= FAILURES_MAX
    }

    fn note_failure(&self, address: IpAddr, phone: &Phone) {
        let failures = self.by_address.get(&address).unwrap_or(0);
        self.by_address.insert(address, failures + 1);
        let failures = self.by_phone.get(phone.as_str()).unwrap_or(0);
        self.by_phone
            .insert(phone.as_str().to_owned(), failures + 1);
    }
}

impl Ticketing {
    /// Makes an account; also what `seatflow seed` and `seatflow user` use.
    ///
    /// # Errors
    /// `Invalid`, `PhoneTaken`, `Busy` or `Internal`.
    pub async fn make_account(
        &self,
        phone: &str,
        password: &str,
        role: Role,
    ) -> Result<User, AppError> {
        let phone = Phone::parse(phone).ok_or(AppError::Invalid {
            field: Field::Phone,
        })?;
        if password.chars().count() < PASSWORD_CHARS_MIN || password.len() > PASSWORD_BYTES_MAX {
            return Err(AppError::Invalid {
                field: Field::Password,
            });
        }
        let hash = self.hashed(password.to_owned()).await?;
        match self
            .inner
            .db
            .insert_account(&phone, &hash, role, self.now())
            .await
        {
            Err(DbError::Duplicate { .. }) => Err(AppError::PhoneTaken),
            other => other.or_tell("make account"),
        }
    }

    /// Makes a customer's account and signs in.
    ///
    /// # Errors
    /// As [`Ticketing::make_account`].
    pub async fn register(&self, phone: &str, password: &str) -> Result<SessionChange, AppError> {
        let user = self.make_account(phone, password, Role::Customer).await?;
        let phone = Phone::parse(phone).ok_or(AppError::Invalid {
            field: Field::Phone,
        })?;
        Ok(self.inner.sessions.start(user, self.phone_hash(&phone)))
    }

    /// Signs in.
    ///
    /// # Errors
    /// `WrongCredentials` whichever is wrong, `Busy` after too many failures.
    pub async fn log_in(
        &self,
        visitor: &Visitor,
        phone: &str,
        password: &str,
    ) -> Result<SessionChange, AppError> {
        let Some(phone) = Phone::parse(phone) else {
            return Err(AppError::WrongCredentials);
        };
        let attempts = &self.inner.login_attempts;
        if attempts.is_too_many(visitor.ip, &phone) {
            metrics::counter!("seatflow_logins_total", "result" => "throttled").increment(1);
            let wait = u32::try_from(FAILURE_WINDOW.as_millis()).unwrap_or(u32::MAX);
            return Err(AppError::Busy {
                retry_after_ms: wait,
            });
        }
        let account = self
            .inner
            .db
            .account_by_phone(&phone)
            .await
            .or_tell("sign in")?;
        // An unknown phone costs as much time as a known one, so that answers don't tell which numbers are registered.
        let hash = account
            .as_ref()
            .map(|account| account.password_hash.clone());
        let fits = password.len() <= PASSWORD_BYTES_MAX
            && self.verified(password.to_owned(), hash).await?;
        match account.filter(|_| fits) {
            Some(account) => {
                metrics::counter!("seatflow_logins_total", "result" => "ok").increment(1);
                let phone_hash = self.phone_hash(&account.phone);
                Ok(self.inner.sessions.start(account.user, phone_hash))
            }
            None => {
                metrics::counter!("seatflow_logins_total", "result" => "wrong").increment(1);
                attempts.note_failure(visitor.ip, &phone);
                Err(AppError::WrongCredentials)
            }
        }
    }

    async fn hashed(&self, password: String) -> Result<String, AppError> {
        self.in_turn(move || hash_password(&password))
            .await?
            .ok_or_else(|| {
                super::Failure::Broken("password not hashed").into_app_error("make account")
            })
    }

    async fn verified(&self, password: String, hash: Option<String>) -> Result<bool, AppError> {
        self.in_turn(move || match hash {
            Some(hash) => PasswordHash::new(&hash).is_ok_and(|hash| {
                Argon2::default()
                    .verify_password(password.as_bytes(), &hash)
                    .is_ok()
            }),
            None => {
                let _ = Argon2::default().hash_password(password.as_bytes());
                false
            }
        })
        .await
    }

    /// Runs slow work on a blocking thread when its turn has come.
    async fn in_turn<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, AppError> {
        let busy = AppError::Busy {
            retry_after_ms: 1_000,
        };
        let turn = tokio::time::timeout(TURN_WAIT_MAX, self.inner.hashing.acquire());
        let Ok(Ok(_turn)) = turn.await else {
            return Err(busy);
        };
        tokio::task::spawn_blocking(work)
            .await
            .map_err(|_| super::Failure::Broken("hashing ended early").into_app_error("hash"))
    }
}

/// A password's argon2id hash in PHC form. Takes some tens of milliseconds of a core.
#[must_use]
pub fn hash_password(password: &str) -> Option<String> {
    Argon2::default()
        .hash_password(password.as_bytes())
        .map(|hash| hash.to_string())
        .ok()
}

/// How long a session lasts.
pub const SESSION_LASTS: Millis = Millis::minutes(60 * 24 * 7);

/// Whether a session that began at `issued` is still good.
#[must_use]
pub fn is_current(issued: Timestamp, now: Timestamp) -> bool {
    now >= issued - Millis::minutes(5) && now < issued + SESSION_LASTS
}
