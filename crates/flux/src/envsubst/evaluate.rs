//! From parts to a text (envsubst/template.go).

use super::parse::{Expression, Part};
use super::{ExpressionError, MAX_OUTPUT, Mode, Value, Variables, operators};

/// Puts the values in.
pub(super) fn evaluate(
    written: &str,
    parts: &[Part],
    variables: &Variables,
    mode: Mode,
) -> Result<String, ExpressionError> {
    let evaluation = Evaluation { written, variables, mode };
    let mut text = String::new();
    for part in parts {
        evaluation.add(part, &mut text)?;
    }
    Ok(text)
}

struct Evaluation<'v> {
    written: &'v str,
    variables: &'v Variables,
    mode: Mode,
}

impl Evaluation<'_> {
    fn add(&self, part: &Part, text: &mut String) -> Result<(), ExpressionError> {
        let expression = match part {
            Part::Text(plain) => {
                text.push_str(plain);
                return Ok(());
            }
            Part::Expression(expression) => expression,
        };
        let value = self.value(expression)?;
        if text.len() + value.len() > MAX_OUTPUT {
            return Err(ExpressionError::new(
                format!("substitution gives more than {MAX_OUTPUT} bytes"),
                expression.offset,
            ));
        }
        text.push_str(&value);
        Ok(())
    }

    /// Arguments come first: in strict mode those of a default that is not needed count too.
    fn value(&self, expression: &Expression) -> Result<String, ExpressionError> {
        let name = &expression.name;
        let argument = |part: &Part| {
            let mut text = String::new();
            self.add(part, &mut text).map(|()| text)
        };
        let arguments = expression.arguments.iter().map(argument).collect::<Result<Vec<_>, _>>()?;
        let has_default = has_default(&expression.operator);
        let value = match self.variables.values.get(name) {
            Some(Value::Text(text)) => text.as_str(),
            Some(Value::Unknown) => return Ok(self.written[expression.offset..expression.end].to_owned()),
            None if self.variables.has_unknown && !has_default => {
                return Ok(self.written[expression.offset..expression.end].to_owned());
            }
            Some(Value::Binary) => {
                let message = format!("the value of `{name}` is not text");
                return Err(ExpressionError::new(message, expression.offset));
            }
            None if self.mode == Mode::Strict && !has_default => {
                let hint = format!("set it in `postBuild`, or give it a default: `${{{name}:=…}}`");
                return Err(ExpressionError::new(
                    format!("the variable `{name}` is not set"),
                    expression.offset,
                )
                .hint(hint));
            }
            None => "",
        };
        operators::apply(&expression.operator, value, &arguments).map_err(|what| {
            ExpressionError::new(format!("`${{{name}{}…}}` {what}", expression.operator), expression.offset)
        })
    }
}

fn has_default(operator: &str) -> bool {
    matches!(operator, "=" | ":=" | ":-" | ":?" | ":+")
}
