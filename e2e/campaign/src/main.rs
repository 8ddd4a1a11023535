//! `campaign`: breaks a Lockscope in every way there is and prints what the judge says. See docs/campaign.md.
#![expect(clippy::print_stdout, reason = "it is a program for a terminal")]

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use clap::Parser;
use lockscope_campaign::fault::{Fault, Form};
use lockscope_campaign::mutants;
use lockscope_campaign::run::run;
use lockscope_campaign::table::{Row, alerts_markdown, joined, markdown};

/// Where the table stands in the document.
const TABLE: [&str; 2] = ["<!-- table -->\n", "<!-- end of table -->"];
/// Where that of alerts stands in its document.
const ALERTS_TABLE: [&str; 2] = ["<!-- table of alerts -->\n", "<!-- end of the table of alerts -->"];

/// Breaks a Lockscope in every way there is, and lets ZooKeeper's own transaction log say what was true.
#[derive(Debug, Parser)]
struct Cli {
    /// How many seeds each fault is thrown with.
    #[arg(long, default_value_t = 1)]
    seeds: u64,
    /// The first of them.
    #[arg(long, default_value_t = 1)]
    first_seed: u64,
    /// Only these faults.
    #[arg(long, value_delimiter = ',')]
    only: Vec<Fault>,
    /// Shorter faults, as in the tests.
    #[arg(long)]
    short: bool,
    /// The program; by default the one beside this.
    #[arg(long, env = "LOCKSCOPE_BIN")]
    program: Option<PathBuf>,
    /// Where the table is saved.
    #[arg(long, default_value = "target/campaign")]
    out: PathBuf,
    /// A document whose table is replaced.
    #[arg(long)]
    document: Option<PathBuf>,
    /// A document whose table of alerts is replaced.
    #[arg(long)]
    alerts_document: Option<PathBuf>,
    /// Throws nothing: joins the tables that campaigns with other seeds saved in these folders.
    #[arg(long, num_args = 1.., conflicts_with_all = ["only", "program", "short"])]
    join: Vec<PathBuf>,
    /// Nothing of that: whether the tests notice when a thing is taken out that the promise rests on. With names, these
    /// things alone.
    #[arg(long, exclusive = true, num_args = 0.., value_delimiter = ',', value_name = "NAME")]
    mutants: Option<Vec<String>>,
}

#[tokio::main]
async fn main() -> ExitCode {
    let cli = Cli::parse();
    if let Some(names) = &cli.mutants {
        return mutate(names);
    }
    if !cli.join.is_empty() {
        return match cli.join.iter().map(|folder| saved(folder)).collect::<Result<Vec<_>, _>>() {
            Ok(tables) => finish(&cli, &joined(tables)),
            Err(why) => {
                println!("{why}");
                ExitCode::FAILURE
            }
        };
    }
    let beside = || std::env::current_exe().ok().map(|own| own.with_file_name("lockscope"));
    let Some(program) = cli.program.clone().or_else(beside).filter(|program| program.exists()) else {
        println!("no lockscope to be broken: build it, or name it by --program or LOCKSCOPE_BIN");
        return ExitCode::FAILURE;
    };
    let faults = if cli.only.is_empty() { Fault::ALL } else { &cli.only };
    let form = if cli.short { Form::Short } else { Form::Long };
    println!("{} faults, {} seeds, {}", faults.len(), cli.seeds, program.display());
    let mut rows = Vec::new();
    for fault in faults {
        let mut row = Row::new(*fault);
        for seed in cli.first_seed..cli.first_seed + cli.seeds {
            let begin = Instant::now();
            let outcome = run(&program, *fault, seed, form).await;
            row.add(seed, &outcome);
            println!(
                "{:<20} seed {seed}: {} in {:.0?}",
                fault.name(),
                if outcome.is_clean() { "ok" } else { "WRONG" },
                begin.elapsed()
            );
        }
        for line in row.details.iter().chain(&row.notes) {
            println!("    {line}");
        }
        rows.push(row);
        // After each: a run that is ended early has its rows as well.
        if let Err(error) = save(&cli.out, &rows) {
            println!("{}: {error}", cli.out.display());
            return ExitCode::FAILURE;
        }
    }
    finish(&cli, &rows)
}

/// Prints the table, and puts it into the document.
fn finish(cli: &Cli, rows: &[Row]) -> ExitCode {
    let (table, alerts) = (markdown(rows), alerts_markdown(rows));
    println!("\n{table}\n{alerts}");
    let put = |document: &Option<PathBuf>, place, table: &str| {
        document.as_deref().map_or(Ok(()), |document| replace(document, place, table))
    };
    let placed = put(&cli.document, TABLE, &table).and_then(|()| put(&cli.alerts_document, ALERTS_TABLE, &alerts));
    if let Err(error) = placed.and_then(|()| save(&cli.out, rows)) {
        println!("{error}");
        return ExitCode::FAILURE;
    }
    if rows.iter().all(Row::is_clean) { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// The rows that a campaign saved in a folder.
fn saved(folder: &Path) -> Result<Vec<Row>, String> {
    let file = folder.join("table.json");
    let text = std::fs::read_to_string(&file).map_err(|error| format!("{}: {error}", file.display()))?;
    serde_json::from_str(&text).map_err(|error| format!("{} is no table of a campaign: {error}", file.display()))
}

fn mutate(names: &[String]) -> ExitCode {
    match mutants::run(names, |line| println!("{line}")) {
        Ok(rows) => {
            println!("\n{}", mutants::markdown(&rows));
            if rows.iter().all(mutants::MutationResult::is_red) { ExitCode::SUCCESS } else { ExitCode::FAILURE }
        }
        Err(why) => {
            println!("{why}");
            ExitCode::FAILURE
        }
    }
}

fn save(folder: &Path, rows: &[Row]) -> std::io::Result<()> {
    std::fs::create_dir_all(folder)?;
    std::fs::write(folder.join("table.md"), format!("{}\n{}", markdown(rows), alerts_markdown(rows)))?;
    std::fs::write(folder.join("table.json"), serde_json::to_string_pretty(rows)?)
}

fn replace(document: &Path, [begins, ends]: [&str; 2], table: &str) -> std::io::Result<()> {
    let text = std::fs::read_to_string(document)?;
    let parts =
        text.split_once(begins).and_then(|(before, rest)| rest.split_once(ends).map(|(_, after)| (before, after)));
    let Some((before, after)) = parts else { return Err(std::io::Error::other("it has no place for the table")) };
    std::fs::write(document, format!("{before}{begins}\n{table}\n{ends}{after}"))
}
