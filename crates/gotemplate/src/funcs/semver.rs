//! Versions and the constraints that they satisfy.

use super::args::lossy;
use crate::context::Context;
use crate::error::CallError;
use crate::function::Function;
use crate::semver::{Constraints, SharedVersion, Version};
use crate::value::{Type, Value};

pub(super) const FUNCS: &[Function] = &[
    Function::new("semver", &[Type::String], semver),
    Function::new("semverCompare", &[Type::String, Type::String], semver_compare),
];

fn semver(_: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    let version = Version::parse(&lossy(args, 0)).map_err(|error| error.to_string())?;
    Ok(SharedVersion::pointer(version))
}

fn semver_compare(_: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    let constraints = Constraints::parse(&lossy(args, 0)).map_err(|error| error.to_string())?;
    let version = Version::parse(&lossy(args, 1)).map_err(|error| error.to_string())?;
    Ok(constraints.check(&version).into())
}

#[cfg(test)]
mod tests {
    use crate::funcs::testing::{check, check_refusals};

    // What Helm 4.3.1 makes of these.
    const CASES: &[(&str, &str)] = &[
        (
            r#"{{ semver "v1.2.3-a+b" }}|{{ (semver "v1.2.3-a+b").Original }}|{{ (semver "1.2").Patch | typeOf }}|{{ (semver "v1.2.3-a+b").IncMinor }}|{{ (semver "v1.2.3-a+b").IncPatch }}|{{ (semver "1.2.3").IncMajor | typeOf }}|{{ ((semver "1.2.3").SetPrerelease "rc.1").String }}|{{ toJson (semver "v1") }}"#,
            r#"1.2.3-a+b|v1.2.3-a+b|uint64|1.3.0|1.2.3|semver.Version|1.2.3-rc.1|"1.0.0""#,
        ),
        (
            r#"{{ (semver "1.2.3").Compare (semver "1.2.4") }}|{{ (semver "1.2.3").Equal (semver "1.2.3+x") }}|{{ (semver "1.2.3").LessThan (semver "1.2.4") }}|{{ (semver "1.2.3").GreaterThanEqual (semver "1.2.4") }}|{{ deepEqual (semver "1.2.3") (semver "1.2.3") }}|{{ eq (semver "1") (semver "1") }}|{{ (semver "1.2.3").Equal nil }}"#,
            "-1|true|true|false|true|false|false",
        ),
        (
            r#"{{ semverCompare "^1.2.0" "1.3.0" }}|{{ semverCompare ">=1.19-0" "v1.20.1-gke.5" }}|{{ semverCompare ">=1.19" "v1.20.1-gke.5" }}|{{ printf "%d" (semver "1.2.3") }}"#,
            "true|true|false|&{1 2 3 %!d(string=) %!d(string=) %!d(string=1.2.3)}",
        ),
    ];
    const REFUSALS: &[(&str, &str)] = &[
        (r#"{{ semver "x" }}"#, "invalid semantic version"),
        (r#"{{ semverCompare "1" "x" }}"#, "invalid semantic version"),
        (r#"{{ (semver "1.2.3").SetPrerelease "01" }}"#, "version segment starts with 0"),
        (
            r#"{{ (semver "18446744073709551615.1.1").IncMajor }}"#,
            "major version increment would overflow uint64",
        ),
        (
            r#"{{ (semver "1.2.3").Compare nil }}"#,
            "runtime error: invalid memory address or nil pointer dereference",
        ),
    ];

    #[test]
    fn answers_are_those_of_helm() {
        check(CASES);
    }

    #[test]
    fn refusals_are_in_the_words_of_helm() {
        check_refusals(REFUSALS);
    }
}
