//! `railgate serve`: the service as a process, with its log, its signals and its first line.

use std::convert::Infallible;
use std::future::Future;
use std::io::{self, Write as _};

use super::settings::Settings;
use crate::telemetry::{self, parse_filter};
use crate::{Running, ServeError, start};

/// Runs a service until SIGINT or SIGTERM. The first line on standard output is `listening on http://HOST:PORT`, or
/// `https` if it serves HTTPS; then SIGHUP makes it reload the certificate.
///
/// # Errors
/// [`ServeError`].
pub(super) async fn serve(settings: Settings) -> Result<(), ServeError> {
    let filter = parse_filter(&settings.log_level).map_err(io::Error::other)?;
    let _log = telemetry::init(settings.log, filter)?;
    let ended = signals()?;
    let running = start(&settings.serve).await?;
    // Before the first line: those who have read it may send the signal.
    let renewals = renewals(&running)?;
    let mut out = io::stdout();
    writeln!(out, "listening on {}", running.origin())?;
    out.flush()?;
    tracing::info!(
        address = %running.address(),
        metrics = running.metrics_address().map(tracing::field::display),
        version = env!("CARGO_PKG_VERSION"),
        "serving"
    );
    let signal = tokio::select! {
        signal = ended => signal,
        never = renewals => match never {},
    };
    tracing::info!(signal, "shutting down");
    running.stop().await;
    tracing::info!("everything accepted is stored");
    Ok(())
}

/// Completes at the first signal to stop, with its name. A second one ends the process at once: its sender means it, and
/// nothing durable is lost.
fn signals() -> io::Result<impl Future<Output = &'static str>> {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        let mut interrupt = signal(SignalKind::interrupt())?;
        let mut terminate = signal(SignalKind::terminate())?;
        Ok(async move {
            let first = tokio::select! {
                _ = interrupt.recv() => "SIGINT",
                _ = terminate.recv() => "SIGTERM",
            };
            tokio::spawn(async move {
                tokio::select! {
                    _ = interrupt.recv() => {}
                    _ = terminate.recv() => {}
                }
                std::process::exit(130);
            });
            first
        })
    }
    #[cfg(not(unix))]
    Ok(async {
        let _ = tokio::signal::ctrl_c().await;
        "ctrl-c"
    })
}

/// Reloads the certificate at each SIGHUP. Without HTTPS there is nothing to reload, and the signal has its default
/// effect.
fn renewals(running: &Running) -> io::Result<impl Future<Output = Infallible>> {
    #[cfg(unix)]
    let mut asked = match running.is_encrypted() {
        true => Some(tokio::signal::unix::signal(tokio::signal::unix::SignalKind::hangup())?),
        false => None,
    };
    Ok(async move {
        #[cfg(unix)]
        while let Some(hangup) = &mut asked
            && hangup.recv().await.is_some()
        {
            // An error is in the log.
            let _ = running.reload_tls().await;
        }
        std::future::pending().await
    })
}
