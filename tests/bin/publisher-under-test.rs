//! A publisher that tests may kill: `URL CACHE TIMES` adds one to the number in `app/values.yaml` so many times, once
//! there is a file `pid`.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::ExitCode;
use std::thread;
use std::time::Duration;

use diagnostic::{Error, ErrorKind};
use gitremote::{Access, Authorship, Change, Mirror, Person, Publisher, Remote, Target, Tree, Waiting};

fn main() -> ExitCode {
    while !Path::new("pid").exists() {
        thread::sleep(Duration::from_millis(5));
    }
    match publish() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn publish() -> Result<(), Error> {
    let mut arguments = std::env::args().skip(1);
    let mut argument = || arguments.next().ok_or_else(|| Error::new(ErrorKind::Invalid, "URL CACHE TIMES"));
    let remote =
        Remote { url: argument()?, access: Access::new("publisher-under-test", Duration::from_secs(60)) };
    let mirror = Mirror::cached(Path::new(&argument()?), &remote)?;
    let times: u32 = argument()?.parse().unwrap_or(1);
    let bot = Person { name: "Bot".to_owned(), email: "bot@example.com".to_owned() };
    let authorship = Authorship { author: bot.clone(), committer: bot, time: 1_700_000_000, sign_off: false };
    let publisher = Publisher {
        mirror: &mirror,
        remote: &remote,
        target: &Target::default(),
        authorship: &authorship,
        signer: None,
        consent: None,
    };
    for _ in 0..times {
        let mut waiting = Waiting { random: &mut || 0, sleep: &mut |pause| thread::sleep(pause) };
        publisher.publish(&mut waiting, add_one)?;
    }
    Ok(())
}

fn add_one(tree: &Tree) -> Result<Vec<Change>, Error> {
    let path = "app/values.yaml".to_owned();
    let values = String::from_utf8(tree.read(&path)?.unwrap_or_default()).unwrap_or_default();
    let number: u32 = values.trim().trim_start_matches("number: ").parse().unwrap_or(0);
    let files = BTreeMap::from([(path, format!("number: {}\n", number + 1).into_bytes())]);
    Ok(vec![Change { files, message: "one more".to_owned(), trailers: Vec::new() }])
}
