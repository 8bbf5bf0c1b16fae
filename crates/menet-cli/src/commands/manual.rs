//! `menet completions` and `menet man`

use clap::{Args, CommandFactory};
use clap_complete::Shell;

use crate::Menet;
use crate::failure::Failure;

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
        clap_complete::generate(self.shell, &mut Menet::command(), "menet", &mut std::io::stdout());
        Ok(())
    }
}

/// Print the manual page.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  menet man | man -l -")]
pub(crate) struct Man {}

impl Man {
    pub(crate) fn run(&self) -> Result<(), Failure> {
        let page = clap_mangen::Man::new(Menet::command());
        menet_io::atomic::write("-".as_ref(), |mut out| page.render(&mut out))?;
        Ok(())
    }
}
