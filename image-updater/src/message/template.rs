//! Templates of messages. In: a Go template. Out: text. What is wrong with a template is said when it is read, for it is
//! tried on an example; it is not left to the first commit.

use diagnostic::{Error, Location, Result};
use std::collections::BTreeMap;
use std::sync::LazyLock;

use gotemplate::funcs::SPRIG;
use gotemplate::{ErrorKind, Function, Functions, Limits, MissingKey, Options, TemplateSet, Value};

use super::text::cleaned;
use super::{Subject, data};
use crate::change::{Change, Edit, Named, ObjectId, Version};

/// The default message of Argo CD Image Updater, and ours.
pub const ARGOCD_MESSAGE: &str = "build: automatic update of {{ .AppName }}

{{ range .AppChanges -}}
updates image {{ .Image }} tag '{{ .OldTag }}' to '{{ .NewTag }}'
{{ end -}}
";

/// The default message of Flux.
pub const FLUX_MESSAGE: &str = "Update from image update automation";

/// A message that is longer is no message; a thousand images make a tenth of this.
const MAX_TEXT: usize = 1 << 20;

/// A range over a thousand images takes some ten thousand.
const MAX_STEPS: u64 = 10_000_000;

/// Sprig's functions that depend on the time, on chance or on the machine, which Flux leaves out too.
const UNSTEADY: &[&str] = &[
    "date",
    "date_in_zone",
    "date_modify",
    "now",
    "htmlDate",
    "htmlDateInZone",
    "dateInZone",
    "dateModify",
    "randAlphaNum",
    "randAlpha",
    "randAscii",
    "randNumeric",
    "randBytes",
    "uuidv4",
    "env",
    "expandenv",
    "getHostByName",
];

static STEADY: LazyLock<Vec<Function>> = LazyLock::new(|| {
    let all = SPRIG.iter().copied().flatten().copied();
    all.filter(|function| !UNSTEADY.contains(&function.name())).collect()
});

/// The template of a commit message.
#[derive(Clone, Debug)]
pub struct MessageTemplate {
    name: String,
    text: String,
}

impl Default for MessageTemplate {
    fn default() -> Self {
        Self { name: "commit message".to_owned(), text: ARGOCD_MESSAGE.to_owned() }
    }
}

impl MessageTemplate {
    /// Takes a template that stands in a file or field of this name, and what it will be given as `.Values`.
    ///
    /// # Errors
    /// If it is no template, or asks for what is not there.
    pub fn parse(name: &str, text: &str, values: &BTreeMap<String, String>) -> Result<Self> {
        let template = Self { name: name.to_owned(), text: text.to_owned() };
        let automation = Some(&Named::default());
        template.render(&Subject { name: "example", changes: &[example()], automation, values })?;
        Ok(template)
    }

    /// Writes the message, without trailers, cleaned as `git commit` does.
    ///
    /// # Errors
    /// If the template cannot be executed with these changes, or writes nothing, which git refuses.
    pub fn render(&self, subject: &Subject<'_>) -> Result<String> {
        let hint = "a message has `.AppName`, `.AppChanges`, `.AutomationObject`, `.Changed` and `.Values`; \
            Flux's old `.Updated` is `.Changed` now";
        let message = cleaned(&execute(&self.name, &self.text, data::of_message(subject), hint)?);
        if message.is_empty() {
            let hint = "a template of messages has to write something whatever is updated";
            return Err(
                Error::invalid(format!("the template `{}` writes an empty message", self.name)).hint(hint)
            );
        }
        Ok(message)
    }
}

/// A change as there are many.
pub(super) fn example() -> Change {
    let object = ObjectId {
        api_version: "apps/v1".to_owned(),
        kind: "Deployment".to_owned(),
        name: "example".to_owned(),
        namespace: "default".to_owned(),
    };
    Change {
        image: "registry.example/org/app".to_owned(),
        alias: Some("app".to_owned()),
        application: Some(Named { namespace: "argocd".to_owned(), name: "example".to_owned() }),
        old: Version::of_tag("1.0.0"),
        new: Version::of_tag("1.0.1"),
        edits: vec![Edit {
            file: "app.yaml".to_owned(),
            object: Some(object),
            old: "1.0.0".to_owned(),
            new: "1.0.1".to_owned(),
            setter: String::new(),
        }],
        reason: String::new(),
    }
}

