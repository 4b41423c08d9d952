//! Arithmetic. Any value is a number: what is none is 0. Integers wrap around, and floating-point
//! sums and products are computed in decimal, so that 0.1 and 0.2 make 0.3.

use super::args::int;
use super::convert::{to_float64, to_int64, to_text};
use super::decimal::Decimal;
use crate::Context;
use crate::error::CallError;
use crate::function::Function;
use crate::strconv::{parse_int, parse_nearest};
use crate::value::{List, Type, Value};

/// Bytes that an integer of a list takes, for the limit.
const ITEM: usize = size_of::<Value>();

pub(super) const FUNCS: &[Function] = &[
    Function::variadic("add", &[Type::Any], add),
    Function::new("add1", &[Type::Any], add1),
    Function::new("add1f", &[Type::Any], add1f),
    Function::variadic("addf", &[Type::Any], addf),
    Function::new("atoi", &[Type::String], atoi),
    Function::variadic("biggest", &[Type::Any, Type::Any], max),
    Function::new("ceil", &[Type::Any], ceil),
    Function::new("div", &[Type::Any, Type::Any], div),
    Function::variadic("divf", &[Type::Any, Type::Any], divf),
    Function::new("float64", &[Type::Any], float64),
    Function::new("floor", &[Type::Any], floor),
    Function::new("int", &[Type::Any], as_int),
    Function::new("int64", &[Type::Any], as_int64),
    Function::variadic("max", &[Type::Any, Type::Any], max),
    Function::variadic("maxf", &[Type::Any, Type::Any], maxf),
    Function::variadic("min", &[Type::Any, Type::Any], min),
    Function::variadic("minf", &[Type::Any, Type::Any], minf),
    Function::new("mod", &[Type::Any, Type::Any], modulo),
    Function::variadic("mul", &[Type::Any, Type::Any], mul),
    Function::variadic("mulf", &[Type::Any, Type::Any], mulf),
    Function::variadic("round", &[Type::Any, Type::INT, Type::Float64], round),
    Function::variadic("seq", &[Type::INT], seq),
    Function::new("sub", &[Type::Any, Type::Any], sub),
    Function::variadic("subf", &[Type::Any, Type::Any], subf),
    Function::new("toDecimal", &[Type::Any], to_decimal),
    Function::new("until", &[Type::INT], until),
    Function::new("untilStep", &[Type::INT, Type::INT, Type::INT], until_step),
];

// Numbers out of values.

fn as_int(_: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    Ok(Value::int(to_int64(&args[0])))
}

fn as_int64(_: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    Ok(Value::int64(to_int64(&args[0])))
}

fn float64(_: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    Ok(to_float64(&args[0]).into())
}

fn atoi(_: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    Ok(Value::int(args[0].as_str().map_or(0, |text| parse_nearest(text))))
}

/// The number that an octal one is.
fn to_decimal(context: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    Ok(Value::int64(parse_int(&to_text(context, &args[0])?, 8).unwrap_or(0)))
}

// Integers.

fn add(_: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    Ok(Value::int64(args.iter().map(to_int64).fold(0, i64::wrapping_add)))
}

fn add1(_: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    Ok(Value::int64(to_int64(&args[0]).wrapping_add(1)))
}

fn sub(_: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    Ok(Value::int64(to_int64(&args[0]).wrapping_sub(to_int64(&args[1]))))
}

fn mul(_: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    Ok(Value::int64(args.iter().map(to_int64).fold(1, i64::wrapping_mul)))
}

fn div(_: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    let (dividend, divisor) = (to_int64(&args[0]), divisor(&args[1])?);
    Ok(Value::int64(dividend.wrapping_div(divisor)))
}

fn modulo(_: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    let (dividend, divisor) = (to_int64(&args[0]), divisor(&args[1])?);
    Ok(Value::int64(dividend.wrapping_rem(divisor)))
}

fn divisor(value: &Value) -> Result<i64, CallError> {
    match to_int64(value) {
        0 => Err("runtime error: integer divide by zero".into()),
        divisor => Ok(divisor),
    }
}

fn max(_: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    Ok(Value::int64(args.iter().map(to_int64).max().unwrap_or(0)))
}

fn min(_: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    Ok(Value::int64(args.iter().map(to_int64).min().unwrap_or(0)))
}

// Floating point.

fn add1f(_: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    decimal(&args[0], &[Value::int(1)], |sum, number| Ok(sum.add(number)))
}

fn addf(_: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    decimal(&Value::Float(0.0), args, |sum, number| Ok(sum.add(number)))
}

fn subf(_: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    decimal(&args[0], &args[1..], |difference, number| Ok(difference.subtract(number)))
}

fn mulf(context: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    decimal(&args[0], &args[1..], |product, number| {
        context.spend(product.size())?;
        Ok(product.multiply(number))
    })
}

