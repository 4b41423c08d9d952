//! As much of CEL as the rules of our CRDs are made of: `has`, `size`, fields of `self`, literals, and the operators
//! `?:`, `||`, `&&`, `==`, `!=`, `>`, `+` and `!`. A field that is not there is an error, which `&&` and `||` pass over
//! where the other side decides; a rule that ends in one does not hold.

use serde_json::{Value, json};

/// A value, or nothing where evaluating it is an error.
type Outcome = Option<Value>;

pub(super) fn holds(rule: &str, object: &Value) -> bool {
    let mut reader = Reader { tokens: tokens(rule), at: 0, object };
    let outcome = reader.choice();
    assert_eq!(reader.at, reader.tokens.len(), "not all of `{rule}` is read");
    outcome == Some(Value::Bool(true))
}

/// Words, numbers, texts in quotes, and signs.
fn tokens(rule: &str) -> Vec<&str> {
    let (mut tokens, mut rest) = (Vec::new(), rule.trim_start());
    while let Some(first) = rest.chars().next() {
        let is_word = |character: char| character.is_ascii_alphanumeric() || matches!(character, '_' | '.');
        let length = match first {
            '\'' => rest[1..].find('\'').expect("the end of a text") + 2,
            first if is_word(first) => rest.find(|character| !is_word(character)).unwrap_or(rest.len()),
            _ if ["&&", "||", "==", "!="].iter().any(|sign| rest.starts_with(sign)) => 2,
            _ => 1,
        };
        tokens.push(&rest[..length]);
        rest = rest[length..].trim_start();
    }
    tokens
}

struct Reader<'r> {
    tokens: Vec<&'r str>,
    at: usize,
    object: &'r Value,
}

impl Reader<'_> {
    fn takes(&mut self, token: &str) -> bool {
        let is_next = self.tokens.get(self.at) == Some(&token);
        self.at += usize::from(is_next);
        is_next
    }

    fn expect(&mut self, token: &str) {
        assert!(self.takes(token), "`{token}` is wanted after {:?}", &self.tokens[..self.at]);
    }

    fn choice(&mut self) -> Outcome {
        let condition = self.either();
        if !self.takes("?") {
            return condition;
        }
        let first = self.choice();
        self.expect(":");
        let second = self.choice();
        if condition?.as_bool()? { first } else { second }
    }

    fn either(&mut self) -> Outcome {
        let mut left = self.both();
        while self.takes("||") {
            left = decided(left, self.both(), true);
        }
        left
    }

    fn both(&mut self) -> Outcome {
        let mut left = self.relation();
        while self.takes("&&") {
            left = decided(left, self.relation(), false);
        }
        left
    }

    fn relation(&mut self) -> Outcome {
        let left = self.sum();
        let Some(sign) = ["==", "!=", ">"].into_iter().find(|sign| self.takes(sign)) else { return left };
        // What is read is read to its end, also where its value is an error.
        let right = self.sum();
        let (left, right) = (left?, right?);
        Some(match sign {
            "==" => json!(left == right),
            "!=" => json!(left != right),
            _ => json!(left.as_i64()? > right.as_i64()?),
        })
    }

    fn sum(&mut self) -> Outcome {
        let mut left = self.operand();
        while self.takes("+") {
            let right = self.operand();
            left = left.and_then(|left| Some(json!(left.as_i64()? + right?.as_i64()?)));
        }
        left
    }

    fn operand(&mut self) -> Outcome {
        if self.takes("!") {
            return Some(json!(!self.operand()?.as_bool()?));
        }
        if self.takes("(") {
            let inner = self.choice();
            self.expect(")");
            return inner;
        }
        let word = self.tokens[self.at];
        self.at += 1;
        if matches!(word, "has" | "size") {
            self.expect("(");
            let inner = self.operand();
            self.expect(")");
            return match word {
                "has" => Some(json!(inner.is_some())),
                _ => Some(json!(inner?.as_array()?.len())),
            };
        }
        if let Some(path) = word.strip_prefix("self.") {
            let field = path.split('.').try_fold(self.object, |value, name| value.get(name));
            return field.filter(|value| !value.is_null()).cloned();
        }
        if let Some(text) = word.strip_prefix('\'') {
            return Some(json!(text.trim_end_matches('\'')));
        }
        Some(serde_json::from_str(word).expect("a literal"))
    }
}

/// `||` for true, and `&&` for false: one side that is so decides.
fn decided(left: Outcome, right: Outcome, by: bool) -> Outcome {
    let deciding = Some(Value::Bool(by));
    if left == deciding || right == deciding {
        return deciding;
    }
    left.and(right)
}

#[test]
fn rules_are_evaluated_as_cel_is() {
    let object = json!({ "on": true, "list": [1], "word": "a", "inner": { "x": 1 } });
    for (rule, wanted) in [
        ("has(self.on) && self.on == true", true),
        ("!has(self.off)", true),
        ("self.off == true", false),
        ("!(self.off == true)", false),
        ("has(self.off) && self.off == true || self.on", true),
        ("size(self.list) > 0", true),
        ("size(self.list) > 1", false),
        ("self.word != 'a'", false),
        ("(has(self.on) ? 1 : 0) + (has(self.off) ? 1 : 0) == 1", true),
        ("self.on ? has(self.inner.x) : has(self.inner.y)", true),
        ("has(self.inner.y)", false),
    ] {
        assert_eq!(holds(rule, &object), wanted, "{rule}");
    }
}
