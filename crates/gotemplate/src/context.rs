//! The environment of a running template, as functions see it.

use std::any::Any;
use std::cell::Cell;

use crate::error::{CallError, Error, ErrorKind};
use crate::exec;
use crate::set::{Scope, Template, execute_text};
use crate::stack::Stack;
use crate::value::Value;
use crate::watch::{Trace, Watch};

/// The options of executing templates.
#[derive(Clone, Copy)]
pub struct Options<'a> {
    /// The time that it is.
    pub now: Now,
    /// The name of the local time zone in the IANA database.
    pub zone: &'a str,
    /// Fills a slice with random bytes; without it, functions that need some fail.
    pub random: Option<&'a Random<'a>>,
    /// The value of a missing map key (Go's `missingkey` option).
    pub missing_key: MissingKey,
    /// The host's data for its functions; see [`Context::host`].
    pub host: &'a dyn Any,
    /// When to give up.
    pub limits: Limits,
    /// Hears of what is no error and yet worth a word.
    pub watch: Option<&'a Watch<'a>>,
    /// Takes down what writes what, for the template that is executed first.
    pub trace: Option<&'a Trace>,
}

impl Default for Options<'_> {
    /// Midnight of 1970-01-01 in UTC, no randomness, no host.
    fn default() -> Self {
        Self {
            now: Now::default(),
            zone: "UTC",
            random: None,
            missing_key: MissingKey::default(),
            host: &(),
            limits: Limits::default(),
            watch: None,
            trace: None,
        }
    }
}

/// Fills a slice with random bytes.
pub type Random<'a> = dyn Fn(&mut [u8]) + 'a;

/// A point in time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Now {
    /// Seconds since 1970-01-01 00:00 UTC.
    pub seconds: i64,
    /// Nanoseconds after that, below 1,000,000,000.
    pub nanoseconds: u32,
}

/// The value of a missing map key: Go's `missingkey` option.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MissingKey {
    /// No value, which prints as `<no value>` and has no fields.
    Default,
    /// The zero of the map's elements, for most maps a nil `interface {}`. As Helm has it.
    #[default]
    Zero,
    /// An error.
    Error,
}

/// When to give up executing. Each is an error that names it.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Actions, commands and items, in all templates together.
    pub steps: u64,
    /// Bytes of one template's output, or of one string.
    pub output: usize,
    /// Templates within templates: Go's own limit.
    pub depth: u32,
    /// Bytes of stack, of which templates within templates take two to fifteen thousand per level.
    /// The default is safe in every thread; who starts one with more can allow more.
    pub stack: usize,
}

impl Default for Limits {
    /// A large chart takes a million steps and a megabyte.
    fn default() -> Self {
        Self { steps: 500_000_000, output: 256 << 20, depth: 100_000, stack: 1 << 20 }
    }
}

/// The environment that a function can access besides its arguments.
pub struct Context<'a> {
    scope: Scope<'a>,
    options: &'a Options<'a>,
    usage: &'a mut Usage,
}

/// The used part of the limits.
pub(crate) struct Usage {
    steps: u64,
    depth: u32,
    stack: Stack,
    /// True if something was taken from outside that may be another the next time.
    unstable: Cell<bool>,
}

impl Usage {
    pub(crate) fn new(stack: usize) -> Self {
        Self { steps: 0, depth: 0, stack: Stack::here(stack), unstable: Cell::new(false) }
    }
}

impl<'a> Context<'a> {
    pub(crate) fn new(scope: Scope<'a>, options: &'a Options<'a>, usage: &'a mut Usage) -> Self {
        Self { scope, options, usage }
    }

    /// Returns what the options say.
    #[must_use]
    pub fn options(&self) -> &'a Options<'a> {
        self.options
    }

