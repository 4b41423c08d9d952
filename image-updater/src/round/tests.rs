//! Rounds over files in memory, by recorded tags.

use diagnostic::Result;
use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;

use jiff::Timestamp;
use oci_registry::Repository;

use super::{Outcome, Plan, Round};
use crate::change::Change;
use crate::config::Config;
use crate::files::Files;
use crate::look::Look;
use crate::tags::from_json;

const SHOP: &str = r#"["1.0.0", "1.1.0", "2.0.0"]"#;

const DIGEST: &str = "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08";

#[derive(Default)]
struct Memory(BTreeMap<String, String>);

impl Memory {
    fn with(files: &[(&str, &str)]) -> Self {
        Self(files.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect())
    }
}

impl Files for Memory {
    fn bytes(&self, path: &str) -> Result<Option<Vec<u8>>> {
        Ok(self.0.get(path).map(|text| text.clone().into_bytes()))
    }

    fn glob(&self, pattern: &str) -> Result<Vec<String>> {
        let matches = |path: &&String| gitremote::matches(pattern, path.as_bytes().into());
        Ok(self.0.keys().filter(matches).cloned().collect())
    }
}

/// Plans by the `updates` of a configuration; of an image called `r.test/NAME` the tags are those of `NAME`.
fn plan_unless(updates: &str, files: &Memory, is_held: &dyn Fn(&Change) -> bool) -> Plan {
    let text = format!("apiVersion: image-updater/v1alpha1\nkind: Config\nupdates:\n{updates}");
    let config = Config::parse(&text, "c.yaml", PathBuf::from(".")).unwrap();
    let pinned = format!(r#"[{{"tag": "1.0.0"}}, {{"tag": "1.1.0", "digest": "{DIGEST}"}}]"#);
    let moving = format!(r#"[{{"tag": "main", "digest": "{DIGEST}"}}]"#);
    let lists = [("shop", SHOP), ("blog", r#"["3.0.0"]"#), ("pinned", &pinned), ("moving", &moving)];
    let lists = lists.map(|(name, list)| {
        let repository: Repository = format!("r.test/{name}").parse().unwrap();
        (repository, from_json(list, "tags.json").unwrap())
    });
    let look = Look::recorded(HashMap::from(lists));
    let round = Round { look: &look, now: Timestamp::UNIX_EPOCH, with_labels: false };
    round.plan_unless(&config.batch, files, is_held)
}

fn plan(updates: &str, files: &[(&str, &str)]) -> Plan {
    plan_unless(updates, &Memory::with(files), &|_| false)
}

/// The new texts of files.
fn texts(plan: &Plan) -> Vec<(&str, &str)> {
    plan.texts.iter().map(|(path, text)| (path.as_str(), text.new.as_str())).collect()
}

#[track_caller]
fn fails(plan: &Plan, image: usize, place: &str, message: &str) {
    let Outcome::Failed(error) = &plan.reports[image].outcome else { panic!("{:?}", plan.reports[image]) };
    assert!(error.message().contains(message), "{error}");
    assert!(error.to_string().starts_with(place), "{error}");
}

/// An image in a values file.
fn value(name: &str, path: &str, tag_path: &str) -> String {
    format!(
        "- images: [{{image: r.test/{name}}}]\n  targets: [{{kind: helmvalues, path: '{path}', tagPath: {tag_path}}}]\n"
    )
}

#[test]
fn several_images_of_one_file_are_set_beside_each_other() {
    let updates = [value("shop", "v.yaml", "shop"), value("blog", "v.yaml", "blog")].concat();
    let plan = plan(&updates, &[("v.yaml", "shop: 1.0.0 # a\nblog: 2.0.0 # b\n")]);
    assert_eq!(texts(&plan), [("v.yaml", "shop: 2.0.0 # a\nblog: 3.0.0 # b\n")]);
    let changes: Vec<String> =
        plan.changes().map(|change| change.old.full() + " " + &change.new.full()).collect();
    assert_eq!(changes, ["1.0.0 2.0.0", "2.0.0 3.0.0"]);
    assert_eq!(plan.texts["v.yaml"].old, "shop: 1.0.0 # a\nblog: 2.0.0 # b\n");
}

#[test]
fn an_image_that_fails_leaves_no_trace_and_the_others_go_on() {
    let two = "- images: [{image: r.test/shop}]\n  targets:\n  - {kind: helmvalues, path: v.yaml, tagPath: shop}\n  \
               - {kind: helmvalues, path: w.yaml, tagPath: gone}\n";
    let updates = [two, &value("unknown", "v.yaml", "shop"), &value("blog", "v.yaml", "blog")].concat();
    let files = [("v.yaml", "shop: 1.0.0\nblog: 2.0.0\n"), ("w.yaml", "other: 1\n")];
    let plan = plan(&updates, &files);
    fails(&plan, 0, "w.yaml:1:1", "gone");
    fails(&plan, 1, "c.yaml:8:12", "no tags of `r.test/unknown` are recorded");
    assert_eq!(texts(&plan), [("v.yaml", "shop: 1.0.0\nblog: 3.0.0\n")]);
    assert!(plan.has_failures());
}

/// The first place can be written and the second only until it is proven: both stay as they were.
#[test]
fn an_image_is_never_half_written() {
    let updates = "- images: [{image: r.test/shop}]\n  targets:\n  - {kind: helmvalues, path: v.yaml, tagPath: shop}\n  \
                   - {kind: manifest, path: m.yaml}\n";
    let plan = plan(updates, &[("v.yaml", "shop: 1.0.0\n"), ("m.yaml", "containers: []\n")]);
    fails(&plan, 0, "", "r.test/shop");
    assert!(plan.texts.is_empty());
}

#[test]
fn a_pattern_is_every_file_that_has_the_image() {
    let updates =
        "- images: [{image: r.test/shop}]\n  targets: [{kind: manifest, path: 'apps/*/pod.yaml'}]\n";
    let pod = |image: &str| format!("containers:\n- image: {image}\n");
    let (shop, other) = (pod("r.test/shop:1.0.0"), pod("r.test/other:1.0.0"));
    let files = [
        ("apps/a/pod.yaml", &*shop),
        ("apps/b/pod.yaml", &other),
        ("apps/c/x/pod.yaml", &shop),
        ("pod.yaml", &shop),
    ];
    assert_eq!(texts(&plan(updates, &files)), [("apps/a/pod.yaml", &*pod("r.test/shop:2.0.0"))]);
    let nowhere = plan(updates, &[("pod.yaml", &shop)]);
    fails(&nowhere, 0, "c.yaml:4:12", "`r.test/shop` not found in `apps/*/pod.yaml`");
}

#[test]
fn files_and_places_that_are_missing_are_named_or_made() {
    let kustomization = |more: &str| {
        format!(
            "- images: [{{image: r.test/shop}}]\n  targets: [{{kind: kustomization, path: k.yaml{more}}}]\n"
        )
    };
    fails(&plan(&kustomization(""), &[]), 0, "c.yaml:4:12", "the file `k.yaml` does not exist");
    fails(
        &plan(&kustomization(""), &[("k.yaml", "resources: []\n")]),
        0,
        "",
        "does not contain `r.test/shop`",
    );
    let made = plan(&kustomization(", create: true"), &[("k.yaml", "resources: []\n")]);
    assert_eq!(texts(&made), [("k.yaml", "resources: []\nimages:\n- name: r.test/shop\n  newTag: 2.0.0\n")]);
    let Outcome::Changed(change) = &made.reports[0].outcome else { panic!("{:?}", made.reports[0]) };
    assert_eq!((change.old.full(), change.edits[0].old.as_str()), (String::new(), ""));
}

#[test]
fn places_at_different_versions_are_brought_together_where_one_tag_is_for_all() {
    let both = |policy: &str| {
        format!(
            "- images: [{{image: r.test/shop}}]\n  policy: {{{policy}}}\n  targets:\n  \
             - {{kind: helmvalues, path: v.yaml, tagPath: a}}\n  - {{kind: helmvalues, path: v.yaml, tagPath: b}}\n"
        )
    };
    let files = [("v.yaml", "a: 1.0.0\nb: 1.1.0\n")];
    assert_eq!(texts(&plan(&both(""), &files)), [("v.yaml", "a: 2.0.0\nb: 2.0.0\n")]);
    // Of two that are told apart by what they are at, none is written.
    let files = [("v.yaml", "a: 1.0.0\nb: 2.0.0\n")];
    let apart = plan(&both("semverConstraint: 1.x"), &files);
    fails(&apart, 0, "c.yaml:4:12", "`1.1.0` for `1.0.0` and none for `2.0.0`");
    assert!(apart.texts.is_empty());
}

#[test]
fn a_digest_that_is_kept_goes_with_its_tag() {
    let old = DIGEST.replace("9f", "00");
    let one = "- images: [{image: r.test/pinned, pinDigest: true, keepDigest: true}]\n  \
               targets: [{kind: helmvalues, path: v.yaml, specPath: image}]\n";
    let spec = |version: &str| format!("image: r.test/pinned:{version}\n");
    // The tag was pushed again since.
    assert!(plan(one, &[("v.yaml", &spec(&format!("1.1.0@{old}")))]).texts.is_empty());
    let done = spec(&format!("1.1.0@{DIGEST}"));
    for version in ["1.1.0", "1.0.0", &format!("1.0.0@{old}")] {
        assert_eq!(texts(&plan(one, &[("v.yaml", &spec(version))])), [("v.yaml", &*done)], "{version}");
    }
    let two = "- images: [{image: r.test/pinned, pinDigest: true, keepDigest: true}]\n  \
               targets: [{kind: helmvalues, path: v.yaml, tagPath: tag, digestPath: digest}]\n";
    let values = |tag: &str, digest: &str| format!("tag: {tag}\ndigest: {digest}\n");
    assert!(plan(two, &[("v.yaml", &values("1.1.0", &old))]).texts.is_empty());
    let done = values("1.1.0", DIGEST);
    assert_eq!(texts(&plan(two, &[("v.yaml", &values("1.0.0", &old))])), [("v.yaml", &*done)]);
}

#[test]
fn a_digest_is_pinned_and_followed() {
    let pinned = "- images: [{image: r.test/pinned, pinDigest: true}]\n  \
                  targets: [{kind: helmvalues, path: v.yaml, tagPath: tag}]\n";
    let done = format!("tag: 1.1.0@{DIGEST}\n");
    for old in ["tag: 1.0.0\n", "tag: 1.1.0\n", "tag: 1.1.0@sha256:aa\n"] {
        assert_eq!(texts(&plan(pinned, &[("v.yaml", old)])), [("v.yaml", &*done)], "{old}");
    }
    let second = plan(pinned, &[("v.yaml", &done)]);
    assert!(matches!(&second.reports[0].outcome, Outcome::Current(at) if *at == format!("1.1.0@{DIGEST}")));
    let followed = "- images: [{image: 'r.test/moving:main'}]\n  policy: {strategy: digest}\n  \
                    targets: [{kind: manifest, path: m.yaml}]\n";
    let manifest = |version: &str| format!("containers:\n- image: r.test/moving:{version}\n");
    let done = manifest(&format!("main@{DIGEST}"));
    assert_eq!(texts(&plan(followed, &[("m.yaml", &manifest("main"))])), [("m.yaml", &*done)]);
    assert!(plan(followed, &[("m.yaml", &done)]).texts.is_empty());
}

#[test]
fn what_is_held_or_suspended_or_right_stays() {
    let updates = [
        value("shop", "v.yaml", "shop"),
        value("blog", "v.yaml", "blog"),
        value("shop", "v.yaml", "old") + "  suspend: true\n",
    ]
    .concat();
    let files = Memory::with(&[("v.yaml", "shop: 1.0.0\nblog: 3.0.0\nold: 1.0.0\n")]);
    let plan = plan_unless(&updates, &files, &|change| change.image == "r.test/shop");
    assert!(plan.texts.is_empty() && plan.changes().next().is_none());
    assert!(
        matches!(&plan.reports[0].outcome, Outcome::Held { at, version } if at == "1.0.0" && version == "2.0.0")
    );
    assert!(matches!(&plan.reports[1].outcome, Outcome::Current(version) if version == "3.0.0"));
    assert!(matches!(plan.reports[2].outcome, Outcome::Suspended));
}

#[test]
fn where_no_tag_may_be_chosen_nothing_is_written() {
    let updates = value("shop", "v.yaml", "shop") + "  policy: {semverConstraint: '>=5'}\n";
    let plan = plan(&updates, &[("v.yaml", "shop: 1.0.0\n")]);
    assert!(matches!(&plan.reports[0].outcome, Outcome::NoChoice(why) if why.contains("none of 3 tags")));
    assert!(plan.texts.is_empty() && !plan.has_failures());
}
