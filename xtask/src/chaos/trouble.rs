//! Tables that refuse some orders for as long as a sale lasts, as after a change of them that nobody thought through.
//!
//! A trigger refuses them, made with the database's own client: nothing in the server knows of it.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result};

use super::stack::Stack;
use crate::command::{find_program, run_logged};

const TRIGGER: &str = "chaos_refusal";
/// One order in so many is refused: enough for every run, and few enough that the sale goes on.
const ONE_IN: u32 = 4;

/// What the tables refuse.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// The tickets of some orders, so that these can never be written.
    Creating,
    /// That some orders run out, so that their timeout messages fail.
    Expiring,
}

impl Trouble {
    /// The statement that makes the trigger. It goes by the order's number, so that what is refused once is always refused.
    fn statement(self) -> String {
        let (before, when) = match self {
            Self::Creating => ("INSERT ON order_item", "TRUE"),
            Self::Expiring => (
                "UPDATE ON orders",
                "NEW.status = 2 AND NEW.cancel_reason = 'timeout'",
            ),
        };
        format!(
            "CREATE TRIGGER {TRIGGER} BEFORE {before} FOR EACH ROW \
             IF {when} AND CRC32(NEW.order_no) % {ONE_IN} = 0 THEN \
             SIGNAL SQLSTATE '23000' SET MESSAGE_TEXT = 'refused to see what becomes of it'; END IF"
        )
    }
}

/// Tables that refuse. Whatever happens, they take everything again when this goes away.
pub struct Refusing {
    client: Client,
    is_over: bool,
}

impl Refusing {
    /// # Errors
    /// When the database's client is missing or fails.
    pub fn begin(stack: &Stack<'_>, trouble: Trouble) -> Result<Self> {
        let client = Client::new(stack)?;
        client.run(&trouble.statement())?;
        Ok(Self {
            client,
            is_over: false,
        })
    }

    /// Has the tables take everything again.
    ///
    /// # Errors
    /// When the client fails.
    pub fn end(mut self) -> Result<()> {
        self.is_over = true;
        self.client.drop_trigger()
    }
}

impl Drop for Refusing {
    fn drop(&mut self) {
        if !self.is_over
            && let Err(error) = self.client.drop_trigger()
        {
            eprintln!("the tables still refuse orders: {error:#}");
        }
    }
}

/// The client that came with the database.
struct Client {
    program: PathBuf,
    address: Address,
    log: PathBuf,
}

impl Client {
    fn new(stack: &Stack<'_>) -> Result<Self> {
        let program = find_program("mysql").or_else(|| find_program("mariadb"));
        Ok(Self {
            program: program
                .context("neither mysql nor mariadb, the database's client, is there")?,
            address: Address::read(&stack.database_url()).context("a database's address")?,
            log: stack.logs().join("tables.log"),
        })
    }

    fn drop_trigger(&self) -> Result<()> {
        self.run(&format!("DROP TRIGGER IF EXISTS {TRIGGER}"))
    }

    fn run(&self, statement: &str) -> Result<()> {
        let Address {
            user,
            password,
            host,
            port,
            database,
        } = &self.address;
        let mut command = Command::new(&self.program);
        command
            .args(["--no-defaults", "--protocol=tcp", "--delimiter=//"])
            .args(["--host", host, "--port", port, "--user", user])
            .args(["--execute", statement, database])
            // An argument could be read by every user of this machine.
            .env("MYSQL_PWD", password);
        run_logged(&mut command, &self.log)
    }
}

/// The parts of a database's address.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Address {
    user: String,
    password: String,
    host: String,
    port: String,
    database: String,
}

impl Address {
    /// Reads `mysql://USER:PASSWORD@HOST:PORT/DATABASE`.
    fn read(url: &str) -> Option<Self> {
        let (who, place) = url.strip_prefix("mysql://")?.rsplit_once('@')?;
        let (user, password) = who.split_once(':')?;
        let (server, database) = place.split_once('/')?;
        let (host, port) = server.rsplit_once(':')?;
        let database = database.split('?').next()?;
        let [user, password, host, port, database] =
            [user, password, host, port, database].map(str::to_owned);
        Some(Self {
            user,
            password,
            host,
            port,
            database,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_taken_apart_and_an_unfinished_one_is_none() {
        let url = "mysql://seatflow:a1b2@127.0.0.1:3391/chaos_s1?ssl-mode=disabled";
        let address = Address::read(url).unwrap();
        assert_eq!(address.user, "seatflow");
        assert_eq!(address.password, "a1b2");
        assert_eq!((&*address.host, &*address.port), ("127.0.0.1", "3391"));
        assert_eq!(address.database, "chaos_s1");
        for bad in ["redis://a:b@c:1/d", "mysql://c:1/d", "mysql://a:b@c:1"] {
            assert_eq!(Address::read(bad), None, "{bad}");
        }
    }

    #[test]
    fn orders_that_run_out_are_refused_and_those_that_customers_give_up_are_not() {
        let expiring = Trouble::Expiring.statement();
        assert!(expiring.contains("cancel_reason = 'timeout'"));
        assert!(expiring.contains("ON orders "));
        let creating = Trouble::Creating.statement();
        assert!(creating.contains("ON order_item "));
        assert!(!creating.contains("cancel_reason"));
    }
}
