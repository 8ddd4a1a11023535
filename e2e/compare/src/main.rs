//! `compare`: Lockscope beside its peers. Each runs alone with the same load, one after the other in every round; what
//! each of them costs is printed beside the goal, *met* or *missed*, and saved. docs/performance.md carries the table.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a tool for a terminal: what it made itself it takes for granted, and it fails by panicking"
)]

mod load;
mod measure;
mod peer;
mod process;
mod table;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use clap::{Parser, Subcommand};
use measure::{Measure, Setup};
use peer::Peer;
use table::Row;

/// Lockscope beside its peers, each alone with the same load.
#[derive(Debug, Parser)]
struct Cli {
    /// Only these measures.
    #[arg(long, value_enum, value_delimiter = ',')]
    only: Vec<Measure>,
    /// How many times each is measured, peer after peer.
    #[arg(long, default_value_t = 3)]
    rounds: usize,
    /// How long a load lasts, in seconds.
    #[arg(long, default_value_t = 10)]
    seconds: u64,
    /// Changes a second of loads that go on.
    #[arg(long, value_delimiter = ',', default_values_t = [1_000, 15_000])]
    rates: Vec<u32>,
    /// The program; by default the one beside this.
    #[arg(long, env = "LOCKSCOPE_BIN")]
    program: Option<PathBuf>,
    /// Where the table is saved.
    #[arg(long, default_value = "target/compare")]
    out: PathBuf,
    #[command(subcommand)]
    part: Option<Part>,
}

/// What this program does as one of its own peers.
#[derive(Debug, Subcommand)]
enum Part {
    /// Watches a tree and counts what is created and deleted.
    #[command(hide = true)]
    Watch {
        /// As which peer.
        peer: Peer,
        /// Where ZooKeeper is.
        connect: String,
        /// The root of the tree.
        root: String,
    },
    /// Sends each line of standard input to all who are connected.
    #[command(hide = true)]
    Broadcast,
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    match &cli.part {
        Some(Part::Watch { peer, connect, root }) => return peer::watch(*peer, connect, root),
        Some(Part::Broadcast) => {
            peer::broadcast::serve();
            return ExitCode::SUCCESS;
        }
        None => {}
    }
    let beside = || std::env::current_exe().ok().map(|own| own.with_file_name("lockscope"));
    let Some(program) = cli.program.clone().or_else(beside).filter(|program| program.exists()) else {
        println!("no lockscope to be compared: build it, or name it by --program or LOCKSCOPE_BIN");
        return ExitCode::FAILURE;
    };
    let lasting = Duration::from_secs(cli.seconds.max(1));
    let rates = cli.rates.iter().map(|rate| (*rate).max(1)).collect();
    let setup = Setup { program, rounds: cli.rounds.max(1), lasting, rates };
    let measures = if cli.only.is_empty() { Measure::ALL } else { &cli.only };
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let mut rows = Vec::new();
    for measure in measures {
        for row in runtime.block_on(measure.run(&setup)) {
            println!("{row}");
            rows.push(row);
        }
        // After each: a run that is ended early has its rows as well.
        if let Err(error) = save(&cli.out, &rows) {
            println!("{}: {error}", cli.out.display());
            return ExitCode::FAILURE;
        }
    }
    println!("\n{}", table::markdown(&rows));
    println!("saved in {}", cli.out.display());
    ExitCode::SUCCESS
}

fn save(folder: &Path, rows: &[Row]) -> std::io::Result<()> {
    std::fs::create_dir_all(folder)?;
    std::fs::write(folder.join("table.md"), table::markdown(rows))?;
    std::fs::write(folder.join("table.json"), serde_json::to_string_pretty(rows)?)
}
