//! Access control: bearer tokens identify users, and RBAC rules define their rights.

use serde_json::Value;

use super::call::{ResourcePath, Verb};
use super::failure::Failure;

/// The user name if no authentication is required.
pub(super) const ADMIN: &str = "system:admin";

const ANONYMOUS: &str = "system:anonymous";

/// Leave to do something, as a rule of a Role gives it. Only what a rule allows may be done.
#[derive(Clone, Debug)]
pub struct Rule {
    groups: Vec<String>,
    resources: Vec<String>,
    verbs: Vec<String>,
    /// Empty for all.
    names: Vec<String>,
    namespace: Option<String>,
}

#[derive(Clone, Debug)]
pub(super) struct User {
    pub(super) name: String,
    pub(super) token: String,
    pub(super) rules: Vec<Rule>,
}

/// Whoever makes a request.
#[derive(Clone, Debug)]
pub(super) struct Requester {
    pub(super) name: String,
    /// None where everything is allowed.
    rules: Option<Vec<Rule>>,
}

impl Rule {
    /// In all namespaces; a star stands for all, and `applications/status` for a subresource.
    #[must_use]
    pub fn new(group: &str, resources: &[&str], verbs: &[&str]) -> Self {
        let owned = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
        Self {
            groups: vec![group.to_owned()],
            resources: owned(resources),
            verbs: owned(verbs),
            names: Vec::new(),
            namespace: None,
        }
    }

    /// In one namespace only.
    #[must_use]
    pub fn in_namespace(mut self, namespace: &str) -> Self {
        self.namespace = Some(namespace.to_owned());
        self
    }

    /// All rules of a Role, in its namespace, or of a ClusterRole, in all of them.
    #[must_use]
    pub fn of_role(role: &Value) -> Vec<Self> {
        let namespace = role["metadata"]["namespace"].as_str().filter(|_| role["kind"] == "Role");
        let texts = |value: &Value| -> Vec<String> {
            value.as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
        };
        let rule = |rule: &Value| Self {
            groups: texts(&rule["apiGroups"]),
            resources: texts(&rule["resources"]),
            verbs: texts(&rule["verbs"]),
            names: texts(&rule["resourceNames"]),
            namespace: namespace.map(str::to_owned),
        };
        role["rules"].as_array().into_iter().flatten().map(rule).collect()
    }

    fn allows(&self, verb: Verb, path: &ResourcePath, name: &str) -> bool {
        let has = |all: &[String], one: &str| all.iter().any(|known| known == one || known == "*");
        let resource = qualified(path);
        has(&self.verbs, verb.text())
            && has(&self.groups, &path.group)
            && has(&self.resources, &resource)
            && (self.names.is_empty() || self.names.iter().any(|known| known == name))
            && self.namespace.as_ref().is_none_or(|namespace| *namespace == path.namespace)
    }
}

impl Requester {
    /// Returns the user of a token. If no users are defined, everybody is allowed everything.
    pub(super) fn of(users: &[User], authorization: &str) -> Result<Self, Failure> {
        if users.is_empty() {
            return Ok(Self::admin());
        }
        if authorization.is_empty() {
            return Ok(Self { name: ANONYMOUS.to_owned(), rules: Some(Vec::new()) });
        }
        let token = authorization.strip_prefix("Bearer ").map(str::trim).unwrap_or_default();
        let user = users.iter().find(|user| user.token == token).ok_or_else(Failure::unauthorized)?;
        Ok(Self { name: user.name.clone(), rules: Some(user.rules.clone()) })
    }

    pub(super) fn admin() -> Self {
        Self { name: ADMIN.to_owned(), rules: None }
    }

    /// Returns whether they may do something; `name` may come from a selector.
    pub(super) fn check(&self, verb: Verb, path: &ResourcePath, name: &str) -> Result<(), Failure> {
        let Some(rules) = &self.rules else { return Ok(()) };
        if rules.iter().any(|rule| rule.allows(verb, path, name)) {
            return Ok(());
        }
        let place = if path.namespace.is_empty() {
            "at the cluster scope".to_owned()
        } else {
            format!("in the namespace {:?}", path.namespace)
        };
        let why = format!(
            "User {:?} cannot {} resource {:?} in API group {:?} {place}",
            self.name,
            verb.text(),
            qualified(path),
            path.group,
        );
        Err(Failure::forbidden(&path.group, &path.plural, name, &why))
    }

    /// Returns whether they may see a path that is no resource. All users may discover, and anybody may ask for the version.
    pub(super) fn check_path(&self, path: &str) -> Result<(), Failure> {
        if self.name != ANONYMOUS || path == "/version" {
            return Ok(());
        }
        let mut failure = Failure::forbidden("", "", "", "");
        failure.message = format!("forbidden: User {ANONYMOUS:?} cannot get path {path:?}");
        Err(failure)
    }
}

fn qualified(path: &ResourcePath) -> String {
    if path.subresource.is_empty() {
        path.plural.clone()
    } else {
        format!("{}/{}", path.plural, path.subresource)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn path(text: &str) -> ResourcePath {
        ResourcePath::read(text).expect(text)
    }

    #[test]
    fn only_what_a_rule_allows_may_be_done() {
        let role = json!({"kind": "Role", "metadata": {"namespace": "a"}, "rules": [
            {"apiGroups": [""], "resources": ["secrets"], "verbs": ["get"], "resourceNames": ["one"]},
            {"apiGroups": ["argoproj.io"], "resources": ["applications"], "verbs": ["*"]},
        ]});
        let users = [User { name: "bot".to_owned(), token: "t".to_owned(), rules: Rule::of_role(&role) }];
        let bot = Requester::of(&users, "Bearer t").unwrap();
        let secrets = path("/api/v1/namespaces/a/secrets/one");
        assert!(bot.check(Verb::Get, &secrets, "one").is_ok());
        assert!(bot.check(Verb::Get, &secrets, "two").is_err());
        assert!(bot.check(Verb::List, &path("/api/v1/namespaces/a/secrets"), "").is_err());
        let apps = "/apis/argoproj.io/v1alpha1/namespaces";
        assert!(bot.check(Verb::Patch, &path(&format!("{apps}/a/applications/x")), "x").is_ok());
        assert!(bot.check(Verb::Patch, &path(&format!("{apps}/a/applications/x/status")), "x").is_err());
        assert!(bot.check(Verb::Patch, &path(&format!("{apps}/b/applications/x")), "x").is_err());
        // The words that people look up.
        let failure =
            bot.check(Verb::List, &path("/apis/argoproj.io/v1alpha1/applications"), "").unwrap_err();
        let want = "applications.argoproj.io is forbidden: User \"bot\" cannot list resource \"applications\" in API \
                    group \"argoproj.io\" at the cluster scope";
        assert_eq!(failure.message, want);
    }

    #[test]
    fn a_wrong_token_is_nobodys_and_none_is_anonymous() {
        let users = [User { name: "bot".to_owned(), token: "t".to_owned(), rules: Vec::new() }];
        assert_eq!(Requester::of(&users, "Bearer x").unwrap_err().code, 401);
        let nobody = Requester::of(&users, "").unwrap();
        assert!(nobody.check_path("/version").is_ok());
        assert_eq!(nobody.check_path("/apis").unwrap_err().code, 403);
        assert!(Requester::of(&[], "").unwrap().check_path("/apis").is_ok());
    }
}
