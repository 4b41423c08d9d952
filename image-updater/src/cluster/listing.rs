//! Lists the cluster once, for one-off commands.
//!
//! In: how the cluster is reached, and a namespace or all. Out: its objects as texts by the name `KIND/NAMESPACE/NAME`, as
//! the watches have them. Kinds that the cluster does not have have no objects. Refused: what may not be read.

use diagnostic::{Error, ErrorKind, Result};
use kube::api::{Api, ApiResource, ListParams};
use kube::core::DynamicResourceScope;
use kube::{Client, Resource};
use serde::de::DeserializeOwned;
use tokio::runtime::Builder;

use super::client::{Connection, answer, connect};
use super::settings::Access;
use super::watch::{Application, KINDS, Kind, Live, PAGE, application, dynamic};

/// All objects that say what there is to do, or what that depends on.
///
/// # Errors
/// If the cluster cannot be asked, or does not let us.
pub(crate) fn list(access: &Access, namespace: Option<&str>) -> Result<Vec<(String, String)>> {
    let refused = |error| Error::new(ErrorKind::Environment, format!("cannot start threads: {error}"));
    let runtime = Builder::new_current_thread().enable_all().build().map_err(refused)?;
    runtime.block_on(async {
        let Connection { client, .. } = connect(access).await?;
        let mut objects = Vec::new();
        for kind in KINDS {
            objects.extend(
                of_kind(&client, kind, namespace).await?.iter().map(|live| (live.path(), live.text.clone())),
            );
        }
        Ok(objects)
    })
}

async fn of_kind(client: &Client, kind: &'static Kind, namespace: Option<&str>) -> Result<Vec<Live>> {
    let resource = kind.resource();
    if kind.name == KINDS[0].name {
        return all(api::<Application>(client, kind, namespace, &resource), kind, application).await;
    }
    all(api(client, kind, namespace, &resource), kind, |object| dynamic(kind, object)).await
}

fn api<K>(client: &Client, kind: &Kind, namespace: Option<&str>, resource: &ApiResource) -> Api<K>
where
    K: Resource<DynamicType = ApiResource, Scope = DynamicResourceScope>,
{
    match namespace.filter(|_| kind.is_namespaced) {
        Some(namespace) => Api::namespaced_with(client.clone(), namespace, resource),
        None => Api::all_with(client.clone(), resource),
    }
}

/// All pages.
async fn all<K>(api: Api<K>, kind: &Kind, read: impl Fn(&K) -> Live) -> Result<Vec<Live>>
where
    K: Resource + Clone + DeserializeOwned + std::fmt::Debug,
{
    let (mut objects, mut page) = (Vec::new(), ListParams::default().limit(PAGE));
    loop {
        let listed = async {
            match api.list(&page).await {
                Err(kube::Error::Api(status)) if status.code == 404 => Ok(None),
                listed => listed.map(Some),
            }
        };
        let listed = answer(listed).await.map_err(|error| error.prefix(format!("{} objects", kind.name)))?;
        let Some(listed) = listed else { return Ok(objects) };
        objects.extend(listed.items.iter().map(&read));
        match listed.metadata.continue_.filter(|next| !next.is_empty()) {
            Some(next) => page = page.continue_token(&next),
            None => return Ok(objects),
        }
    }
}
