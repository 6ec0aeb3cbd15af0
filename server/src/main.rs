//! The `seatflow` command.

use anyhow::Context;
use app::domain::{ids::ShowId, user::Role};
use clap::{Parser, Subcommand};
#[cfg(feature = "fail-points")]
use server::fault::{self, Point};
use server::{
    RunningGateway,
    cli::{
        accounts, plan, reconcile, seed,
        staff::{self, StaffAction},
    },
    clock::{Clock, SystemClock},
    config::{Config, GatewayProcessConfig, stores_from_env},
    mysql::Db,
    ticketing::rebuild::{RebuildError, Unsent},
};
use std::{path::PathBuf, process::ExitCode, sync::Arc};
use tracing_subscriber::{EnvFilter, layer::SubscriberExt, util::SubscriberInitExt};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Sells seats: never twice, never leaking one, never muddling the money.
#[derive(Parser)]
#[command(name = "seatflow", version)]
struct Command {
    #[command(subcommand)]
    action: Action,
}

#[derive(Subcommand)]
enum Action {
    /// Serve the shop, consume its messages and keep its deadlines.
    Serve {
        /// Bring the tables up to date first.
        #[arg(long)]
        migrate: bool,
    },
    /// Serve the simulated payment gateway apart from the shop (which is then told SEATFLOW_GATEWAY_APART=true).
    Gateway,
    /// Bring the database's tables up to date.
    Migrate,
    /// Load a catalogue: venues, halls with their plans, events, and shows around today. Twice changes nothing.
    Seed {
        /// The catalogue; its paths are relative to it.
        #[arg(long, default_value = "samples/catalogue.json")]
        catalogue: PathBuf,
    },
    /// Print the invariants of the live stores; exit code 1 when one is violated.
    Verify {
        /// As JSON.
        #[arg(long)]
        json: bool,
    },
    /// Bring stores together that have come apart: find, and repair. Take shows that are over out of Redis.
    Reconcile {
        /// Only print what would be done.
        #[arg(long)]
        dry_run: bool,
    },
    /// Read a show from the database into Redis again, once Kafka has every accepted order of it.
    Rebuild {
        /// The show's number.
        show: ShowId,
        /// Do not wait: orders that only Redis knows are lost, and their buyers are told so.
        #[arg(long)]
        lose_unsent: bool,
    },
    #[command(flatten)]
    Staff(StaffAction),
    /// List the fail points: name, area, and what is done and what is not.
    #[cfg(feature = "fail-points")]
    #[command(hide = true)]
    FailPoints,
    /// Work with seating plans.
    #[command(subcommand)]
    Plan(PlanAction),
    /// Work with accounts.
    #[command(subcommand)]
    User(UserAction),
}

#[derive(Subcommand)]
enum PlanAction {
    /// Check plans and name every fault, one a line; exit code 1 when there is one.
    Check {
        /// Seating plans in the pretix format.
        #[arg(required = true)]
        files: Vec<PathBuf>,
    },
    /// Put a plan into a hall as its newest version; shows that exist keep theirs.
    Import {
        /// The hall: its number, or the key it was seeded with.
        #[arg(long)]
        hall: String,
        /// A seating plan in the pretix format.
        file: PathBuf,
    },
}

#[derive(Subcommand)]
enum UserAction {
    /// Make an account; the password is read from the environment variable SEATFLOW_NEW_PASSWORD.
    Create {
        /// Phone number.
        #[arg(long)]
        phone: String,
        /// customer, staff or admin.
        #[arg(long, value_parser = |word: &str| Role::from_word(word).ok_or("customer, staff or admin"))]
        role: Role,
    },
}

fn main() -> ExitCode {
    let command = Command::parse();
    if let Action::Plan(PlanAction::Check { files }) = &command.action {
        return plan::check(files);
    }
    start_log();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        // Rendering pages blocks a thread now and then; fewer than four of them can starve the rest.
        .worker_threads(std::thread::available_parallelism().map_or(4, |cores| cores.get().max(4)))
        .enable_all()
        .build();
    let outcome = match runtime {
        Ok(runtime) => runtime.block_on(run(command.action)),
        Err(error) => Err(error.into()),
    };
    outcome.unwrap_or_else(|error| {
        eprintln!("seatflow: {}", one_message(&error));
        ExitCode::FAILURE
    })
}

/// The error and its causes, without repeating what a cause says again.
fn one_message(error: &anyhow::Error) -> String {
    let mut message = error.to_string();
    for cause in error.chain().skip(1) {
        let cause = cause.to_string();
        if !message.contains(&cause) {
            message.push_str(if message.ends_with('?') {
                " It says: "
            } else {
                ": "
            });
            message.push_str(&cause);
        }
    }
    message
}

fn start_log() {
    let filter = EnvFilter::try_from_env("SEATFLOW_LOG").unwrap_or_else(|_| EnvFilter::new("info"));
    let is_json = std::env::var("SEATFLOW_LOG_FORMAT").is_ok_and(|format| format == "json");
    let registry = tracing_subscriber::registry().with(filter);
    if is_json {
        registry
            .with(
                tracing_subscriber::fmt::layer()
                    .json()
                    .with_writer(std::io::stderr),
            )
            .init();
    } else {
        registry
            .with(tracing_subscriber::fmt::layer().with_writer(std::io::stderr))
            .init();
    }
}

