//! Stable codes of warnings, declared once for all engines.

/// Declares `Code`, the stable codes of a crate's warnings: each once, with the sentence that documents it.
///
/// ```
/// yamltree::warning_codes! {
///     /// A key is there twice.
///     DuplicateKey = "EXAMPLE-W001";
/// }
/// assert_eq!(Code::DuplicateKey.as_str(), "EXAMPLE-W001");
/// assert_eq!(Code::ALL[0].meaning(), "A key is there twice.");
/// ```
#[macro_export]
macro_rules! warning_codes {
    ($($(#[doc = $doc:literal])+ $name:ident = $code:literal;)+) => {
        /// The stable code of a kind of warning.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Code { $($(#[doc = $doc])+ $name,)+ }

        impl Code {
            /// All codes, in the order of their numbers.
            pub const ALL: &[Code] = &[$(Code::$name,)+];

            /// The code as printed.
            #[must_use]
            pub fn as_str(self) -> &'static str {
                match self { $(Code::$name => $code,)+ }
            }

            /// What the code stands for.
            #[must_use]
            pub fn meaning(self) -> &'static str {
                match self { $(Code::$name => concat!($($doc,)+).trim_ascii(),)+ }
            }
        }
    };
}
