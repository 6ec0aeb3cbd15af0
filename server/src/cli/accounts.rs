//! `seatflow user create`, and the accounts of a local run.

use crate::{
    mysql::{Db, DbError},
    ticketing::accounts::hash_password,
};
use anyhow::{Context, bail, ensure};
use app::domain::user::{PASSWORD_BYTES_MAX, PASSWORD_CHARS_MIN, Phone, Role};

/// The accounts of a local run.
const DEMO_ACCOUNTS: [(&str, Role); 2] = [
    ("13800000001", Role::Customer),
    ("13800000002", Role::Staff),
];

/// Makes the accounts of a local run, when `SEATFLOW_DEMO_PASSWORD` gives their password; says which there are.
///
/// # Errors
/// When the password is not acceptable or the database fails.
pub async fn demo_accounts(db: &Db) -> anyhow::Result<Vec<String>> {
    let Ok(password) = std::env::var("SEATFLOW_DEMO_PASSWORD") else {
        return Ok(Vec::new());
    };
    let mut lines = Vec::new();
    for (phone, role) in DEMO_ACCOUNTS {
        let known = Phone::parse(phone).context("a demo account's phone number")?;
        if db.account_by_phone(&known).await?.is_none() {
            make_account(db, phone, &password, role).await?;
        }
        lines.push(format!("{} account: {phone}", role.word()));
    }
    Ok(lines)
}

/// Makes an account.
///
/// # Errors
/// When phone or password are not acceptable, the phone is registered, or the database fails.
pub async fn make_account(db: &Db, phone: &str, password: &str, role: Role) -> anyhow::Result<()> {
    use crate::clock::{Clock, SystemClock};
    let phone = Phone::parse(phone).context("the phone number is not one")?;
    let length = password.chars().count();
    ensure!(
        length >= PASSWORD_CHARS_MIN && password.len() <= PASSWORD_BYTES_MAX,
        "a password has {PASSWORD_CHARS_MIN} to {PASSWORD_BYTES_MAX} characters"
    );
    let hash = hash_password(password).context("the password can't be hashed")?;
    match db
        .insert_account(&phone, &hash, role, SystemClock.now())
        .await
    {
        Err(DbError::Duplicate { .. }) => bail!("the phone number has an account"),
        other => other.map(|_| ()).context("the account was not made"),
    }
}