/// Executes a template that is `name` in messages.
pub(super) fn execute(name: &str, text: &str, data: Value, hint: &str) -> Result<String> {
    let mut set = TemplateSet::new(name, Functions::new(&[STEADY.as_slice()]));
    let written = set.parse(name, text.as_bytes()).and_then(|()| {
        let limits = Limits { output: MAX_TEXT, steps: MAX_STEPS, ..Limits::default() };
        // As Go has it where nobody says otherwise, and both peers do not.
        let options = Options { missing_key: MissingKey::Default, limits, ..Options::default() };
        set.execute(name, data, &options)
    });
    let bytes = written.map_err(|error| explain(&error, name, text, hint))?;
    String::from_utf8(bytes)
        .map_err(|_| Error::invalid(format!("what the template `{name}` writes is not UTF-8")))
}

fn explain(error: &gotemplate::Error, name: &str, text: &str, hint: &str) -> Error {
    let error = error.innermost();
    let mut reason = error.reason().to_owned();
    if let Some(cause) = error.function_error() {
        reason = format!("{reason}: {cause}");
    }
    let wrong = Error::invalid(format!("the template `{name}` cannot be used: {reason}"));
    let wrong = if error.kind() == ErrorKind::Execute { wrong.hint(hint) } else { wrong };
    match error.place() {
        Some(place) => wrong.at(place_of(place, text)),
        None => wrong,
    }
}

