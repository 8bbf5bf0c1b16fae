//! `menet completions` and `menet man`

use std::path::{Path, PathBuf};

use clap::Args;
use clap_complete::Shell;

use crate::failure::Failure;
use crate::text;

/// Print completions for a shell.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  menet completions bash > ~/.local/share/bash-completion/completions/menet"
)]
pub(crate) struct Completions {
    /// The shell to print completions for.
    shell: Shell,
}

impl Completions {
    pub(crate) fn run(&self) -> Result<(), Failure> {
        // The generator panics where it cannot write.
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut crate::command(), "menet", &mut script);
        Ok(menet_io::atomic::write("-".as_ref(), |out| out.write_all(&script))?)
    }
}

/// Print the manual page of menet or of one of its commands, or write them all to a folder.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  menet man fit | man -l -\n  menet man --out ~/.local/share/man/man1")]
pub(crate) struct Man {
    /// The command whose page to print, as `fit`; all of menet without it.
    #[arg(value_name = "COMMAND", conflicts_with = "out")]
    of: Option<String>,
    /// A folder for the pages of all commands: menet.1, menet-fit.1 and so on.
    #[arg(long, value_name = "FOLDER")]
    out: Option<PathBuf>,
}

impl Man {
    pub(crate) fn run(&self) -> Result<(), Failure> {
        let mut menet = crate::command().disable_help_subcommand(true);
        // Gives the subcommands the options that all share, and names such as `menet-fit`.
        menet.build();
        if let Some(folder) = &self.out {
            std::fs::create_dir_all(folder)
                .map_err(|e| Failure::Usage(format!("--out {}: {e}", text::path(folder))))?;
            for page in std::iter::once(&menet).chain(menet.get_subcommands()) {
                let name = page.get_display_name().unwrap_or_else(|| page.get_name());
                write(page, &folder.join(format!("{name}.1")))?;
            }
            return Ok(());
        }
        let Some(name) = &self.of else {
            return write(&menet, "-".as_ref());
        };
        match menet.get_subcommands().find(|page| page.get_name() == name) {
            Some(page) => write(page, "-".as_ref()),
            None => {
                let known: Vec<&str> = menet.get_subcommands().map(clap::Command::get_name).collect();
                let name = text::inline(name);
                Err(Failure::Usage(format!("menet has no command {name}: there are {}", known.join(", "))))
            }
        }
    }
}

fn write(page: &clap::Command, path: &Path) -> Result<(), Failure> {
    let page = clap_mangen::Man::new(page.clone());
    Ok(menet_io::atomic::write(path, |mut out| page.render(&mut out))?)
}
