//! The flags of `run` for a cluster. They are called as those of Argo CD Image Updater where it has them, and its
//! variables say the same.
//!
//! In: flags and variables. Out: checked settings, or that no cluster is asked. Refused: to take a cluster for meant
//! because there is one.

use diagnostic::{Error, Result};
use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use clap::{ArgAction, Args};

use super::environment::{Variables, text, value};
use crate::change::Named;
pub(super) use crate::cluster::Presence;
use crate::cluster::settings::{self, Access, Election, Scope, Settings, Source};
use crate::cluster::shard::Shard;
use crate::config::{SignatureFormat, SigningKey};
use crate::work::Delivery;

const CLUSTER: &str = "Cluster";
const COMMITS: &str = "Commits for objects of the cluster that do not say";

/// Argo CD Image Updater's own, so that it and we never lead at once.
const LEASE: &str = "c21b75f2.argoproj.io";

/// The default author of Argo CD Image Updater.
const AUTHOR: (&str, &str) = ("argocd-image-updater", "noreply@argoproj.io");

// Not a documentation comment, which would become the text of the command's help.
#[derive(Args, Debug)]
pub(super) struct ClusterFlags {
    /// Work off what is in a Kubernetes cluster: ImageUpdaters, annotated Applications, and Flux' ImagePolicies
    #[arg(help_heading = CLUSTER, long)]
    cluster: bool,
    /// Sources to watch [default: all that the cluster has CRDs for]
    #[arg(help_heading = CLUSTER, long, value_name = "KIND", value_delimiter = ',', requires = "cluster")]
    sources: Vec<Source>,
    /// The namespaces to look in, with commas between: our own where there is none, `*` for all
    /// [IMAGE_UPDATER_WATCH_NAMESPACES]
    #[arg(help_heading = CLUSTER, long, value_name = "LIST", requires = "cluster")]
    watch_namespaces: Option<String>,
    /// Namespace of Argo CD, if not our own [ARGOCD_NAMESPACE]
    #[arg(help_heading = CLUSTER, long, value_name = "NAMESPACE", requires = "cluster")]
    argocd_namespace: Option<String>,
    /// Path of the kubeconfig [default: as kubectl, or the service account in a pod]
    #[arg(help_heading = CLUSTER, long, value_name = "FILE", requires = "cluster")]
    kubeconfig: Option<PathBuf>,
    /// Another context than the current one of the kubeconfig
    #[arg(help_heading = CLUSTER, long, value_name = "NAME", requires = "cluster")]
    context: Option<String>,
    /// True if one of several replicas works, and the others stand by
    #[arg(help_heading = CLUSTER, long, value_name = "BOOL", action = ArgAction::Set, num_args = 0..=1)]
    #[arg(require_equals = true, default_value_t = true, default_missing_value = "true")]
    #[arg(requires = "cluster")]
    leader_election: bool,
    /// Namespace of the leader election Lease, if not our own
    #[arg(help_heading = CLUSTER, long, value_name = "NAMESPACE", requires = "cluster")]
    leader_election_namespace: Option<String>,
    /// The name of that Lease, to which the part is added
    #[arg(help_heading = CLUSTER, long, value_name = "NAME", requires = "cluster", default_value = LEASE)]
    leader_election_id: String,
    /// Work off one of several parts of what says what there is to do, counted from 0: `0/3`, `1/3` and `2/3`
    #[arg(help_heading = CLUSTER, long, value_name = "N/M", requires = "cluster")]
    shard: Option<String>,
    /// Work off the part with these labels: `KEY=VALUE`, `!KEY`, `KEY in (A,B)`
    #[arg(help_heading = CLUSTER, long, value_name = "SELECTOR", visible_alias = "watch-label-selector")]
    #[arg(requires = "cluster", conflicts_with = "shard")]
    shard_label: Option<String>,
    /// Path of Argo CD Image Updater's `registries.conf`
    #[arg(help_heading = CLUSTER, long, value_name = "FILE", requires = "cluster")]
    registries_conf_path: Option<PathBuf>,
    /// Write no Events [IMAGE_UPDATER_KUBE_EVENTS, which is true where there are to be none]
    #[arg(help_heading = CLUSTER, long, requires = "cluster")]
    disable_kube_events: bool,
    #[command(flatten)]
    commits: CommitFlags,
}