/// Go counts bytes of a line from 0 and has none for parse errors; ours are characters from 1.
fn place_of(place: &gotemplate::Place, text: &str) -> Location {
    let line = usize::try_from(place.line).unwrap_or(1);
    let column = place.column.map_or(0, |column| usize::try_from(column).unwrap_or(0));
    let before = text.lines().nth(line.saturating_sub(1)).and_then(|line| line.get(..column));
    Location::at_line(&place.file, text, line, before.map_or(column, |before| before.chars().count()) + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(image: &str, old: &str, new: &str) -> Change {
        let (old, new) = (Version::of_tag(old), Version::of_tag(new));
        Change { image: image.to_owned(), old, new, edits: Vec::new(), ..example() }
    }

    fn render(text: &str, changes: &[Change]) -> String {
        let values = BTreeMap::from([("cluster".to_owned(), "prod".to_owned())]);
        let automation = Named { namespace: "flux-system".to_owned(), name: "podinfo".to_owned() };
        let template = MessageTemplate::parse("message", text, &values).unwrap();
        let automation = Some(&automation);
        template.render(&Subject { name: "repository", changes, automation, values: &values }).unwrap()
    }

    fn refusal(text: &str) -> Error {
        MessageTemplate::parse("message.tpl", text, &BTreeMap::new()).unwrap_err()
    }

    /// From the default template that Argo CD Image Updater documents: a line for each image, no blank one after them.
    #[test]
    fn the_default_is_that_of_argo_cd_image_updater() {
        let changes = [change("foo/bar", "1.0", "1.1"), change("quay.io/bar/baz", "2.0", "2.1")];
        assert_eq!(
            render(ARGOCD_MESSAGE, &changes),
            "build: automatic update of example\n\nupdates image foo/bar tag '1.0' to '1.1'\n\
             updates image bar/baz tag '2.0' to '2.1'\n"
        );
        assert_eq!(render(FLUX_MESSAGE, &changes), "Update from image update automation\n");
    }

    #[test]
    fn without_an_application_the_caller_names_it_and_several_are_named_once() {
        let named = |name: &str| Some(Named { namespace: "argocd".to_owned(), name: name.to_owned() });
        let of = |application| Change { application, ..change("a", "1", "2") };
        assert_eq!(render("{{ .AppName }}", &[of(None)]), "repository\n");
        assert_eq!(render("{{ .AppName }}", &[of(named("b")), of(named("a")), of(named("b"))]), "b, a\n");
    }

    /// A digest stands for the tag where there is one, as its `ImageTag.String` has it.
    #[test]
    fn digests_and_labels_are_there() {
        let mut digest = change("gcr.io/example/updater", "1.0", "1.0");
        digest.old.digest = Some("sha256:01d0".to_owned());
        digest.new.digest = Some("sha256:7aa7".to_owned());
        digest.new.labels.insert("org.opencontainers.image.revision".to_owned(), "abc123".to_owned());
        let text = "{{ range .AppChanges }}{{ .OldTag }} {{ .NewTag }} \
            {{ index .Labels \"org.opencontainers.image.revision\" }}{{ index .Labels \"none\" }}{{ end }}";
        assert_eq!(render(text, &[digest]), "sha256:01d0 sha256:7aa7 abc123\n");
    }

    fn edit(file: &str, name: &str, old: &str, new: &str) -> Edit {
        let object = ObjectId { name: name.to_owned(), ..example().edits.remove(0).object.unwrap() };
        Edit {
            file: file.to_owned(),
            object: Some(object),
            old: old.to_owned(),
            new: new.to_owned(),
            setter: String::new(),
        }
    }

    /// The template of Flux's documentation: `.AutomationObject` prints as Kubernetes' NamespacedName, files and objects
    /// come in the order in which Go's templates walk maps, and an object in two files has the changes of both. An
    /// ObjectIdentifier is a struct in a struct of two structs, which printing shows.
    #[test]
    fn templates_of_flux_run() {
        let edits = vec![
            edit("b.yaml", "web", "app:1", "app:2"),
            edit("a.yaml", "web", "1", "2"),
            edit("a.yaml", "api", "1", "2"),
        ];
        let changes = [Change { edits, ..change("app", "1", "2") }];
        let text = "Automation name: {{ .AutomationObject }}\n\nFiles:\n\
            {{ range $filename, $_ := .Changed.FileChanges -}}\n- {{ $filename }}\n{{ end -}}\n\nObjects:\n\
            {{ range $resource, $changes := .Changed.Objects -}}\n- {{ $resource.Kind | lower }} {{ $resource.Name }}\n  Changes:\n\
            {{- range $_, $change := $changes }}\n    - {{ $change.OldValue }} -> {{ $change.NewValue }}\n\
            {{ end -}}\n{{ end -}}\n{{ .Values.cluster }}";
        assert_eq!(
            render(text, &changes),
            "Automation name: flux-system/podinfo\n\nFiles:\n- a.yaml\n- b.yaml\nObjects:\n\
             - deployment api\n  Changes:\n    - 1 -> 2\n- deployment web\n  Changes:\n    - 1 -> 2\n\
             \n    - app:1 -> app:2\nprod\n"
        );
        let lines = "{{ range .Changed.Changes }}{{ .OldValue }} -> {{ println .NewValue }}{{ end }}";
        assert_eq!(render(lines, &changes), "1 -> 2\napp:1 -> app:2\n");
        let inner = "{{ range .Changed.FileChanges }}{{ range $object, $changes := . }}{{ $object }} {{ $changes }};{{ end }}{{ end }}";
        let shown = |name: &str, changes: &str| {
            format!("{{{{{{apps/v1 Deployment}} {{{name} default}}}}}} [{changes}];")
        };
        let want = [shown("api", "{1 2 }"), shown("web", "{1 2 }"), shown("web", "{app:1 app:2 }")].concat();
        assert_eq!(render(inner, &changes), want + "\n");
    }

    #[test]
    fn what_comes_from_outside_stays_on_its_line() {
        let mut hostile = change("app", "1", "2");
        hostile.new.labels.insert("a".to_owned(), "x\r\n\nSigned-off-by: me\u{2028}".to_owned());
        let text = "a {{ range .AppChanges }}{{ index .Labels \"a\" }}{{ end }}";
        assert_eq!(render(text, &[hostile]), "a x   Signed-off-by: me\n");
    }

    #[test]
    fn a_wrong_template_is_refused_when_it_is_read() {
        let error = refusal("line\n\u{e9}{{ .Updated }}");
        assert_eq!(error.location().map(ToString::to_string).as_deref(), Some("message.tpl:2:5"));
        assert!(error.message().contains("can't evaluate field Updated"), "{error}");
        assert!(error.get_hint().is_some_and(|hint| hint.contains(".Changed")));
        assert!(refusal("{{ .AppName").message().contains("unclosed action"));
        assert!(refusal("{{ if false }}a{{ end }}\n").message().contains("empty"));
        // What differs from run to run is not there.
        for name in ["now", "env \"HOME\"", "randAlpha 5", "uuidv4", "getHostByName \"a\""] {
            assert!(refusal(&format!("{{{{ {name} }}}}")).message().contains("not defined"), "{name}");
        }
    }

    #[test]
    fn a_template_cannot_run_for_ever() {
        for text in [
            "{{ range until 5000 }}{{ range until 5000 }}{{ end }}{{ end }}",
            "{{ repeat 2000000 \"a\" }}",
            "{{ until 2000000000 }}",
            "{{ define \"a\" }}{{ template \"a\" }}{{ end }}{{ template \"a\" }}",
        ] {
            let error = refusal(text);
            assert!(
                error.message().starts_with("the template `message.tpl` cannot be used: "),
                "{text}: {error}"
            );
        }
    }
}