async fn run(action: Action) -> anyhow::Result<ExitCode> {
    #[cfg(feature = "fail-points")]
    fault::arm_from_env()?;
    match action {
        Action::Serve { migrate } => serve(migrate).await,
        Action::Gateway => serve_gateway().await,
        Action::Migrate => {
            Db::ensure_database(&stores_from_env()?.database_url)
                .await
                .context("the database can't be used: is it running, and is DATABASE_URL right?")?;
            database()
                .await?
                .migrate()
                .await
                .context("the tables were not brought up to date")?;
            println!("The tables are up to date.");
            Ok(ExitCode::SUCCESS)
        }
        Action::Seed { catalogue } => {
            let report = seed::seed(&database().await?, &catalogue, SystemClock.now()).await?;
            println!("{report}");
            for line in accounts::demo_accounts(&database().await?).await? {
                println!("{line}");
            }
            Ok(ExitCode::SUCCESS)
        }
        Action::Verify { json } => verify(json).await,
        Action::Reconcile { dry_run } => reconcile(dry_run).await,
        Action::Rebuild { show, lose_unsent } => {
            let unsent = if lose_unsent {
                Unsent::Lose
            } else {
                Unsent::Await
            };
            rebuild(show, unsent).await
        }
        Action::Staff(action) => {
            let ticketing = server::look(&Config::from_env()?, Arc::new(SystemClock)).await?;
            println!("{}", staff::run(&ticketing, action).await?);
            Ok(ExitCode::SUCCESS)
        }
        #[cfg(feature = "fail-points")]
        Action::FailPoints => {
            for point in Point::ALL {
                println!(
                    "{}\t{}\t{}",
                    point.name(),
                    point.area().word(),
                    point.between()
                );
            }
            Ok(ExitCode::SUCCESS)
        }
        Action::Plan(PlanAction::Check { files }) => Ok(plan::check(&files)),
        Action::Plan(PlanAction::Import { hall, file }) => {
            let line =
                seed::import_plan(&database().await?, &hall, &file, SystemClock.now()).await?;
            println!("{line}");
            Ok(ExitCode::SUCCESS)
        }
        Action::User(UserAction::Create { phone, role }) => {
            let password = std::env::var("SEATFLOW_NEW_PASSWORD")
                .context("SEATFLOW_NEW_PASSWORD is missing: the new account's password")?;
            accounts::make_account(&database().await?, &phone, &password, role).await?;
            println!("The account is made.");
            Ok(ExitCode::SUCCESS)
        }
    }
}

async fn database() -> anyhow::Result<Db> {
    let stores = stores_from_env()?;
    Db::connect(&stores)
        .await
        .context("the database can't be used: is it running, and is DATABASE_URL right?")
}

async fn serve(migrate: bool) -> anyhow::Result<ExitCode> {
    let config = Config::from_env()?;
    if migrate {
        database()
            .await?
            .migrate()
            .await
            .context("the tables were not brought up to date")?;
    }
    let running = server::build(config, Arc::new(SystemClock)).await?;
    tracing::info!(address = %running.address, "serving");
    stop_signal().await;
    tracing::info!("stopping");
    running.stop().await;
    Ok(ExitCode::SUCCESS)
}

async fn serve_gateway() -> anyhow::Result<ExitCode> {
    let config = GatewayProcessConfig::from_env()?;
    let running = RunningGateway::start(config, Arc::new(SystemClock)).await?;
    tracing::info!(address = %running.address, "the gateway serves");
    stop_signal().await;
    tracing::info!("stopping");
    running.stop().await;
    Ok(ExitCode::SUCCESS)
}

async fn stop_signal() {
    use tokio::signal::unix::{SignalKind, signal};
    let terminated = async {
        match signal(SignalKind::terminate()) {
            Ok(mut signal) => {
                signal.recv().await;
            }
            Err(_) => std::future::pending().await,
        }
    };
    tokio::select! {
        _ = tokio::signal::ctrl_c() => {}
        () = terminated => {}
    }
}

async fn reconcile(dry_run: bool) -> anyhow::Result<ExitCode> {
    let ticketing = server::look(&Config::from_env()?, Arc::new(SystemClock)).await?;
    let text = if dry_run {
        reconcile::plan(&ticketing).await?
    } else {
        let done = reconcile::reconcile(&ticketing).await?;
        done.context("another server is reconciling")?
    };
    println!("{text}");
    Ok(ExitCode::SUCCESS)
}

async fn rebuild(show: ShowId, unsent: Unsent) -> anyhow::Result<ExitCode> {
    let ticketing = server::look(&Config::from_env()?, Arc::new(SystemClock)).await?;
    let outcome = ticketing.rebuild_show(show, unsent).await;
    if matches!(outcome, Err(RebuildError::Unsent(_))) {
        outcome.context("nothing was touched; --lose-unsent goes on without them")?;
    } else {
        outcome?;
    }
    println!("Show {show} was read from the database.");
    Ok(ExitCode::SUCCESS)
}

async fn verify(json: bool) -> anyhow::Result<ExitCode> {
    let config = Config::from_env()?;
    let evidence = server::look(&config, Arc::new(SystemClock))
        .await?
        .verify()
        .await?;
    if json {
        println!("{}", serde_json::to_string_pretty(&evidence)?);
    } else {
        print!("{}", evidence.table());
    }
    Ok(if evidence.is_clean() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}
