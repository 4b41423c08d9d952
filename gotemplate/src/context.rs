//! What a running template is given from outside, and what a function called by it can reach.

use std::any::Any;

use crate::error::CallError;

/// What the execution of templates is given: all that is not in the template or its data.
#[derive(Clone, Copy)]
pub struct Options<'a> {
    /// The time that it is.
    pub now: Now,
    /// The name of the local time zone in the IANA database.
    pub zone: &'a str,
    /// Fills a slice with random bytes; without it, functions that need some fail.
    pub random: Option<&'a Random<'a>>,
    /// What a field that a map lacks is.
    pub missing_key: MissingKey,
    /// What the host's own functions find with [`Context::host`].
    pub host: &'a dyn Any,
    /// When to give up.
    pub limits: Limits,
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

/// What `.a.b` is where `.a` is a map without `b`: Go's option `missingkey`.
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
    /// Bytes of stack: templates within templates may not reach the end of the thread's.
    pub stack: usize,
}

impl Default for Limits {
    /// A large chart takes a million steps and a megabyte. The stack is that of a program's first
    /// thread on Linux (8 MiB) less some reserve.
    fn default() -> Self {
        Self { steps: 500_000_000, output: 256 << 20, depth: 100_000, stack: 6 << 20 }
    }
}

/// What a function can reach beside its arguments.
pub struct Context<'a> {
    options: &'a Options<'a>,
    steps: u64,
}

impl<'a> Context<'a> {
    /// What the options say.
    #[must_use]
    pub fn options(&self) -> &'a Options<'a> {
        self.options
    }

    /// The host's own data, if it is a `T`.
    #[must_use]
    pub fn host<T: Any>(&self) -> Option<&'a T> {
        self.options.host.downcast_ref()
    }

    /// Fills `bytes` with random ones.
    ///
    /// # Errors
    /// Where the options give no randomness.
    pub fn fill_random(&self, bytes: &mut [u8]) -> Result<(), CallError> {
        let random = self.options.random.ok_or("no source of randomness")?;
        random(bytes);
        Ok(())
    }

    /// Counts work against [`Limits::steps`]: for functions whose work is not in proportion to
    /// their arguments, before they do it.
    ///
    /// # Errors
    /// When there have been too many.
    pub fn spend(&mut self, steps: u64) -> Result<(), CallError> {
        self.steps = self.steps.saturating_add(steps);
        if self.steps > self.options.limits.steps {
            return Err(CallError::limit(format!(
                "template execution takes more than {} steps",
                self.options.limits.steps
            )));
        }
        Ok(())
    }

    /// Checks the length of a string to be made against [`Limits::output`].
    ///
    /// # Errors
    /// When it is too long.
    pub fn check_length(&self, bytes: usize) -> Result<(), CallError> {
        if bytes > self.options.limits.output {
            return Err(CallError::limit(format!(
                "template output is longer than {} bytes",
                self.options.limits.output
            )));
        }
        Ok(())
    }
}