fn divf(_: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    decimal(&args[0], &args[1..], |quotient, number| {
        quotient.divide(number).ok_or_else(|| "decimal division by 0".into())
    })
}

fn decimal(
    first: &Value,
    others: &[Value],
    mut operation: impl FnMut(&Decimal, &Decimal) -> Result<Decimal, CallError>,
) -> Result<Value, CallError> {
    let mut result = to_decimal_number(first)?;
    for other in others {
        result = operation(&result, &to_decimal_number(other)?)?;
    }
    Ok(result.to_float64().into())
}

fn to_decimal_number(value: &Value) -> Result<Decimal, CallError> {
    let number = to_float64(value);
    Decimal::new(number).ok_or_else(|| {
        let text = crate::fmt::format_float(number, b'g', None);
        CallError::new(format!("Cannot create a Decimal from {text}"))
    })
}

fn maxf(_: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    Ok(args[1..].iter().map(to_float64).fold(to_float64(&args[0]), largest).into())
}

fn minf(_: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    Ok((-args[1..].iter().map(|value| -to_float64(value)).fold(-to_float64(&args[0]), largest)).into())
}

/// `math.Max`: infinity beats what is no number, which beats all others, and 0 beats -0.
fn largest(a: f64, b: f64) -> f64 {
    if a == f64::INFINITY || b == f64::INFINITY {
        f64::INFINITY
    } else if a.is_nan() || b.is_nan() {
        f64::NAN
    } else if a == 0.0 && b == 0.0 {
        a + b
    } else {
        a.max(b)
    }
}

fn floor(_: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    Ok(to_float64(&args[0]).floor().into())
}

fn ceil(_: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    Ok(to_float64(&args[0]).ceil().into())
}

/// Rounds to so many decimal places. The fraction of a negative number is negative, and so never
/// large enough to be rounded up.
fn round(_: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    let round_on = args.get(2).and_then(Value::as_float).unwrap_or(0.5);
    let power = power_of_ten(int(args, 1));
    let shifted = power * to_float64(&args[0]);
    // Of infinity Go has no fraction.
    let fraction = shifted - shifted.trunc();
    let rounded = if fraction >= round_on { shifted.ceil() } else { shifted.floor() };
    Ok((rounded / power).into())
}

/// Ten to the power of an integer, with the rounding errors of `math.Pow`.
fn power_of_ten(exponent: i64) -> f64 {
    // The power is mantissa times two to the exponent of two; 10 is 0.625 times 2^4.
    let (mut mantissa, mut shift) = (1.0f64, 0i32);
    let (mut square, mut square_shift) = (0.625f64, 4i32);
    let mut rest = exponent.unsigned_abs();
    while rest != 0 {
        if square_shift.abs() > 1 << 12 {
            // Beyond any float64.
            shift += square_shift;
            break;
        }
        if rest & 1 == 1 {
            mantissa *= square;
            shift += square_shift;
        }
        square *= square;
        square_shift *= 2;
        if square < 0.5 {
            square += square;
            square_shift -= 1;
        }
        rest >>= 1;
    }
    if exponent < 0 {
        (mantissa, shift) = (1.0 / mantissa, -shift);
    }
    // In two steps, for neither factor may be out of range on its own.
    let (first, second) = (shift / 2, shift - shift / 2);
    mantissa * 2f64.powi(first.clamp(-2000, 2000)) * 2f64.powi(second.clamp(-2000, 2000))
}

// Ranges of integers.

fn until(context: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    let end = int(args, 0);
    list(context, 0, end, if end < 0 { -1 } else { 1 })
}

fn until_step(context: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    list(context, int(args, 0), int(args, 1), int(args, 2))
}

fn list(context: &mut Context<'_>, start: i64, end: i64, step: i64) -> Result<Value, CallError> {
    let numbers = range(context, start, end, step)?.map(Value::int).collect();
    Ok(List::typed(Type::Slice(&Type::INT), numbers).into())
}

/// The numbers from `start` to before `end`.
fn range(
    context: &mut Context<'_>,
    start: i64,
    end: i64,
    step: i64,
) -> Result<impl Iterator<Item = i64> + use<>, CallError> {
    let towards = if end < start { step < 0 } else { step > 0 };
    let count = if towards { end.abs_diff(start).div_ceil(step.unsigned_abs()) } else { 0 };
    context.check_length(usize::try_from(count).unwrap_or(usize::MAX).saturating_mul(ITEM))?;
    context.spend(count)?;
    Ok((0..count).map(move |index| start.wrapping_add(step.wrapping_mul(index.cast_signed()))))
}

/// As the shell's command: to, from and to, or from, step and to; ends included.
fn seq(context: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    let (start, step, end) = match args.len() {
        1 => (1, None, int(args, 0)),
        2 => (int(args, 0), None, int(args, 1)),
        3 => (int(args, 0), Some(int(args, 1)), int(args, 2)),
        _ => return Ok("".into()),
    };
    let direction = if end < start { -1 } else { 1 };
    if direction < 0 && step.is_some_and(|step| step > 0) {
        return Ok("".into());
    }
    let numbers = range(context, start, end.wrapping_add(direction), step.unwrap_or(direction))?;
    let texts: Vec<String> = numbers.map(|number| number.to_string()).collect();
    Ok(texts.join(" ").into())
}

