//! Spans by OTLP over HTTP.

use std::borrow::Cow;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use hyper::body::Bytes;
use hyper::{Request, Response};
use opentelemetry::trace::{
    Span as _, SpanContext, SpanId, SpanKind, Status, TraceContextExt as _, TraceFlags, TraceId, TraceState, Tracer as _,
    TracerProvider as _,
};
use opentelemetry::{Context, KeyValue};
use opentelemetry_http::{HttpClient, HttpError};
use opentelemetry_otlp::{SpanExporter, WithExportConfig as _, WithHttpConfig as _};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::trace::{Sampler, SdkTracer, SdkTracerProvider, Span as SdkSpan};
use railgate::traceparent::TraceParent;
use tokio::runtime::Handle;

use super::{Kind, TraceSettings, TracesError};
use crate::outbound::system_roots;

/// How long a collector may take to accept spans.
const PATIENCE: Duration = Duration::from_secs(10);

/// Spans on their way to a collector. Those that it does not accept are lost; nothing waits for it.
#[derive(Clone)]
pub(super) struct Tracing {
    provider: SdkTracerProvider,
    tracer: SdkTracer,
}

impl Tracing {
    pub(super) fn open(settings: &TraceSettings) -> Result<Self, TracesError> {
        let wrong = |cause: String| TracesError { collector: settings.collector.clone(), cause };
        let client = reqwest::Client::builder().tls_backend_preconfigured(system_roots()).timeout(PATIENCE).no_proxy();
        let client = client.redirect(reqwest::redirect::Policy::none()).build().map_err(|error| wrong(error.to_string()))?;
        let client = Client { client, runtime: Handle::try_current().map_err(|error| wrong(error.to_string()))? };
        let endpoint = format!("{}/v1/traces", settings.collector.trim_end_matches('/'));
        let exporter = SpanExporter::builder().with_http().with_http_client(client).with_endpoint(endpoint).build();
        let exporter = exporter.map_err(|error| wrong(error.to_string()))?;
        let resource = Resource::builder_empty()
            .with_service_name("railgate")
            .with_attribute(KeyValue::new("service.version", env!("CARGO_PKG_VERSION")))
            .build();
        let provider = SdkTracerProvider::builder()
            .with_batch_exporter(exporter)
            .with_sampler(Sampler::ParentBased(Box::new(Sampler::TraceIdRatioBased(settings.share))))
            .with_resource(resource)
            .build();
        Ok(Self { tracer: provider.tracer("railgate"), provider })
    }

    pub(super) fn begin(&self, name: Cow<'static, str>, kind: Kind, parent: Option<TraceParent>) -> Span {
        let kind = match kind {
            Kind::Server => SpanKind::Server,
            Kind::Client => SpanKind::Client,
        };
        let parent = parent.map_or_else(Context::new, |parent| {
            let (trace, span) = (TraceId::from_bytes(parent.trace_id), SpanId::from_bytes(parent.span_id));
            let flags = TraceFlags::new(parent.flags & 1);
            Context::new().with_remote_span_context(SpanContext::new(trace, span, flags, true, TraceState::default()))
        });
        Span(self.tracer.span_builder(name).with_kind(kind).start_with_context(&self.tracer, &parent))
    }

    pub(super) fn flush(&self) {
        if let Err(cause) = self.provider.force_flush() {
            tracing::warn!(%cause, "the last spans were not accepted");
        }
    }
}

/// A span; it ends when it is dropped.
pub(super) struct Span(SdkSpan);

impl Span {
    pub(super) fn place(&self) -> TraceParent {
        let place = self.0.span_context();
        TraceParent { trace_id: place.trace_id().to_bytes(), span_id: place.span_id().to_bytes(), flags: place.trace_flags().to_u8() }
    }

    pub(super) fn rename(&mut self, name: String) {
        self.0.update_name(name);
    }

    pub(super) fn set(&mut self, key: &'static str, value: Cow<'static, str>) {
        self.0.set_attribute(KeyValue::new(key, value));
    }

    pub(super) fn answered(&mut self, status: u16, is_fault: bool) {
        self.0.set_attribute(KeyValue::new("http.response.status_code", i64::from(status)));
        if is_fault {
            self.0.set_status(Status::error(""));
        }
    }

    pub(super) fn fail(&mut self, why: Cow<'static, str>) {
        self.0.set_status(Status::error(why));
    }
}

/// Sends spans on the server's own threads: the library has a thread without a runtime.
struct Client {
    client: reqwest::Client,
    runtime: Handle,
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client").finish_non_exhaustive()
    }
}

type Sent<'a> = Pin<Box<dyn Future<Output = Result<Response<Bytes>, HttpError>> + Send + 'a>>;

impl HttpClient for Client {
    fn send_bytes<'a, 'b>(&'a self, request: Request<Bytes>) -> Sent<'b>
    where
        'a: 'b,
        Self: 'b,
    {
        let client = self.client.clone();
        let sent = self.runtime.spawn(async move {
            let answer = client.execute(request.try_into()?).await?;
            let status = answer.status();
            let mut response = Response::new(answer.bytes().await?);
            *response.status_mut() = status;
            Ok::<_, reqwest::Error>(response)
        });
        Box::pin(async move { Ok(sent.await??) })
    }
}
