//! `railgate webhooks listen`: a receiver for watching webhooks arrive.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::fs::OpenOptions;
use std::io::{ErrorKind, Write as _};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::body::{Body as _, Bytes, Incoming};
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use railgate::time::{Millis, rfc3339};
use railgate::webhook::{TOLERANCE_S, VerifyError, WebhookSecret};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, mpsc};
use tokio::time::timeout;

use super::delivery::Delivery;
use super::{LONGEST, SecretArgs, pretty};
use crate::cli::Global;
use crate::cli::failure::{Done, Failure};
use crate::cli::proxy;
use crate::cli::session::now;
use crate::cli::terminal::{Terminal, Tone, note, printable};

/// The largest body that is accepted, in bytes; headers get the rest of what fits into a file.
const MAX_BODY: usize = LONGEST / 2;
/// The timeout for a head, and for a body.
const PATIENCE: Duration = Duration::from_secs(30);
/// How many connections are served at the same time; more wait.
const CONNECTIONS: usize = 64;
/// How many webhooks may wait to be shown; more wait for their responses.
const WAITING: usize = 64;
/// How many ids are remembered, to recognise repeated webhooks.
const REMEMBERED: usize = 1024;
/// The most files of one webhook in one folder.
const MOST_FILES: usize = 1000;

#[derive(Debug, Args)]
pub(super) struct ListenArgs {
    /// Where to listen: a loopback address; port 0 picks a free one
    #[arg(long, value_name = "IP:PORT", default_value = "127.0.0.1:8095")]
    listen: String,
    #[command(flatten)]
    secrets: SecretArgs,
    /// Save each genuine webhook to a file in this folder, for `railgate webhooks verify`
    #[arg(long, value_name = "DIR")]
    save: Option<PathBuf>,
    /// The status of the response to genuine webhooks
    #[arg(long, value_name = "STATUS", default_value_t = 204, value_parser = clap::value_parser!(u16).range(200..=599))]
    status: u16,
}

/// A webhook that has got its response.
struct Received {
    delivery: Delivery,
    at: Millis,
    checked: Result<i64, VerifyError>,
    answered: StatusCode,
}

/// State shared by all connections.
struct Receiver {
    secrets: Vec<WebhookSecret>,
    status: StatusCode,
    received: mpsc::Sender<Received>,
}

pub(super) async fn run(args: ListenArgs, global: &Global, terminal: &Terminal) -> Done {
    let secrets = args.secrets.read()?;
    let address = proxy::loopback(&args.listen, "use a tunnel to receive from elsewhere")?;
    let status = StatusCode::from_u16(args.status).map_err(|error| Failure::caused("--status", error))?;
    if let Some(folder) = &args.save {
        let made = std::fs::create_dir_all(folder);
        made.map_err(|error| Failure::caused(format_args!("cannot create the folder {}", folder.display()), error))?;
    }
    let unusable = |error| Failure::new(format!("cannot listen on {address}: {error}"));
    let socket = TcpListener::bind(address).await.map_err(unusable)?;
    let bound = socket.local_addr().map_err(unusable)?;
    let ended = proxy::end().map_err(|error| Failure::caused("cannot wait for signals", error))?;
    announce(bound, global, terminal)?;
    let (received, waiting) = mpsc::channel(WAITING);
    let receiver = Arc::new(Receiver { secrets, status, received });
    tokio::select! {
        () = accept(socket, receiver) => Ok(()),
        shown = show_all(waiting, args.save.as_deref(), global, terminal) => shown,
        _ = ended => Ok(()),
    }
}

fn announce(bound: SocketAddr, global: &Global, terminal: &Terminal) -> Done {
    if global.json {
        terminal.json(serde_json::json!({ "listening": format!("http://{bound}") }).to_string().as_bytes())?;
    } else {
        terminal.line(format_args!("listening on http://{bound}"))?;
    }
    note("every path accepts webhooks; sandbox webhooks of a gateway on this machine may use this address");
    Ok(())
}

async fn accept(socket: TcpListener, receiver: Arc<Receiver>) {
    let room = Arc::new(Semaphore::new(CONNECTIONS));
    while let Ok(place) = Arc::clone(&room).acquire_owned().await {
        match socket.accept().await {
            Ok((stream, _)) => {
                let receiver = Arc::clone(&receiver);
                tokio::spawn(async move {
                    connection(stream, receiver).await;
                    drop(place);
                });
            }
            // Too many open files, or a caller that left: the next one may succeed.
            Err(_) => tokio::time::sleep(Duration::from_millis(20)).await,
        }
    }
}

async fn connection(stream: TcpStream, receiver: Arc<Receiver>) {
    let answer = service_fn(move |request| {
        let receiver = Arc::clone(&receiver);
        async move { Ok::<_, Infallible>(receiver.answer(request).await) }
    });
    let mut server = http1::Builder::new();
    // A broken connection is noticed by its caller.
    let _ = server.timer(TokioTimer::new()).header_read_timeout(PATIENCE).serve_connection(TokioIo::new(stream), answer).await;
}