#[derive(Args, Debug)]
struct CommitFlags {
    /// Name of the committer [GIT_COMMIT_USER]
    #[arg(help_heading = COMMITS, long, value_name = "NAME", requires = "cluster")]
    git_commit_user: Option<String>,
    /// The address of who commits [GIT_COMMIT_EMAIL]
    #[arg(help_heading = COMMITS, long, value_name = "ADDRESS", requires = "cluster")]
    git_commit_email: Option<String>,
    /// The file of a key of SSH, or the name of one of GnuPG, that signs commits [GIT_COMMIT_SIGNING_KEY]
    #[arg(help_heading = COMMITS, long, value_name = "KEY", requires = "cluster")]
    git_commit_signing_key: Option<String>,
    /// Method of commit signing: `openpgp` or `ssh` [GIT_COMMIT_SIGNING_METHOD]
    #[arg(help_heading = COMMITS, long, value_name = "METHOD", requires = "cluster")]
    git_commit_signing_method: Option<String>,
    /// Have the committer sign off [GIT_COMMIT_SIGN_OFF]
    #[arg(help_heading = COMMITS, long, requires = "cluster")]
    git_commit_sign_off: bool,
    /// A file with the template of messages
    #[arg(help_heading = COMMITS, long, value_name = "FILE", requires = "cluster")]
    git_commit_message_path: Option<PathBuf>,
}

impl ClusterFlags {
    /// Returns true if a cluster is worked off.
    pub(super) fn is_on(&self) -> bool {
        self.cluster
    }

    /// The settings; nothing where no cluster is worked off.
    ///
    /// # Errors
    /// If one of them cannot be.
    pub(super) fn read(&self, variables: &Variables) -> Result<Option<Settings>> {
        if !self.cluster {
            return Ok(None);
        }
        let namespaces = text(self.watch_namespaces.as_ref(), "IMAGE_UPDATER_WATCH_NAMESPACES", variables);
        let argocd = text(self.argocd_namespace.as_ref(), "ARGOCD_NAMESPACE", variables);
        let shard = self.shard()?;
        let are_events_off = switch("IMAGE_UPDATER_KUBE_EVENTS", variables)?.unwrap_or(false);
        let signing_key = self.commits.signing_key(variables)?;
        Ok(Some(Settings {
            access: Access { kubeconfig: self.kubeconfig.clone(), context: self.context.clone() },
            sources: (!self.sources.is_empty()).then(|| self.sources.iter().copied().collect()),
            scope: Scope::parse(&namespaces.unwrap_or_default())
                .map_err(|error| error.prefix("--watch-namespaces"))?,
            argocd_namespace: namespace("--argocd-namespace", argocd)?,
            election: self.election(&shard)?,
            shard,
            delivery: self.commits.delivery(signing_key.as_ref(), variables)?,
            signing_key,
            registries_conf: self.registries_conf_path.clone(),
            with_events: !(self.disable_kube_events || are_events_off),
        }))
    }

    /// Returns whether a document of the configuration is of our part: by its repository, and as an object without labels.
    ///
    /// # Errors
    /// If the part cannot be.
    pub(super) fn takes(&self, repository: &str) -> Result<bool> {
        let id = Named { namespace: String::new(), name: repository.to_owned() };
        Ok(self.shard()?.owns(&id, &BTreeMap::new()))
    }

    fn shard(&self) -> Result<Shard> {
        Ok(match (&self.shard, &self.shard_label) {
            (Some(part), _) => part.parse().map_err(|error: Error| error.prefix("--shard"))?,
            (None, Some(selector)) => {
                Shard::labelled(selector).map_err(|error| error.prefix("--shard-label"))?
            }
            (None, None) => Shard::Whole,
        })
    }

