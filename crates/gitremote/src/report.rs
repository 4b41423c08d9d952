//! Reads a server's report of a push and the messages of its hooks.
//!
//! In: the content of packet lines, with or without side bands. Out: a verdict. What is too long is cut, and what would
//! steer a terminal is left out.

use std::io;

use diagnostic::{Error, ErrorKind, Result};

/// A report has a line for the pack and one for each reference.
const MAX_REPORT: usize = 64 << 10;

/// Maximum length of hook messages that is kept.
const MAX_SAID: usize = 4 << 10;

/// A server's report of a push.
#[derive(Debug, Default)]
pub(crate) struct Report {
    /// Packet lines, one after the other.
    lines: Vec<u8>,
    said: Vec<u8>,
    fatal: bool,
}

/// The server's verdict on an update.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// The branch is at the new commit, and this is what the server has to say.
    Taken(String),
    /// Somebody else was at it at the same time.
    Contended,
    /// It is not wanted.
    Refused(String),
}

impl Report {
    /// Adds a packet line of a server without side bands.
    pub(crate) fn add_line(&mut self, line: &[u8]) {
        if self.lines.len() + line.len() <= MAX_REPORT {
            self.lines.extend_from_slice(format!("{:04x}", line.len() + 4).as_bytes());
            self.lines.extend_from_slice(line);
        }
    }

    /// Adds what came on a side band: the report on the first, what people shall read on the others.
    pub(crate) fn add_band(&mut self, band: u8, content: &[u8]) -> io::Result<()> {
        let (kept, limit) = match band {
            1 => (&mut self.lines, MAX_REPORT),
            2 | 3 => (&mut self.said, MAX_SAID),
            _ => return Err(io::Error::other(format!("the server speaks on the unknown band {band}"))),
        };
        let room = limit.saturating_sub(kept.len());
        kept.extend_from_slice(&content[..content.len().min(room)]);
        self.fatal |= band == 3;
        Ok(())
    }

    /// Returns what became of a reference.
    pub(crate) fn verdict(&self, reference: &str) -> Result<Verdict> {
        let mut unpacked = None;
        for line in packet_lines(&self.lines) {
            let line = String::from_utf8_lossy(line);
            let line = line.trim_end();
            if let Some(state) = line.strip_prefix("unpack ") {
                unpacked = Some(state.to_owned());
            } else if line.strip_prefix("ok ") == Some(reference) {
                return Ok(Verdict::Taken(printable(&self.said)));
            } else if let Some(reason) =
                line.strip_prefix("ng ").and_then(|rest| rest.strip_prefix(reference))
            {
                return Ok(self.refusal(reason.trim()));
            }
        }
        match unpacked {
            Some(state) if state != "ok" => {
                Ok(self.refusal(&format!("it cannot unpack the objects: {state}")))
            }
            _ if self.fatal => Ok(self.refusal("")),
            _ => Err(Error::new(ErrorKind::Unavailable, "the server did not report the result of the push")),
        }
    }

    fn refusal(&self, reason: &str) -> Verdict {
        let said = printable(&self.said);
        let whole = match (reason, said.as_str()) {
            ("", "") => "no reason given".to_owned(),
            (reason, "") => plain(reason),
            ("", said) => said.to_owned(),
            (reason, said) => format!("{}: {said}", plain(reason)),
        };
        // A lost race for a lock looks like any refusal; these are git's own words for it, and at worst we try again.
        let contended = ["failed to update ref", "cannot lock ref", "unable to lock", "failed to lock"];
        if contended.iter().any(|words| reason.contains(words)) {
            return Verdict::Contended;
        }
        Verdict::Refused(whole)
    }
}

/// The packet lines of a buffer, as far as they are whole.
fn packet_lines(buffer: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = buffer;
    std::iter::from_fn(move || {
        let length = std::str::from_utf8(rest.get(..4)?).ok()?;
        // Zero is the flush at the end.
        let length = usize::from_str_radix(length, 16).ok().filter(|length| *length >= 4)?;
        let line = rest.get(4..length)?;
        rest = &rest[length..];
        Some(line)
    })
}

/// Returns what people shall read, on one line.
fn printable(said: &[u8]) -> String {
    let said = String::from_utf8_lossy(said);
    let lines: Vec<String> = said.split(['\n', '\r']).map(plain).filter(|line| !line.is_empty()).collect();
    lines.join("; ")
}

fn plain(text: &str) -> String {
    let text: String = text.chars().filter(|character| !character.is_control()).collect();
    text.trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAIN: &str = "refs/heads/main";

    fn verdict(lines: &[&str], said: &str) -> Result<Verdict> {
        let mut report = Report::default();
        for line in lines {
            report.add_line(line.as_bytes());
        }
        if !said.is_empty() {
            report.add_band(2, said.as_bytes()).unwrap();
        }
        report.verdict(MAIN)
    }

    /// gitprotocol-pack(5), "Report Status".
    #[test]
    fn a_report_has_a_verdict_for_the_branch() {
        let ok = verdict(&["unpack ok\n", "ok refs/heads/main\n"], "").unwrap();
        assert_eq!(ok, Verdict::Taken(String::new()));
        let declined = verdict(
            &["unpack ok\n", "ng refs/heads/main pre-receive hook declined\n"],
            "no commits\non Fridays\n",
        );
        let want = "pre-receive hook declined: no commits; on Fridays".to_owned();
        assert_eq!(declined.unwrap(), Verdict::Refused(want));
        let broken = verdict(&["unpack index-pack abnormal exit\n"], "").unwrap();
        assert_eq!(
            broken,
            Verdict::Refused("it cannot unpack the objects: index-pack abnormal exit".to_owned())
        );
        let other = verdict(&["unpack ok\n", "ok refs/heads/mainly\n"], "");
        assert_eq!(other.unwrap_err().kind(), ErrorKind::Unavailable);
        assert!(verdict(&[], "").is_err());
    }

    #[test]
    fn a_lost_race_for_the_lock_is_no_refusal() {
        for reason in ["failed to update ref", "cannot lock ref 'refs/heads/main'"] {
            let lost = verdict(&["unpack ok\n", &format!("ng refs/heads/main {reason}\n")], "").unwrap();
            assert_eq!(lost, Verdict::Contended);
        }
    }

    #[test]
    fn what_a_hook_says_is_bounded_and_steers_no_terminal() {
        let said = format!("\u{1b}[31mred\u{1b}[0m\u{7}{}", "x".repeat(100_000));
        let Verdict::Refused(reason) = verdict(&["unpack ok", "ng refs/heads/main no"], &said).unwrap()
        else {
            panic!("it is refused");
        };
        assert!(reason.starts_with("no: [31mred[0mxxx"), "{}", &reason[..40]);
        assert!(reason.len() < 5000);
    }

    #[test]
    fn a_report_that_is_cut_or_wrong_is_no_success() {
        for bytes in [&b"0"[..], b"zzzz", b"0003", b"ffff", b"001aok refs/heads/mai", b"0000"] {
            let mut report = Report::default();
            report.add_band(1, bytes).unwrap();
            assert!(report.verdict(MAIN).is_err(), "{bytes:?}");
        }
        assert!(Report::default().add_band(7, b"x").is_err());
        let mut fatal = Report::default();
        fatal.add_band(3, b"out of disk\n").unwrap();
        assert_eq!(fatal.verdict(MAIN).unwrap(), Verdict::Refused("out of disk".to_owned()));
    }
}
