//! Counts what is asked of the Kubernetes API, under Argo CD Image Updater's names.

use std::sync::Arc;

use hyper::Request;
use kube::Client;
use kube::client::Body;
use tower::service_fn;

use crate::daemon::Metrics;

/// A client whose requests are counted, and those that failed: a watch counts once, when it begins.
pub(crate) fn counted(client: Client, metrics: &Arc<Metrics>) -> Client {
    let namespace = client.default_namespace().to_owned();
    let valid_until = *client.valid_until();
    let metrics = Arc::clone(metrics);
    let service = service_fn(move |request: Request<Body>| {
        let (client, metrics) = (client.clone(), Arc::clone(&metrics));
        async move {
            let answer = client.send(request).await;
            let is_refused = |status: u16| status >= 400;
            metrics.asked_api(answer.as_ref().map_or(true, |answer| is_refused(answer.status().as_u16())));
            answer
        }
    });
    Client::new(service, namespace).with_valid_until(valid_until)
}