    fn election(&self, shard: &Shard) -> Result<Option<Election>> {
        if !self.leader_election {
            return Ok(None);
        }
        let lease = format!("{}{}", self.leader_election_id, shard.suffix());
        Ok(Some(Election {
            namespace: namespace("--leader-election-namespace", self.leader_election_namespace.clone())?,
            lease: settings::object_name(&lease).map_err(|error| error.prefix("--leader-election-id"))?,
        }))
    }
}

impl CommitFlags {
    fn delivery(&self, key: Option<&SigningKey>, variables: &Variables) -> Result<Delivery> {
        let name = text(self.git_commit_user.as_ref(), "GIT_COMMIT_USER", variables);
        let email = text(self.git_commit_email.as_ref(), "GIT_COMMIT_EMAIL", variables);
        let message = self
            .git_commit_message_path
            .as_ref()
            .map(|path| fs::read_to_string(path).map_err(|error| Error::io("read", path, &error)));
        let author =
            (name.unwrap_or_else(|| AUTHOR.0.to_owned()), email.unwrap_or_else(|| AUTHOR.1.to_owned()));
        Ok(Delivery {
            author: Some(author),
            message: message.transpose()?,
            sign_off: self.git_commit_sign_off || switch("GIT_COMMIT_SIGN_OFF", variables)?.unwrap_or(false),
            signing_key: key.map(|key| key.name.clone()),
            ..Delivery::default()
        })
    }

    fn signing_key(&self, variables: &Variables) -> Result<Option<SigningKey>> {
        let method = text(self.git_commit_signing_method.as_ref(), "GIT_COMMIT_SIGNING_METHOD", variables);
        let format = match method.as_deref() {
            None | Some("openpgp") => SignatureFormat::Openpgp,
            Some("ssh") => SignatureFormat::Ssh,
            Some(other) => {
                let error = Error::invalid(format!("--git-commit-signing-method: unknown method `{other}`"));
                return Err(error.hint("there are `openpgp` and `ssh`"));
            }
        };
        let key = text(self.git_commit_signing_key.as_ref(), "GIT_COMMIT_SIGNING_KEY", variables);
        Ok(key.map(|file| SigningKey { name: "git-commit-signing-key".to_owned(), format, file }))
    }
}

fn namespace(flag: &str, name: Option<String>) -> Result<Option<String>> {
    let checked = name.map(|name| settings::namespace(&name)).transpose();
    checked.map_err(|error| error.prefix(flag))
}

