//! Properties of every choice, whatever the policy and the tags.

use image_updater::tags::Tag;
use image_updater::{Criteria, Decision, Order, Outcome, Question, Rules, Standing};
use jiff::Timestamp;
use proptest::prelude::*;
use proptest::sample::select;

/// Tags that collide, tie and confuse: equal versions, dates, numbers, flavours, commit ids, words.
const NAMES: &[&str] = &[
    "1",
    "1.2",
    "1.2.0",
    "v1.2.0",
    "01.2.0",
    "1.20",
    "1.20.0",
    "v1.20",
    "2.0.0",
    "2.0.0-rc.1",
    "2.0.0-rc10",
    "2.0.0-alpine",
    "2.0.1-alpine",
    "1.9.9-alpine",
    "10.0.0",
    "latest",
    "1234567",
    "2024.1.5",
    "2024.01.05",
    "2024.02.30",
    "2024.12.31",
    "20240105",
    "7",
    "007",
    "7.0",
    "7.50",
    "a",
    "b",
    "debug-1.3.0",
];

fn tags() -> impl Strategy<Value = Vec<Tag>> {
    let tag = (select(NAMES), 0_i64..4).prop_map(|(name, second)| {
        let created = Timestamp::from_second(second * 1000).ok();
        Tag { created, digest: Some(oci_registry::Digest::of(b"")), ..Tag::named(name) }
    });
    proptest::collection::vec(tag, 0..12).prop_map(|mut tags| {
        tags.sort_by(|first, second| first.name.cmp(&second.name));
        tags.dedup_by(|first, second| first.name == second.name);
        tags
    })
}

fn criteria() -> impl Strategy<Value = Criteria> {
    let strategies = select(&["semver", "newest-build", "digest", "alphabetical", "numerical", "calver"][..]);
    let flags = (any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>());
    let constraint = proptest::option::of(select(&["*", "1.x", ">=1", "^2.0.0-0", "~1.2 || 10"][..]));
    (strategies, flags, constraint).prop_map(|(strategy, (first, second, descending, aged), constraint)| {
        let is = |name: &str| strategy == name;
        let has_order = is("alphabetical") || is("numerical");
        Criteria {
            strategy: strategy.to_owned(),
            semver_constraint: constraint.filter(|_| is("semver")).map(str::to_owned),
            calver_format: is("calver").then(|| "YYYY.MM.DD".to_owned()),
            order: (has_order && descending).then_some(Order::Descending),
            prerelease: is("semver") && first,
            keep_suffix: is("semver") && second,
            ignore_tags: vec![image_updater::TagPattern::Glob("debug-*".to_owned())],
            min_age: aged.then(|| "1s".parse().expect("an age")),
            ..Criteria::default()
        }
    })
}

fn decide(criteria: &Criteria, tags: &[Tag], current: &str) -> Option<Decision> {
    let now = Timestamp::from_second(2500).expect("a time");
    let question = Question { image: "app", tag: Some(current), current: None, now };
    // A suffix is not kept where the current tag is no version: that is an error, and no choice.
    match Rules::new(criteria).expect("criteria that fit").choose(&question, tags).ok()? {
        Outcome::Decided(decision) => Some(decision),
        Outcome::Incomplete(gaps) => panic!("all is known: {gaps:?}"),
    }
}

proptest! {
    #[test]
    fn the_order_of_the_tags_does_not_matter(
        criteria in criteria(),
        (tags, shuffled) in tags().prop_flat_map(|tags| (Just(tags.clone()), Just(tags).prop_shuffle())),
        current in select(NAMES),
    ) {
        prop_assert_eq!(decide(&criteria, &tags, current), decide(&criteria, &shuffled, current));
    }

    #[test]
    fn what_is_dropped_does_not_matter(criteria in criteria(), tags in tags(), current in select(NAMES)) {
        let Some(decision) = decide(&criteria, &tags, current) else { return Ok(()) };
        let is_dropped = |tag: &Tag| {
            let verdict = decision.decisions.iter().find(|verdict| verdict.tag == tag.name).unwrap();
            verdict.verdict == Standing::Dropped
        };
        for tag in tags.iter().filter(|tag| is_dropped(tag)) {
            // The date of a build that runs is known from its tag only.
            if criteria.strategy == "newest-build" && tag.name == current {
                continue;
            }
            let without: Vec<Tag> = tags.iter().filter(|other| other.name != tag.name).cloned().collect();
            let fewer = decide(&criteria, &without, current).unwrap();
            prop_assert_eq!(&fewer.chosen, &decision.chosen, "without {}", &tag.name);
        }
    }

    #[test]
    fn a_choice_is_never_below_the_current_tag(criteria in criteria(), tags in tags(), current in select(NAMES)) {
        let Some(decision) = decide(&criteria, &tags, current) else { return Ok(()) };
        let Some(chosen) = decision.chosen.as_deref().filter(|chosen| *chosen != current) else { return Ok(()) };
        // From the chosen tag nothing leads back: were the other way up too, both would be set for ever in turn.
        let both: Vec<Tag> = tags.iter().filter(|tag| tag.name == current || tag.name == chosen).cloned().collect();
        let back = decide(&criteria, &both, chosen).and_then(|decision| decision.chosen);
        prop_assert_eq!(back.as_deref(), Some(chosen));
    }

    #[test]
    fn a_choice_is_stable(criteria in criteria(), tags in tags(), current in select(NAMES)) {
        let Some(chosen) = decide(&criteria, &tags, current).and_then(|decision| decision.chosen) else {
            return Ok(());
        };
        let next = decide(&criteria, &tags, &chosen).unwrap();
        prop_assert_eq!(next.chosen, Some(chosen));
    }

    #[test]
    fn every_tag_has_one_verdict(criteria in criteria(), tags in tags(), current in select(NAMES)) {
        let Some(decision) = decide(&criteria, &tags, current) else { return Ok(()) };
        let mut told: Vec<&str> = decision.decisions.iter().map(|verdict| verdict.tag.as_str()).collect();
        told.sort_unstable();
        prop_assert_eq!(told, tags.iter().map(|tag| tag.name.as_str()).collect::<Vec<_>>());
        let chosen = decision.decisions.iter().filter(|verdict| verdict.verdict == Standing::Chosen);
        prop_assert_eq!(chosen.map(|verdict| verdict.tag.clone()).next(), decision.chosen);
    }
}
