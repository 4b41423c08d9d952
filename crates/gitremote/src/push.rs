//! One push: a branch moves from the commit where we saw it to one of ours, or stays where it is.
//!
//! In: the old and the new id and a pack. Out: whether it moved, or who was in the way. The old id goes along, so that a
//! server never overwrites what we have not seen. This is git's send-pack for one reference, as gix has none.

use std::io::{self, Read, Write};

use diagnostic::{Error, ErrorKind, Result};
use gix::ObjectId;
use gix::bstr::ByteSlice;
use gix::protocol::handshake::Ref;
use gix::protocol::transport::client::blocking_io::ExtendedBufRead;
use gix::protocol::transport::client::{MessageKind, WriteMode};
use gix::protocol::transport::packetline::PacketLineRef;
use gix::protocol::transport::{Protocol, Service};
use gix::remote::Direction;

use crate::Remote;
use crate::address;
use crate::conversation::{Conversation, full_name};
use crate::fetch::open_configured;
use crate::mirror::Mirror;
use crate::publish::Consent;
use crate::report::{Report, Verdict};
use crate::session::Session;

/// A push option is a name and a value; a packet line has room for 65,516 bytes.
const MAX_OPTION: usize = 4096;

/// A requested update of a reference.
#[derive(Clone, Debug)]
pub(crate) struct Update {
    pub(crate) branch: String,
    /// The known commit of the branch; `None` if the branch does not exist.
    pub(crate) old: Option<ObjectId>,
    pub(crate) new: ObjectId,
    pub(crate) pack: Vec<u8>,
    /// For the server's hooks: `merge_request.create`.
    pub(crate) options: Vec<String>,
    pub(crate) consent: Option<Consent>,
}

/// The result of a push.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Pushed {
    /// The branch is where we want it, and this is what the server has to say.
    Done(String),
    /// Somebody else moved it meanwhile.
    Moved,
    /// The server does not want it, and says why.
    Refused(String),
}

/// Pushes; where it is not clear what came of it, the server is asked again where the branch is.
pub(crate) fn push(remote: &Remote, mirror: &Mirror, update: &Update) -> Result<Pushed> {
    let unclear = match in_session(remote, mirror, update, send) {
        Ok(Sent::Nothing(pushed)) => return Ok(pushed),
        Ok(Sent::Verdict(Verdict::Taken(said))) => return Ok(Pushed::Done(said)),
        Ok(Sent::Verdict(Verdict::Contended)) => return Ok(Pushed::Moved),
        Ok(Sent::Verdict(Verdict::Refused(reason))) => Ok(Pushed::Refused(reason)),
        Ok(Sent::Broken(error)) => Err(error),
        Err(error) if error.kind() == ErrorKind::TimedOut => Err(error),
        Err(error) => return Err(error),
    };
    match in_session(remote, mirror, update, look) {
        Ok(Some(pushed)) => Ok(pushed),
        // What went wrong first says more.
        Ok(None) | Err(_) => unclear,
    }
}

/// Progress of an exchange.
enum Sent {
    /// There was no need, or no hope.
    Nothing(Pushed),
    /// The server has spoken.
    Verdict(Verdict),
    /// It has the request, perhaps, and did not answer.
    Broken(Error),
}

fn in_session<T: Send + 'static>(
    remote: &Remote,
    mirror: &Mirror,
    update: &Update,
    work: fn(&mut Conversation<'_>, &Update) -> Result<T>,
) -> Result<T> {
    let (remote, folder, update) = (remote.clone(), mirror.folder().to_owned(), update.clone());
    Session::run(remote.access.timeout, move |session| {
        let repository = open_configured(&folder)?;
        let url = address::resolve(&remote.url, Direction::Push, &repository)?;
        let mut conversation =
            Conversation::open(&url, Service::ReceivePack, &remote.access, &repository, session)?;
        work(&mut conversation, &update)
    })
}

/// Returns where the branch is, before anything is sent; nothing where we saw it.
fn look(conversation: &mut Conversation<'_>, update: &Update) -> Result<Option<Pushed>> {
    let name = full_name(&update.branch);
    let references = conversation.handshake.refs.as_deref().unwrap_or_default();
    let now = references.iter().map(Ref::unpack).find(|(known, ..)| *known == name);
    let now = now.and_then(|(_, target, _)| target.map(ToOwned::to_owned));
    Ok(match now {
        Some(id) if id == update.new => Some(Pushed::Done(String::new())),
        // What only takes commits (`refs/for/main`) is not shown.
        None if update.branch.starts_with("refs/") => None,
        now if now != update.old => Some(Pushed::Moved),
        _ => None,
    })
}