/// A variable that is true or false, in one of Go's words.
///
/// # Errors
/// If it is neither.
fn switch(name: &str, variables: &Variables) -> Result<Option<bool>> {
    value(None, name, variables, |text| match text {
        "1" | "t" | "T" | "true" | "TRUE" | "True" => Ok(true),
        "0" | "f" | "F" | "false" | "FALSE" | "False" => Ok(false),
        _ => Err("it is true or false".to_owned()),
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Cli {
        #[command(flatten)]
        flags: ClusterFlags,
    }

    fn none(_: &str) -> Option<String> {
        None
    }

    fn read(arguments: &[&str], variables: &Variables) -> Result<Settings> {
        let arguments = ["run", "--cluster"].iter().chain(arguments);
        Cli::try_parse_from(arguments).unwrap().flags.read(variables).map(Option::unwrap)
    }

    #[test]
    fn a_cluster_is_worked_off_only_where_it_is_said() {
        let of_pod = |name: &str| (name == "KUBERNETES_SERVICE_HOST").then(|| "10.0.0.1".to_owned());
        assert!(Cli::parse_from(["run"]).flags.read(&of_pod).unwrap().is_none());
        assert!(Cli::try_parse_from(["run", "--shard", "0/3"]).is_err(), "it has no meaning then");
    }

    #[test]
    fn nothing_said_is_as_argo_cd_image_updater_has_it() {
        let settings = read(&[], &none).unwrap();
        assert_eq!(
            (settings.scope, settings.argocd_namespace, settings.shard),
            (Scope::Own, None, Shard::Whole)
        );
        let lease = "c21b75f2.argoproj.io".to_owned();
        assert_eq!(settings.election, Some(Election { namespace: None, lease }));
        assert!(settings.with_events && settings.sources.is_none() && settings.signing_key.is_none());
        let author = ("argocd-image-updater".to_owned(), "noreply@argoproj.io".to_owned());
        assert_eq!(settings.delivery.author, Some(author));
    }

    #[test]
    fn its_variables_say_what_flags_do_not() {
        let variables = |name: &str| {
            let value = match name {
                "IMAGE_UPDATER_WATCH_NAMESPACES" => "*",
                "ARGOCD_NAMESPACE" => "cd",
                "IMAGE_UPDATER_KUBE_EVENTS" | "GIT_COMMIT_SIGN_OFF" => "true",
                "GIT_COMMIT_USER" => "Robot",
                "GIT_COMMIT_SIGNING_KEY" => "/keys/id",
                "GIT_COMMIT_SIGNING_METHOD" => "ssh",
                _ => return None,
            };
            Some(value.to_owned())
        };
        let settings = read(&["--watch-namespaces", "team"], &variables).unwrap();
        assert_eq!(settings.scope, Scope::These(BTreeSet::from(["team".to_owned()])));
        assert_eq!(settings.argocd_namespace.as_deref(), Some("cd"));
        assert!(!settings.with_events && settings.delivery.sign_off);
        assert_eq!(settings.delivery.author.unwrap().0, "Robot");
        let key = settings.signing_key.unwrap();
        assert_eq!((key.format, settings.delivery.signing_key), (SignatureFormat::Ssh, Some(key.name)));
        let settings = read(&[], &variables).unwrap();
        assert_eq!(settings.scope, Scope::All);
    }

    #[test]
    fn a_switch_is_true_or_false_in_the_words_of_go() {
        let variables = |name: &str| Some(name.to_owned());
        assert_eq!(
            (switch("T", &variables).unwrap(), switch("0", &variables).unwrap()),
            (Some(true), Some(false))
        );
        let error = switch("yes", &variables).unwrap_err();
        assert_eq!(error.message(), "the variable yes cannot be `yes`: it is true or false");
        assert_eq!(switch("", &variables).unwrap(), None);
    }

    #[test]
    fn flags_are_those_of_argo_cd_image_updater_and_of_flux() {
        let settings = read(&["--leader-election=false", "--sources", "flux,argocd"], &none).unwrap();
        assert_eq!(settings.election, None);
        assert_eq!(settings.sources, Some(BTreeSet::from([Source::Argocd, Source::Flux])));
        let settings = read(&["--watch-label-selector", "sharding.fluxcd.io/key=one"], &none).unwrap();
        assert!(matches!(settings.shard, Shard::Labelled(_)));
        let settings = read(&["--shard", "1/3", "--leader-election-id", "updater"], &none).unwrap();
        assert_eq!(settings.election.unwrap().lease, "updater-1-of-3");
    }

    #[test]
    fn each_document_of_a_configuration_is_of_one_part_too() {
        let takes = |arguments: &[&str]| {
            let arguments = ["run", "--cluster"].iter().chain(arguments);
            Cli::parse_from(arguments).flags.takes("https://git.test/r.git").unwrap()
        };
        let parts = ["0/3", "1/3", "2/3"].map(|part| takes(&["--shard", part]));
        assert_eq!(parts.iter().filter(|takes| **takes).count(), 1);
        assert!(takes(&[]) && takes(&["--shard-label", "!part"]) && !takes(&["--shard-label", "part=a"]));
    }

    #[test]
    fn what_is_wrong_is_said_with_its_flag() {
        for (arguments, message) in [
            (["--shard", "3/3"], "--shard: invalid shard `3/3`"),
            (["--shard-label", "a b"], "--shard-label: invalid label selector `a b`"),
            (["--watch-namespaces", "A"], "--watch-namespaces: no namespace can be called `A`"),
            (["--argocd-namespace", "A"], "--argocd-namespace: no namespace can be called `A`"),
            (["--leader-election-id", "A"], "--leader-election-id: no object can be called `A`"),
            (["--git-commit-signing-method", "x"], "--git-commit-signing-method: unknown method `x`"),
        ] {
            assert_eq!(read(&arguments, &none).unwrap_err().message(), message);
        }
    }
}
