//! Accounts.

use super::{Db, DbError};
use app::domain::{
    ids::UserId,
    time::Timestamp,
    user::{Phone, Role, User},
};

/// An account with what is needed to check its password.
#[derive(Debug, Clone)]
pub struct Account {
    /// Who it is.
    pub user: User,
    /// Its phone number.
    pub phone: Phone,
    /// Its password's hash in PHC form.
    pub password_hash: String,
}

#[derive(sqlx::FromRow)]
struct AccountRow {
    id: u64,
    phone: String,
    password_hash: String,
    role: String,
    level: u8,
}

impl TryFrom<AccountRow> for Account {
    type Error = DbError;
    fn try_from(row: AccountRow) -> Result<Self, DbError> {
        let phone = Phone::parse(&row.phone).ok_or(DbError::Unreadable {
            what: "account.phone",
        })?;
        let role = Role::from_word(&row.role).ok_or(DbError::Unreadable {
            what: "account.role",
        })?;
        let user = User {
            id: UserId(row.id),
            role,
            level: row.level,
            phone_hint: phone.hint(),
        };
        Ok(Self {
            user,
            phone,
            password_hash: row.password_hash,
        })
    }
}

const ACCOUNT: &str = "SELECT id, phone, password_hash, role, level FROM account";

impl Db {
    /// Makes an account.
    ///
    /// # Errors
    /// [`DbError::Duplicate`] when the phone number has one.
    pub async fn insert_account(
        &self,
        phone: &Phone,
        password_hash: &str,
        role: Role,
        now: Timestamp,
    ) -> Result<User, DbError> {
        let done = sqlx::query(
            "INSERT INTO account (phone, password_hash, role, created_at) VALUES (?, ?, ?, ?)",
        )
        .bind(phone.as_str())
        .bind(password_hash)
        .bind(role.word())
        .bind(now.0)
        .execute(self.pool())
        .await?;
        Ok(User {
            id: UserId(done.last_insert_id()),
            role,
            level: 0,
            phone_hint: phone.hint(),
        })
    }

    /// The account of a phone number.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn account_by_phone(&self, phone: &Phone) -> Result<Option<Account>, DbError> {
        let row = sqlx::query_as::<_, AccountRow>(sqlx::AssertSqlSafe(format!(
            "{ACCOUNT} WHERE phone = ?"
        )))
        .bind(phone.as_str())
        .fetch_optional(self.pool())
        .await?;
        row.map(Account::try_from).transpose()
    }

    /// An account by its id.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn account(&self, id: UserId) -> Result<Option<Account>, DbError> {
        let row =
            sqlx::query_as::<_, AccountRow>(sqlx::AssertSqlSafe(format!("{ACCOUNT} WHERE id = ?")))
                .bind(id.0)
                .fetch_optional(self.pool())
                .await?;
        row.map(Account::try_from).transpose()
    }
}
