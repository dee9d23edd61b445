//! Callbacks on their way to the gateway.

use std::io::{BufRead as _, BufReader, Read as _, Result, Write as _};
use std::net::TcpStream;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use railgate::rail::HttpRequest;

/// How many callbacks travel at a time. The gateway answers one when what it reports is stored: with fewer, callbacks would queue here.
const THREADS: usize = 16;

/// Send callbacks, each over a connection that it keeps. Once dropped, they end when all is sent.
pub struct Messengers {
    waiting: Option<Sender<HttpRequest>>,
    threads: Vec<JoinHandle<()>>,
}

impl Messengers {
    pub fn start() -> Self {
        let (waiting, next) = channel();
        let next = Arc::new(Mutex::new(next));
        let threads = (0..THREADS).map(|_| Arc::clone(&next)).map(|next| std::thread::spawn(move || send_all(&next))).collect();
        Self { waiting: Some(waiting), threads }
    }

    /// Has a callback sent. One that cannot be delivered is lost.
    pub fn send(&self, callback: HttpRequest) {
        self.waiting.as_ref().expect("not dropped").send(callback).expect("no panics");
    }
}

impl Drop for Messengers {
    fn drop(&mut self) {
        self.waiting = None;
        for thread in self.threads.drain(..) {
            thread.join().expect("no panics");
        }
    }
}

fn send_all(next: &Mutex<Receiver<HttpRequest>>) {
    let mut kept = None;
    loop {
        let callback = next.lock().expect("no panics").recv();
        let Ok(callback) = callback else { return };
        // The gateway may have closed a kept connection: whatever it closes without an answer is sent over a new one, once.
        kept = kept.and_then(|connection| deliver(connection, &callback).ok());
        if kept.is_none() {
            kept = connect(&callback).and_then(|connection| deliver(connection, &callback)).ok();
        }
    }
}

/// The address of the gateway, and the path of a callback.
fn place(callback: &HttpRequest) -> (&str, &str) {
    callback.url.trim_start_matches("http://").split_once('/').expect("an address and a path")
}

fn connect(callback: &HttpRequest) -> Result<BufReader<TcpStream>> {
    let stream = TcpStream::connect(place(callback).0)?;
    stream.set_nodelay(true)?;
    Ok(BufReader::new(stream))
}

/// Sends a callback, waits for its answer and returns the connection, which is ready for the next.
fn deliver(mut stream: BufReader<TcpStream>, callback: &HttpRequest) -> Result<BufReader<TcpStream>> {
    let (address, path) = place(callback);
    let mut head = format!("{} /{path} HTTP/1.1\r\nhost: {address}\r\ncontent-length: {}\r\n", callback.method, callback.body.len());
    for (name, value) in &callback.headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    stream.get_mut().write_all(&[head.as_bytes(), b"\r\n", &callback.body].concat())?;
    let (mut line, mut length) = (String::new(), 0);
    while line != "\r\n" {
        line.clear();
        if stream.read_line(&mut line)? == 0 {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
        if let Some((_, value)) = line.split_once(':').filter(|(name, _)| name.eq_ignore_ascii_case("content-length")) {
            length = value.trim().parse().map_err(std::io::Error::other)?;
        }
    }
    stream.read_exact(&mut vec![0; length])?;
    Ok(stream)
}
