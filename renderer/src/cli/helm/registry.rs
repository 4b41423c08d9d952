//! `renderer helm registry`: accounts of registries, kept in the file that Helm keeps them in.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use diagnostic::{Error, ErrorKind, Result};
use oci_registry::{Credential, Secret};

use super::flags::{GlobalFlags, go_switch};
use super::source::{HomeFlags, password_on_stdin, secret};
use crate::output;
use crate::remote::charts::{Access, Tls};
use crate::report::Reporter;

const LOGIN_EXAMPLES: &str = "\
Examples:
  echo \"$TOKEN\" | renderer helm registry login ghcr.io --username me --password-stdin

  # a registry on this machine
  renderer helm registry login localhost:5000 -u me --password-stdin --plain-http < password";

const LOGOUT_EXAMPLES: &str = "\
Examples:
  renderer helm registry logout ghcr.io";

#[derive(Subcommand, Debug)]
#[command(defer = true)]
pub(in crate::cli) enum Command {
    /// Check an account of a registry, and keep it
    #[command(after_help = LOGIN_EXAMPLES)]
    Login(Box<Login>),
    /// Forget the account of a registry
    #[command(after_help = LOGOUT_EXAMPLES)]
    Logout(Logout),
}

#[derive(Args, Debug)]
#[command(mut_args = go_switch)]
pub(in crate::cli) struct Login {
    /// The registry: a host, with its port if it has one
    host: String,

    /// User name
    #[arg(short, long, value_name = "NAME", default_value = "", hide_default_value = true)]
    username: String,

    /// The password or a token; others on this machine may see it
    #[arg(short, long, value_name = "PASSWORD", value_parser = secret)]
    password: Option<Secret<String>>,

    /// Read the password or token from standard input
    #[arg(long)]
    password_stdin: bool,

    /// Trust every certificate
    #[arg(long)]
    insecure: bool,

    /// Ask without TLS
    #[arg(long)]
    plain_http: bool,

    /// The authorities whose certificates are trusted
    #[arg(long, value_name = "FILE")]
    ca_file: Option<PathBuf>,

    /// The certificate to show
    #[arg(long, value_name = "FILE")]
    cert_file: Option<PathBuf>,

    /// The key of the certificate
    #[arg(long, value_name = "FILE")]
    key_file: Option<PathBuf>,

    #[command(flatten)]
    home: HomeFlags,

    #[command(flatten)]
    global: GlobalFlags,
}

#[derive(Args, Debug)]
#[command(mut_args = go_switch)]
pub(in crate::cli) struct Logout {
    /// The registry: a host, with its port if it has one
    host: String,

    #[command(flatten)]
    home: HomeFlags,

    #[command(flatten)]
    global: GlobalFlags,
}

pub(super) fn run(command: Command, reporter: &mut Reporter) -> Result<()> {
    match command {
        Command::Login(arguments) => login(&arguments, reporter),
        Command::Logout(arguments) => logout(&arguments),
    }
}

fn login(arguments: &Login, reporter: &mut Reporter) -> Result<()> {
    check_host(&arguments.host)?;
    let password = arguments.password(reporter)?;
    let credential = Credential::Basic { user: arguments.username.clone(), password };
    arguments.home.sources().log_in(&arguments.host, &credential, &arguments.access())?;
    output::to_stdout("Login Succeeded\n")
}

fn logout(arguments: &Logout) -> Result<()> {
    check_host(&arguments.host)?;
    arguments.home.sources().log_out(&arguments.host)?;
    output::to_stdout(&format!("Removing login credentials for {}\n", arguments.host))
}

/// An account is for all of a host.
fn check_host(host: &str) -> Result<()> {
    let without_scheme = host.split_once("://").map_or(host, |(_, rest)| rest);
    let (name, _) = without_scheme.split_once('/').unwrap_or((without_scheme, ""));
    if name == host {
        return Ok(());
    }
    let sentence = format!("invalid reference: invalid registry {host:?}");
    Err(Error::new(ErrorKind::Invalid, sentence).hint(format!("name the host only: `{name}`")))
}

impl Login {
    fn access(&self) -> Access {
        Access {
            tls: Tls {
                authorities: self.ca_file.clone(),
                certificate: self.cert_file.clone(),
                key: self.key_file.clone(),
                is_unchecked: self.insecure,
            },
            plain_http: self.plain_http,
            ..Access::default()
        }
    }

    fn password(&self, reporter: &mut Reporter) -> Result<Secret<String>> {
        if self.password_stdin {
            return password_on_stdin();
        }
        let password = self.password.clone().filter(|password| !password.expose().is_empty());
        let password = password.ok_or_else(|| {
            Error::new(ErrorKind::Usage, "a password is needed, and nobody is asked at the terminal")
                .hint("give it by --password-stdin")
        })?;
        reporter.notice("using --password via the CLI is insecure. Use --password-stdin");
        Ok(password)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_account_is_for_a_host_and_for_no_address() {
        for host in ["ghcr.io", "localhost:5000", "[::1]:5000"] {
            assert!(check_host(host).is_ok(), "{host}");
        }
        for (host, name) in
            [("localhost:5000/a", "localhost:5000"), ("oci://ghcr.io", "ghcr.io"), ("https://a.b/c", "a.b")]
        {
            let error = check_host(host).unwrap_err();
            assert_eq!(error.message(), format!("invalid reference: invalid registry {host:?}"));
            assert_eq!(error.get_hint(), Some(format!("name the host only: `{name}`").as_str()));
        }
    }
}