fn send(conversation: &mut Conversation<'_>, update: &Update) -> Result<Sent> {
    if let Some(pushed) = look(conversation, update)? {
        hang_up(conversation);
        return Ok(Sent::Nothing(pushed));
    }
    let capabilities = Capabilities::choose(conversation, update)?;
    let request = request(update, &capabilities);
    if let Some(consent) = &update.consent
        && let Err(error) = consent.ask()
    {
        hang_up(conversation);
        return Err(error);
    }
    let transport = &mut conversation.transport;
    let answered = (|| {
        // Not to be sent in chunks, which not every server takes.
        let mode = WriteMode::OneLfTerminatedLinePerWriteCall;
        let (mut writer, reader) =
            transport.request(mode, MessageKind::Flush, false).map_err(gix::Error::from_error)?.into_parts();
        let written = writer.write_all(&request).and_then(|()| writer.flush());
        drop(writer);
        // A server that breaks off has said why.
        let report = read_report(reader, capabilities.side_band);
        report.map_err(|error| gix::Error::from_error(written.err().unwrap_or(error)))
    })();
    match answered {
        Err(error) => Ok(Sent::Broken(conversation.explain(&error))),
        Ok(report) => Ok(report
            .verdict(&full_name(&update.branch).to_str_lossy())
            .map_or_else(Sent::Broken, Sent::Verdict)),
    }
}

/// Ends an exchange in which nothing is pushed.
fn hang_up(conversation: &mut Conversation<'_>) {
    if conversation.transport.connection_persists_across_multiple_requests() {
        // It is only polite.
        let _ = gix::protocol::indicate_end_of_interaction(&mut conversation.transport, false);
    }
}

/// The capabilities of a server that are used.
struct Capabilities {
    line: String,
    side_band: bool,
    push_options: bool,
}

impl Capabilities {
    fn choose(conversation: &Conversation<'_>, update: &Update) -> Result<Self> {
        let offered = &conversation.handshake.capabilities;
        let side_band = offered.contains("side-band-64k");
        let push_options = !update.options.is_empty();
        check_offer(conversation, push_options)?;
        check_options(&update.options)?;
        let mut line = "report-status".to_owned();
        for (name, is_used) in [
            ("side-band-64k", side_band),
            // No progress, so that all that comes is what hooks say.
            ("quiet", offered.contains("quiet")),
            ("push-options", push_options),
        ] {
            if is_used {
                line.push(' ');
                line.push_str(name);
            }
        }
        if offered.contains("agent") {
            line.push_str(&format!(" agent={}", conversation.agent_name()));
        }
        Ok(Self { line, side_band, push_options })
    }
}

/// Refuses a server that cannot do what is needed.
fn check_offer(conversation: &Conversation<'_>, push_options: bool) -> Result<()> {
    let offered = &conversation.handshake.capabilities;
    let format = offered.capability("object-format").and_then(|format| format.value());
    let lacks = if conversation.handshake.server_protocol_version == Protocol::V2
        || !offered.contains("report-status")
    {
        "does not report what came of a push"
    } else if format.is_some_and(|format| format != "sha1") {
        "has a repository with object ids other than SHA-1"
    } else if push_options && !offered.contains("push-options") {
        "takes no push options"
    } else {
        return Ok(());
    };
    Err(Error::new(ErrorKind::Invalid, format!("the server {lacks}")))
}

fn check_options(options: &[String]) -> Result<()> {
    let is_wrong = |option: &&String| option.len() > MAX_OPTION || option.contains(char::is_control);
    match options.iter().find(is_wrong) {
        Some(option) => {
            Err(Error::new(ErrorKind::Invalid, format!("invalid push option `{}`", option.escape_debug())))
        }
        None => Ok(()),
    }
}

/// The command, the options and the pack.
fn request(update: &Update, capabilities: &Capabilities) -> Vec<u8> {
    let nowhere = ObjectId::null(gix::hash::Kind::Sha1);
    let (old, new) = (update.old.unwrap_or(nowhere), update.new);
    let mut request = Vec::new();
    let name = full_name(&update.branch);
    packet_line(format!("{old} {new} {name}\0 {}", capabilities.line).as_bytes(), &mut request);
    request.extend_from_slice(b"0000");
    if capabilities.push_options {
        for option in &update.options {
            packet_line(option.as_bytes(), &mut request);
        }
        request.extend_from_slice(b"0000");
    }
    request.extend_from_slice(&update.pack);
    request
}

fn packet_line(content: &[u8], request: &mut Vec<u8>) {
    request.extend_from_slice(format!("{:04x}", content.len() + 4).as_bytes());
    request.extend_from_slice(content);
}

/// All that the server says, up to the flush at its end.
fn read_report<'a>(
    mut reader: Box<dyn ExtendedBufRead<'a> + Unpin + 'a>,
    side_band: bool,
) -> io::Result<Report> {
    let mut report = Report::default();
    while let Some(line) = reader.readline() {
        let line = line?.map_err(io::Error::other)?;
        let PacketLineRef::Data(line) = line else { break };
        if !side_band {
            report.add_line(line);
        } else if let Some((band, content)) = line.split_first() {
            report.add_band(*band, content)?;
        }
    }
    // Over http there may be something behind it, and the connection waits for its end.
    let _ = io::copy(&mut reader.take(1 << 20), &mut io::sink());
    Ok(report)
}
