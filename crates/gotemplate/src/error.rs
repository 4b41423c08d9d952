//! The error of a template: Go's message, and its parts.

use std::fmt;

/// The kind of a template error, by which a caller decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// The text is no template.
    Parse,
    /// The template cannot be executed with this data.
    Execute,
    /// There is no template of that name.
    NotFound,
    /// A limit of [`Limits`](crate::Limits) is exceeded.
    Limit,
}

/// A failure to parse or execute a template.
#[derive(Clone, Debug)]
pub struct Error(Box<Inner>);

#[derive(Clone, Debug)]
struct Inner {
    kind: ErrorKind,
    place: Option<Place>,
    reason: String,
    missing: Option<String>,
    cause: Cause,
}

/// A location in a template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The name under which the text was parsed, mostly its file.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
    /// The byte in the line, from 0, as Go counts; none for parse errors.
    pub column: Option<u32>,
    /// The offset in the text.
    pub offset: usize,
    /// The template that was executed, and the part of it that failed as Go prints it.
    pub executing: Option<Executing>,
}

/// The executed template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Executing {
    /// The name of the template: the file's, or that of a `define`.
    pub template: String,
    /// The action, command or argument, as Go prints it: `.Values.image.tag`.
    pub context: String,
}

#[derive(Clone, Debug)]
enum Cause {
    None,
    /// A function returned this error.
    Function(CallError),
}

impl Error {
    pub(crate) fn new(kind: ErrorKind, place: Option<Place>, reason: impl Into<String>) -> Self {
        Self(Box::new(Inner { kind, place, reason: reason.into(), missing: None, cause: Cause::None }))
    }

    /// A function failed: `reason` is `error calling NAME`.
    pub(crate) fn calling(place: Place, reason: String, cause: CallError) -> Self {
        let kind = cause.0.cause.as_ref().map_or(cause.0.kind, Self::kind);
        Self(Box::new(Inner {
            kind,
            place: Some(place),
            reason,
            missing: None,
            cause: Cause::Function(cause),
        }))
    }

    /// Notes which value is nil.
    pub(crate) fn missing(mut self, value: impl Into<String>) -> Self {
        self.0.missing = Some(value.into());
        self
    }

    /// The kind of failure: of the innermost error, if templates called templates.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// Returns where it happened, if that is within a template.
    #[must_use]
    pub fn place(&self) -> Option<&Place> {
        self.0.place.as_ref()
    }

    /// Returns what happened there, without what a function said: `nil pointer evaluating interface {}.x`,
    /// or `error calling include`.
    #[must_use]
    pub fn reason(&self) -> &str {
        &self.0.reason
    }

    /// The value that is nil though a field of it was wanted, as the template has it:
    /// `.Values.image` where `.Values.image.tag` failed.
    #[must_use]
    pub fn missing_value(&self) -> Option<&str> {
        self.0.missing.as_deref()
    }

    /// The error of the innermost template that was executed: where it all began.
    #[must_use]
    pub fn innermost(&self) -> &Self {
        let mut error = self;
        while let Some(inner) = error.function_error().and_then(CallError::template_error) {
            error = inner;
        }
        error
    }

    /// The error that a function returned.
    #[must_use]
    pub fn function_error(&self) -> Option<&CallError> {
        match &self.0.cause {
            Cause::Function(error) => Some(error),
            Cause::None => None,
        }
    }

    /// The mark that the failing function set, however many templates are in between.
    #[must_use]
    pub fn mark(&self) -> Option<&'static str> {
        let mut error = self;
        loop {
            let cause = error.function_error()?;
            if cause.0.mark.is_some() {
                return cause.0.mark;
            }
            error = cause.template_error()?;
        }
    }
}

/// The error as Go prints it, on one line unless a part of it has more.
impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut error = self;
        loop {
            if let Some(place) = error.place() {
                write!(f, "template: {place}: ")?;
            }
            f.write_str(error.reason())?;
            let Some(cause) = error.function_error() else { return Ok(()) };
            write!(f, ": {}", cause.0.text)?;
            let Some(inner) = cause.template_error() else { return Ok(()) };
            error = inner;
        }
    }
}

impl std::error::Error for Error {}

/// The place as Go prints it: `NAME:LINE`, or `NAME:LINE:COLUMN: executing "TEMPLATE" at <CONTEXT>`.
impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)?;
        if let Some(column) = self.column {
            write!(f, ":{column}")?;
        }
        if let Some(Executing { template, context }) = &self.executing {
            write!(f, ": executing {} at <{context}>", gostd::quoted(template.as_bytes()))?;
        }
        Ok(())
    }
}

/// The error that a function returns to the template that called it.
#[derive(Clone, Debug)]
pub struct CallError(Box<CallInner>);

#[derive(Clone, Debug)]
struct CallInner {
    kind: ErrorKind,
    text: String,
    cause: Option<Error>,
    mark: Option<&'static str>,
}

impl CallError {
    /// An error with the text that Go's function gives it.
    pub fn new(text: impl Into<String>) -> Self {
        Self(Box::new(CallInner { kind: ErrorKind::Execute, text: text.into(), cause: None, mark: None }))
    }

    /// The error of a template that the function executed, after `prefix`, which is `""` or ends in `: `.
    pub fn template(prefix: impl Into<String>, cause: Error) -> Self {
        let kind = cause.kind();
        Self(Box::new(CallInner { kind, text: prefix.into(), cause: Some(cause), mark: None }))
    }

    /// A limit that the function ran into.
    pub fn limit(text: impl Into<String>) -> Self {
        Self(Box::new(CallInner { kind: ErrorKind::Limit, text: text.into(), cause: None, mark: None }))
    }

    /// The same, to be known by this mark: see [`Error::mark`].
    #[must_use]
    pub fn marked(mut self, mark: &'static str) -> Self {
        self.0.mark = Some(mark);
        self
    }

    /// The function's own words: all of its text, or what it put before that of a template.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.0.text
    }

    /// The error of the template that the function executed.
    #[must_use]
    pub fn template_error(&self) -> Option<&Error> {
        self.0.cause.as_ref()
    }
}

impl fmt::Display for CallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.text)?;
        self.0.cause.as_ref().map_or(Ok(()), |cause| cause.fmt(f))
    }
}

impl std::error::Error for CallError {}

impl From<String> for CallError {
    fn from(text: String) -> Self {
        Self::new(text)
    }
}

impl From<&str> for CallError {
    fn from(text: &str) -> Self {
        Self::new(text)
    }
}
