//! Constraints allow the tags that Masterminds' library says, as Helm has it built in.

use diagnostic::Error;
use image_updater::tags::Tag;
use image_updater::{Criteria, Question, Rules, Standing};
use jiff::Timestamp;

const ANSWERS: &str = include_str!("../../testdata/image-updater/semver.txt");

#[test]
fn constraints_allow_what_masterminds_says() {
    let mut lines = ANSWERS.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    let tags = lines.next().unwrap().strip_prefix("tags: ").unwrap();
    let tags: Vec<Tag> = tags.split(' ').map(Tag::named).collect();
    let mut count = 0;
    for line in lines {
        let (constraint, expected) = line.split_once(" =>").unwrap();
        let mut expected: Vec<&str> = expected.split_whitespace().collect();
        expected.sort_unstable();
        assert_eq!(allowed(constraint, &tags).unwrap(), expected, "{constraint}");
        count += 1;
    }
    assert!(count > 50, "the answers are all read");
}

fn allowed(constraint: &str, tags: &[Tag]) -> Result<Vec<String>, Error> {
    let criteria = Criteria { semver_constraint: Some(constraint.to_owned()), ..Criteria::default() };
    let question = Question { image: "app", tag: None, current: None, now: Timestamp::UNIX_EPOCH };
    let decision = Rules::new(&criteria)?.choose(&question, tags)?.decided("app")?;
    let allowed = decision.decisions.into_iter().filter(|verdict| verdict.verdict != Standing::Dropped);
    let mut allowed: Vec<String> = allowed.map(|verdict| verdict.tag).collect();
    allowed.sort_unstable();
    Ok(allowed)
}