#[cfg(test)]
mod tests {
    use crate::funcs::testing::{check, check_refusals};

    // What Helm 4.3.1 makes of these.
    const CASES: &[(&str, &str)] = &[
        (
            r#"{{ add 1 "2" 3.9 true }}|{{ add }}|{{ add1 "5" }}|{{ sub 5 7 }}|{{ mul 2 "3" 4 }}|{{ div -7 2 }}|{{ mod -7 3 }}|{{ add 9223372036854775807 1 }}|{{ mul 4611686018427387904 2 }}"#,
            "7|0|6|-2|24|-3|-1|-9223372036854775808|-9223372036854775808",
        ),
        (
            r#"{{ max 1 "5" 3 }}|{{ min 1 -5.9 3 }}|{{ biggest 2 1 }}|{{ maxf 1.5 "2.5" }}|{{ minf 1.5 "x" }}|{{ maxf "nan" 1 }}|{{ maxf "inf" "nan" }}|{{ minf 0.0 -0.0 }}|{{ maxf 0.0 -0.0 }}"#,
            "5|-5|2|2.5|0|NaN|+Inf|-0|0",
        ),
        (
            r#"{{ int "017" }}|{{ int "42.9" }}|{{ int64 "5.0" }}|{{ int 1e20 }}|{{ float64 "1e3" }}|{{ float64 "0x1p4" }}|{{ atoi "0x10" }}|{{ atoi "99999999999999999999" }}|{{ toDecimal "0777" }}|{{ toDecimal 777 }}|{{ toDecimal "9" }}"#,
            "15|0|5|-9223372036854775808|1000|16|0|9223372036854775807|511|511|0",
        ),
        (
            "{{ addf 0.1 0.2 }}|{{ addf }}|{{ add1f 1.5 }}|{{ subf 1 0.9 }}|{{ mulf 0.1 3 }}|{{ divf 1 3 }}|{{ divf 10 4 }}|{{ divf 2 3e10 }}|{{ mulf 1e200 1e200 }}|{{ subf 1 1 }}|{{ mulf -1.5 2 }}|{{ divf 1 3 3 }}",
            "0.3|0|2.5|0.1|0.3|0.3333333333333333|2.5|6.66667e-11|+Inf|0|-3|0.1111111111111111",
        ),
        (
            r#"{{ round 1.005 2 }}|{{ round -0.4 0 }}|{{ round -1.5 0 }}|{{ round -2.5 0 }}|{{ round 2.5 0 }}|{{ round 123.555 2 0.9 }}|{{ round 123456789.123 -3 }}|{{ round 1e300 5 }}|{{ round 1.5 400 }}|{{ round "3.7" 0 }}"#,
            "1|-1|-2|-3|3|123.55|1.23457e+08|1.0000000000000002e+300|NaN|4",
        ),
        (
            r#"{{ ceil 1.1 }}|{{ ceil -0.5 }}|{{ floor -1.1 }}|{{ floor "2.9" }}|{{ floor "x" }}"#,
            "2|-0|-2|2|0",
        ),
        (
            "{{ until 3 }}|{{ until -3 }}|{{ until 0 | toJson }}|{{ untilStep 3 9 2 }}|{{ untilStep 9 3 -4 }}|{{ untilStep 1 5 0 | toJson }}|{{ untilStep 1 5 -1 | toJson }}|{{ typeOf (until 1) }}",
            "[0 1 2]|[0 -1 -2]|[]|[3 5 7]|[9 5]|[]|[]|[]int",
        ),
        (
            "{{ seq 3 }}|{{ seq -2 }}|{{ seq 2 5 }}|{{ seq 5 2 }}|{{ seq 1 2 6 }}|{{ seq 5 -2 0 }}|{{ seq 5 2 1 }}|{{ seq 1 0 5 }}|{{ seq }}|{{ seq 1 1 1 1 }}|{{ seq 0 }}",
            "1 2 3|1 0 -1 -2|2 3 4 5|5 4 3 2|1 3 5|5 3 1|||||1 0",
        ),
    ];
    const REFUSALS: &[(&str, &str)] = &[
        ("{{ div 1 0 }}", "runtime error: integer divide by zero"),
        (r#"{{ mod 1 "x" }}"#, "runtime error: integer divide by zero"),
        ("{{ divf 1 0 }}", "decimal division by 0"),
        (r#"{{ addf "nan" }}"#, "Cannot create a Decimal from NaN"),
        (r#"{{ mulf 1 "-inf" }}"#, "Cannot create a Decimal from -Inf"),
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