    /// The host's own data, if it is a `T`.
    #[must_use]
    pub fn host<T: Any>(&self) -> Option<&'a T> {
        self.options.host.downcast_ref()
    }

    /// Executes a template of the set and returns what it writes: for functions such as `include`.
    ///
    /// # Errors
    /// If there is no such template, or it cannot be executed with this data.
    pub fn render(&mut self, name: &[u8], data: Value) -> Result<Vec<u8>, Error> {
        let template = self.template(name).ok_or_else(|| self.scope.set.missing(name))?;
        self.enter_and(|context| exec::execute(context.within(context.scope), template, data))
    }

    /// Parses `text` as the template `name` and executes it: for functions such as `tpl`. It can
    /// call the templates of the set; what it defines itself is there only while it runs, and
    /// hides templates of the set.
    ///
    /// # Errors
    /// If the text is no template or cannot be executed with this data.
    pub fn render_text(&mut self, name: &str, text: &[u8], data: Value) -> Result<Vec<u8>, Error> {
        if memchr::memmem::find(text, b"{{").is_none() {
            return Ok(text.to_vec());
        }
        self.enter_and(|context| execute_text(context, name, text, data))
    }

    /// Fills `bytes` with random ones.
    ///
    /// # Errors
    /// If the options give no randomness.
    pub fn fill_random(&self, bytes: &mut [u8]) -> Result<(), CallError> {
        let random = self.options.random.ok_or("no source of randomness")?;
        random(bytes);
        self.mark_unstable();
        Ok(())
    }

    /// The time that it is.
    #[must_use]
    pub fn now(&self) -> Now {
        self.mark_unstable();
        self.options.now
    }

    /// Says that what the function returns may be another the next time: see [`Event::Unstable`](crate::Event::Unstable).
    pub fn mark_unstable(&self) {
        self.usage.unstable.set(true);
    }

    /// Returns true if that was said since it was last asked.
    pub(crate) fn take_unstable(&self) -> bool {
        self.usage.unstable.take()
    }

    /// Returns true if this is the template that was executed first.
    pub(crate) fn is_outermost(&self) -> bool {
        self.usage.depth == 1
    }

    /// Counts work against [`Limits::steps`]: for functions whose work is not in proportion to
    /// their arguments, before they do it.
    ///
    /// # Errors
    /// If there have been too many.
    pub fn spend(&mut self, steps: u64) -> Result<(), CallError> {
        self.usage.steps = self.usage.steps.saturating_add(steps);
        let most = self.options.limits.steps;
        if self.usage.steps > most {
            return Err(CallError::limit(format!("template execution takes more than {most} steps")));
        }
        Ok(())
    }

    /// Returns the length that no string may exceed: [`Limits::output`].
    #[must_use]
    pub fn max_length(&self) -> usize {
        self.options.limits.output
    }

    /// Counts the items of a list to be made, and checks its size against [`Limits::output`].
    ///
    /// # Errors
    /// If it is too large, or there have been too many items.
    pub(crate) fn make_list(&mut self, items: usize) -> Result<(), CallError> {
        self.spend(items as u64)?;
        let most = self.options.limits.output;
        if items.saturating_mul(size_of::<Value>()) > most {
            return Err(CallError::limit(format!("a list takes more than {most} bytes")));
        }
        Ok(())
    }

    /// Checks the length of a string to be made against [`Limits::output`].
    ///
    /// # Errors
    /// If it is too long.
    pub fn check_length(&self, bytes: usize) -> Result<(), CallError> {
        let most = self.options.limits.output;
        if bytes > most {
            return Err(CallError::limit(format!("template output is longer than {most} bytes")));
        }
        Ok(())
    }

    pub(crate) fn scope(&self) -> Scope<'a> {
        self.scope
    }

    pub(crate) fn template(&self, name: &[u8]) -> Option<Template<'a>> {
        self.scope.find(name)
    }

    /// The same context for a template that is executed now, with other templates in reach.
    pub(crate) fn within<'b>(&'b mut self, scope: Scope<'b>) -> Context<'b> {
        Context { scope, options: self.options, usage: &mut *self.usage }
    }

    /// Counts a template that begins, unless it would be one too many. Go has a limit in numbers;
    /// where the stack ends before, the message is the same, for what has gone wrong is.
    pub(crate) fn enter(&mut self) -> Result<(), String> {
        let most = self.options.limits.depth;
        if self.usage.depth >= most || self.is_too_deep() {
            return Err(format!("exceeded maximum template depth ({most})"));
        }
        self.usage.depth += 1;
        Ok(())
    }

    fn enter_and<T>(&mut self, run: impl FnOnce(&mut Self) -> Result<T, Error>) -> Result<T, Error> {
        let depth = self.usage.depth;
        self.enter().map_err(|reason| Error::new(ErrorKind::Limit, None, reason))?;
        let result = run(self);
        self.usage.depth = depth;
        result
    }

    /// Returns true if there is no more stack to use.
    pub(crate) fn is_too_deep(&self) -> bool {
        self.usage.stack.is_used_up()
    }

    /// Counts a template that has ended.
    pub(crate) fn leave(&mut self) {
        self.usage.depth -= 1;
    }
}