impl Receiver {
    async fn answer(&self, request: Request<Incoming>) -> Response<Full<Bytes>> {
        if request.method() != Method::POST {
            return said(StatusCode::METHOD_NOT_ALLOWED, "webhooks are posted");
        }
        let (parts, body) = request.into_parts();
        if body.size_hint().lower() > MAX_BODY as u64 {
            return said(StatusCode::PAYLOAD_TOO_LARGE, "no webhook is so large");
        }
        let body = match timeout(PATIENCE, Limited::new(body, MAX_BODY).collect()).await {
            Ok(Ok(body)) => body.to_bytes(),
            Ok(Err(_)) => return said(StatusCode::PAYLOAD_TOO_LARGE, "no webhook is so large, or it did not arrive whole"),
            Err(_) => return said(StatusCode::REQUEST_TIMEOUT, "the body did not arrive"),
        };
        let headers = parts.headers.iter().map(|(name, value)| (name.as_str().to_owned(), value.as_bytes().to_vec()));
        let delivery = Delivery {
            request_line: format!("{} {} {:?}", parts.method, parts.uri, parts.version),
            headers: headers.collect(),
            body: body.to_vec(),
        };
        let at = now();
        let checked = delivery.check(&self.secrets, at / 1_000, TOLERANCE_S);
        let response = match checked {
            Ok(_) => {
                let mut response = Response::new(Full::default());
                *response.status_mut() = self.status;
                response
            }
            Err(error) => said(StatusCode::BAD_REQUEST, &error.to_string()),
        };
        // Shown even if the sender disconnects now; only the end of this process closes the channel.
        let _ = self.received.send(Received { delivery, at, checked, answered: response.status() }).await;
        response
    }
}

fn said(status: StatusCode, why: &str) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::from(format!("{why}\n")));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    response
}

async fn show_all(mut waiting: mpsc::Receiver<Received>, save: Option<&Path>, global: &Global, terminal: &Terminal) -> Done {
    let mut before = Seen::default();
    while let Some(received) = waiting.recv().await {
        let again = received.checked.is_ok() && before.has(received.delivery.id());
        let file = match save {
            // Otherwise anybody who reaches the port could fill the disk.
            Some(_) if received.checked.is_err() => {
                note("not kept: it is not genuine");
                None
            }
            Some(folder) => keep(folder, &received.delivery)?,
            None => None,
        };
        if global.json {
            terminal.json(document(&received, again, file.as_deref()).to_string().as_bytes())?;
        } else {
            terminal.line(entry(terminal, &received, again, file.as_deref()))?;
        }
    }
    Ok(())
}

/// The ids that were received lately.
#[derive(Default)]
struct Seen(VecDeque<String>);

impl Seen {
    /// Whether this id was received before; records it.
    fn has(&mut self, id: &str) -> bool {
        if self.0.iter().any(|seen| seen == id) {
            return true;
        }
        if self.0.len() == REMEMBERED {
            self.0.pop_front();
        }
        self.0.push_back(id.to_owned());
        false
    }
}

/// Writes a separate file for each attempt: `ID.1.http`, `ID.2.http`, … `None` if there are too many already.
fn keep(folder: &Path, delivery: &Delivery) -> Done<Option<PathBuf>> {
    // The id becomes part of a file name, so it must not be a path.
    let id: String = delivery.id().chars().filter(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-')).take(80).collect();
    let id = if id.is_empty() { "webhook" } else { &id };
    for number in 1..=MOST_FILES {
        let path = folder.join(format!("{id}.{number}.http"));
        let written = OpenOptions::new().write(true).create_new(true).open(&path).and_then(|mut file| file.write_all(&delivery.to_bytes()));
        match written {
            Ok(()) => return Ok(Some(path)),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => return Err(Failure::caused(format_args!("cannot write {}", path.display()), error)),
        }
    }
    note(format_args!("not kept: {} has {MOST_FILES} files of the webhook {id} already", folder.display()));
    Ok(None)
}

/// A webhook in the output for programs.
fn document(received: &Received, again: bool, file: Option<&Path>) -> serde_json::Value {
    let Received { delivery, at, checked, answered } = received;
    let body = String::from_utf8_lossy(&delivery.body);
    serde_json::json!({
        "received_at": rfc3339(*at),
        "id": delivery.id(),
        "type": delivery.event_type(),
        "verified": checked.is_ok(),
        "problem": checked.err().map(|error| error.to_string()),
        "sent_at": checked.ok().map(|sent_s| rfc3339(sent_s.saturating_mul(1_000))),
        "seen_before": again,
        "answered": answered.as_u16(),
        "file": file.map(|path| path.display().to_string()),
        "body": body,
    })
}

/// A webhook in the output for people: a line about it, then its body.
fn entry(terminal: &Terminal, received: &Received, again: bool, file: Option<&Path>) -> String {
    let Received { delivery, at, checked, answered } = received;
    let time = rfc3339(*at);
    let time = terminal.paint(Tone::Dim, time.get(11..19).unwrap_or(&time));
    let id = if delivery.id().is_empty() { "(no id)" } else { delivery.id() };
    let kind = delivery.event_type().map_or_else(|| "(no type)".to_owned(), |kind| printable(&kind));
    let kind = terminal.paint(Tone::Strong, kind);
    let (mark, about) = match checked {
        Ok(sent_s) => (terminal.paint(Tone::Good, "verified"), format!("sent {} s ago", (at / 1_000).saturating_sub(*sent_s))),
        Err(error) => (terminal.paint(Tone::Bad, "REFUSED "), terminal.paint(Tone::Bad, error)),
    };
    let again = if again { terminal.paint(Tone::Warn, ", seen before") } else { String::new() };
    let file = file.map(|path| format!(", kept in {}", path.display())).unwrap_or_default();
    let answered = terminal.paint(Tone::Dim, format_args!(", answered {}{file}", answered.as_u16()));
    let body = pretty::body(&delivery.body, |key| terminal.paint(Tone::Moving, key));
    format!("{time}  {mark}  {kind}  {id}\n          {about}{again}{answered}\n{body}\n")
}
