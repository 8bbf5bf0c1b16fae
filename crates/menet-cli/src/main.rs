//! The `menet` command.

mod allocator;
mod args;
mod commands;
mod failure;
mod overwrite;
mod progress;
mod regression;
mod signals;
mod text;

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};

use failure::Failure;
use menet_io::formulas;
use progress::ProgressLine;

/// Sparse, supervised, linear dimension reduction: which variables make which axis.
#[derive(Debug, Parser)]
#[command(name = "menet", version, after_help = AFTER)]
struct Menet {
    #[command(subcommand)]
    command: Option<Command>,
    /// Number of threads; 0 = all cores. The results do not depend on it.
    #[arg(long, global = true, default_value_t = 0, value_name = "N")]
    threads: usize,
    /// Print results only.
    #[arg(short, long, global = true)]
    quiet: bool,
    /// Print more: the seconds of every stage.
    #[arg(short, long, global = true, conflicts_with = "quiet")]
    verbose: bool,
    /// Print one JSON object instead of text.
    #[arg(long, global = true)]
    json: bool,
}

const AFTER: &str = "Start with:\n  menet demo\n  menet fit --data orl --nonzeros 100 --model faces.safetensors\n  \
                     menet inspect --model faces.safetensors --component 1";

/// What `menet` says to those who give it nothing to do.
const FIRST: &str = "\
menet finds the few variables that tell classes apart, and the axes that they make.

  menet demo           40 people, recognised from a few pixels: rates and pictures in a second or two
  menet demo --genes   three kinds of leukaemia, told apart by a few of 5,000 genes
  menet fit            learn from a table (CSV, Parquet, Arrow, NumPy, MATLAB, ...) or a folder of images
  menet validate       how good a model is on samples it has not seen, with a report to open in a browser
  menet predict        the classes of new samples; menet inspect shows which variables decide

Start with your own table:  menet fit --data table.csv --label COLUMN --model model.safetensors
All commands: menet --help. Options and examples of one: menet fit --help.";

#[derive(Debug, Subcommand)]
enum Command {
    Fit(commands::fit::Fit),
    Transform(commands::transform::Transform),
    Predict(commands::predict::Predict),
    Split(commands::split::Split),
    Inspect(commands::inspect::Inspect),
    Path(commands::path::Path),
    Params(commands::params::Params),
    Evaluate(commands::evaluate::Evaluate),
    Tune(commands::tune::Tune),
    Validate(commands::validate::Validate),
    Export(commands::export::Export),
    Data(commands::data::Data),
    Demo(commands::demo::Demo),
    Completions(commands::manual::Completions),
    Man(commands::manual::Man),
}

/// What every command needs to know.
struct Context {
    json: bool,
    /// Print no lines about what was done: `--quiet`, or `--json`, whose one object says it.
    quiet: bool,
    /// Print no notices either: `--quiet`.
    silent: bool,
    verbose: bool,
    watch: ProgressLine,
}

impl Context {
    /// Prints a line about what was done, unless the user asked for quiet.
    fn say(&self, line: impl std::fmt::Display) -> Result<(), Failure> {
        if self.quiet { Ok(()) } else { text::print(line) }
    }

    /// Says of names in a file of data that a spreadsheet would take some for formulas.
    fn notice_formulas<'a>(&self, path: &std::path::Path, names: impl IntoIterator<Item = &'a String>) {
        if let Some(warning) = formulas::notice(path, formulas::count(names)) {
            self.notice(warning);
        }
    }

    /// Prints a line on standard error about something doubtful, also with `--json`; only `--quiet` silences it.
    fn notice(&self, line: impl std::fmt::Display) {
        if !self.silent {
            text::complain(format_args!("note: {line}"));
        }
    }
}

/// The command. `menet data --help` shows all options of reading, which other commands hide.
fn command() -> clap::Command {
    Menet::command().mut_subcommand("data", |data| data.mut_args(|option| option.hide(false)))
}

fn main() {
    allocator::share_limited_space();
    // If a decoder panics on a damaged file, only the error is printed, not the panic.
    let default_hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if !menet_io::guard::expected() {
            default_hook(panic);
        }
    }));
    let menet = Menet::from_arg_matches(&command().get_matches()).unwrap_or_else(|error| error.exit());
    let outcome = run(menet);
    signals::take_over();
    let code = match (signals::heard(), outcome) {
        (None, Ok(())) => 0,
        (None, Err(failure)) => {
            if !failure.closed() {
                text::complain(&failure);
            }
            failure.code()
        }
        (Some(signal), Ok(())) => {
            text::complain(signal.message(None, true));
            signal.code()
        }
        (Some(signal), Err(failure)) => {
            if failure.stopped().is_none() {
                text::complain(&failure);
            }
            text::complain(signal.message(failure.stopped(), false));
            signal.code()
        }
    };
    std::process::exit(code);
}

fn run(menet: Menet) -> Result<(), Failure> {
    let quiet = menet.quiet || menet.json;
    let context = Context {
        json: menet.json,
        quiet,
        silent: menet.quiet,
        verbose: menet.verbose,
        watch: ProgressLine::new(quiet),
    };
    let threads = threads(menet.threads, &context);
    rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .build_global()
        .map_err(|e| Failure::Usage(format!("--threads {threads}: {e}")))?;
    let Some(command) = menet.command else {
        return text::print(FIRST);
    };
    match command {
        Command::Fit(command) => command.run(&context),
        Command::Transform(command) => command.run(&context),
        Command::Predict(command) => command.run(&context),
        Command::Split(command) => command.run(&context),
        Command::Inspect(command) => command.run(&context),
        Command::Path(command) => command.run(&context),
        Command::Params(command) => command.run(&context),
        Command::Evaluate(command) => command.run(&context),
        Command::Tune(command) => command.run(&context),
        Command::Validate(command) => command.run(&context),
        Command::Export(command) => command.run(&context),
        Command::Data(command) => command.run(&context),
        Command::Demo(command) => command.run(&context),
        Command::Completions(command) => command.run(),
        Command::Man(command) => command.run(),
    }
}

/// The number of threads to start. More than a few per core only cost memory and time.
fn threads(asked: usize, context: &Context) -> usize {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let most = cores.saturating_mul(4);
    if asked > most {
        context.notice(format_args!(
            "--threads {asked}: more than 4 threads per core do not help; using {most} on {cores} cores"
        ));
    }
    asked.min(most)
}
