//! `varnorm serve`, asked over sockets.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::support::{Folder, bytes};

pub(super) struct Server {
    process: Child,
    address: String,
}

impl Server {
    fn start(folder: &Folder, options: &str) -> Self {
        let line = format!("serve walking.model --listen 127.0.0.1:0 {options}");
        Self::of(folder.command(line.split_whitespace()))
    }

    pub(super) fn of(mut command: Command) -> Self {
        let mut process = command.spawn().unwrap();
        let mut first = String::new();
        let mut err = BufReader::new(process.stderr.take().unwrap());
        err.read_line(&mut first).unwrap();
        let address = first.trim().strip_prefix("listening on http://").unwrap().trim_end_matches('/').into();
        // Somebody has to read what it says.
        std::thread::spawn(move || std::io::copy(&mut err, &mut std::io::sink()));
        Self { process, address }
    }

    fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        stream
    }

    fn signal(&self, name: &str) {
        let id = self.process.id().to_string();
        assert!(Command::new("kill").args([&format!("-{name}"), &id]).status().unwrap().success());
    }

    /// One request on a connection of its own: status, head, body.
    pub(super) fn ask(&self, method: &str, path: &str, headers: &str, body: &[u8]) -> (u16, String, Vec<u8>) {
        let mut stream = self.connect();
        stream.write_all(&head(method, path, headers, body.len())).unwrap();
        // A server may answer, and hang up, before it has read everything.
        let _ = stream.write_all(body);
        answer(stream)
    }

    fn json(&self, path: &str, body: &str) -> (u16, Value) {
        let (status, _, body) = self.ask("POST", path, "Content-Type: application/json\r\n", body.as_bytes());
        (status, serde_json::from_slice(&body).unwrap())
    }

    fn get(&self, path: &str) -> (u16, String) {
        let (status, _, body) = self.ask("GET", path, "", b"");
        (status, String::from_utf8(body).unwrap())
    }

    /// A number of `/metrics`.
    fn metric(&self, name: &str) -> u64 {
        let (_, metrics) = self.get("/metrics");
        let line = metrics.lines().find(|line| line.split(' ').next() == Some(name));
        line.and_then(|line| line.split(' ').nth(1)?.parse().ok()).expect(name)
    }

    /// Connections that are left half way: every other one in its head, the others in their body.
    fn halves(&self, count: usize) -> Vec<TcpStream> {
        let half = |i| if i % 2 == 0 { head_and_half() } else { b"POST /v1/sco".to_vec() };
        (0..count)
            .map(|i| {
                let mut stream = self.connect();
                // One that was closed for another cannot be written to.
                let _ = stream.write_all(&half(i));
                stream
            })
            .collect()
    }

    /// Asks so many times, and gives the longest time that an answer took.
    fn slowest_of(&self, count: usize) -> Duration {
        let asked = (0..count).map(|_| {
            let began = Instant::now();
            assert_eq!(self.json("/v1/score", &one()).0, 200);
            began.elapsed()
        });
        asked.max().unwrap_or_default()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn head(method: &str, path: &str, headers: &str, length: usize) -> Vec<u8> {
    format!("{method} {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: {length}\r\n{headers}\r\n")
        .into_bytes()
}

fn answer(mut stream: TcpStream) -> (u16, String, Vec<u8>) {
    let mut all = Vec::new();
    // An answer that came before the body was read ends in a reset: what came before it counts.
    let _ = stream.read_to_end(&mut all);
    let end = all.windows(4).position(|w| w == b"\r\n\r\n").expect("an answer") + 4;
    let head = String::from_utf8(all[..end].to_vec()).unwrap();
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    (status, head, all[end..].to_vec())
}

/// Ends those that watch a flag.
struct SetOnDrop<'a>(&'a AtomicBool);

impl Drop for SetOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// A series of the model's shape.
fn one() -> String {
    let steps: Vec<Vec<f64>> = (0..100).map(|t| (0..6).map(|c| f64::from(t * c) * 0.01).collect()).collect();
    json!({ "series": [steps] }).to_string()
}

#[test]
fn answers_are_those_of_the_program() {
    let folder = Folder::with_model();
    let server = Server::start(&folder, "");
    let expected = folder.line("score walking.model test.ts --format json").code(0).json();
    let (status, _, body) = server.ask("POST", "/v1/score?name=test.ts", "", &bytes(&folder.path("test.ts")));
    assert_eq!(status, 200);
    assert_eq!(serde_json::from_slice::<Value>(&body).unwrap(), expected);
    // The same series as JSON, with names.
    let test = varnorm::data::basic_motions().unwrap().test;
    let steps = |i: usize| (0..100).map(|t| test.series.series(i).step(t).to_vec()).collect::<Vec<_>>();
    let series: Vec<_> = (0..40).map(steps).collect();
    let names: Vec<String> = (0..40).map(|i| format!("<n{i}>")).collect();
    let (status, found) = server
        .json("/v1/score?decision=each&level=0.2", &json!({ "series": series, "names": names }).to_string());
    assert_eq!((status, &found["rule"], &found["level"]), (200, &json!("each"), &json!(0.2)));
    for i in 0..40 {
        assert_eq!(found["findings"][i]["score"], expected["findings"][i]["score"]);
        assert_eq!(found["findings"][i]["name"], names[i]);
    }
    let (status, model) = server.get("/v1/model");
    let inspected = folder.line("inspect walking.model --format json").code(0).json();
    assert_eq!((status, serde_json::from_str::<Value>(&model).unwrap()), (200, inspected));
    let (status, head, page) =
        server.ask("POST", "/v1/report?name=test.ts&normal=Walking", "", &bytes(&folder.path("test.ts")));
    assert!(status == 200 && head.contains("text/html") && page.starts_with(b"<!doctype html>"), "{head}");
    assert_eq!(server.get("/healthz"), (200, "ok\n".into()));
    let (_, metrics) = server.get("/metrics");
    assert!(metrics.contains("varnorm_requests_total{path=\"/v1/score\",status=\"200\"} 2\n"), "{metrics}");
    assert!(metrics.contains("varnorm_series_scored_total 120\n"), "{metrics}");
    let openapi: Value = serde_json::from_str(&server.get("/openapi.json").1).unwrap();
    for path in ["/", "/healthz", "/metrics", "/openapi.json", "/v1/model"] {
        assert!(openapi["paths"][path]["get"].is_object() && server.get(path).0 == 200, "{path}");
    }
}

#[test]
fn what_is_beyond_a_limit_is_refused() {
    let folder = Folder::with_model();
    let server = Server::start(
        &folder,
        "--body-limit 20000 --series-limit 3 --length-limit 150 --time-limit 2 --concurrency 1 --queue-limit 0",
    );
    let says = |(status, found): (u16, Value), expected: u16, words: &str| {
        let sentence = found["error"].as_str().unwrap();
        assert!(status == expected && sentence.contains(words), "{status}: {sentence}");
    };
    says(server.json("/v1/score", &" ".repeat(20_001)), 413, "more than 20000 bytes");
    says(
        server.json("/v1/score", &json!({ "series": vec![[[1.0]]; 4] }).to_string()),
        413,
        "more than 3 series",
    );
    says(
        server.json("/v1/score", &json!({ "series": [vec![[1.0]; 151]] }).to_string()),
        413,
        "more than 150 steps",
    );
    says(server.json("/v1/score", "{\"series\":[[[\"a\"]]]}"), 400, "invalid type");
    says(server.json("/v1/score", "{\"series\":[[[1,2]]]}"), 422, "2 channels where 6 are expected");
    says(server.json("/v1/score?level=2", &one()), 422, "level = 2");
    says(server.json("/v1/score?levle=2", &one()), 400, "unknown field");
    says(server.json("/v1/no", ""), 404, "no such path");
    let of = |(status, _, body): (u16, String, Vec<u8>)| (status, serde_json::from_slice(&body).unwrap());
    says(of(server.ask("POST", "/v1/score", "", b"1,2")), 415, "?name=");
    says(of(server.ask("GET", "/v1/score", "", b"")), 405, "another method");
    says(
        of(server.ask("POST", "/v1/score?name=a.csv", "Origin: http://evil.example\r\n", b"1")),
        403,
        "other sites",
    );
    // A name is reflected as text of JSON, and opens no file.
    let (status, head, body) = server.ask("POST", "/v1/score?name=%3Cscript%3E/../../etc/passwd", "", b"x");
    assert!(status == 422 && head.contains("application/json") && head.contains("nosniff"), "{head}");
    assert!(String::from_utf8(body).unwrap().contains("the file's name has no extension"));
    // Half a body has its time, and nobody waits for it: bodies are received before a turn is taken.
    let mut slow = server.connect();
    let sent = head_and_half();
    slow.write_all(&sent).unwrap();
    let began = Instant::now();
    assert_eq!(server.json("/v1/score", &one()).0, 200);
    let (status, _, _) = answer(slow);
    assert_eq!(status, 408);
    assert!(began.elapsed() > Duration::from_millis(1500), "{:?}", began.elapsed());
}

fn head_and_half() -> Vec<u8> {
    let body = one();
    let mut sent = head("POST", "/v1/score", "Content-Type: application/json\r\n", body.len());
    sent.extend(&body.as_bytes()[..body.len() / 2]);
    sent
}

#[test]
fn work_has_its_turn_and_its_time() {
    let folder = Folder::with_motions();
    folder.line("fit train.ts --normal Walking -o walking.model --kernel sig_pde:dyadic=4").code(0);
    let server = Server::start(&folder, "--time-limit 1.5 --concurrency 1 --queue-limit 1");
    // Far more work than can be done in the time: 10,000 Goursat problems of 2.5 million cells each.
    let series = &one()[11..one().len() - 2];
    let many = format!("{{\"series\":[{}]}}", vec![series; 1000].join(","));
    let statuses: Vec<u16> = std::thread::scope(|scope| {
        let asked: Vec<_> = (0..4).map(|_| scope.spawn(|| server.json("/v1/score", &many).0)).collect();
        asked.into_iter().map(|a| a.join().unwrap()).collect()
    });
    assert!(statuses.iter().all(|s| [408, 429].contains(s)), "{statuses:?}");
    assert!(statuses.contains(&408) && statuses.contains(&429), "{statuses:?}");
    // What was given up is over soon, and others have their turn.
    let end = Instant::now() + Duration::from_secs(20);
    while server.json("/v1/score", &one()).0 != 200 {
        assert!(Instant::now() < end);
    }
}

#[test]
fn a_token_is_wanted_beyond_loopback() {
    let folder = Folder::with_model();
    folder.line("serve walking.model --listen 0.0.0.0:0").fails("give a token");
    folder.line("serve walking.model --token short").fails("16 or more");
    folder.line("serve none.model").fails("none.model");
    let server = Server::start(&folder, "--token 0123456789abcdef");
    assert_eq!((server.get("/healthz").0, server.get("/").0), (200, 200));
    assert_eq!((server.get("/v1/model").0, server.get("/metrics").0), (401, 401));
    for (sent, status) in [("0123456789abcdef", 200), ("0123456789abcdeF", 401), ("", 401)] {
        let header = format!("Authorization: Bearer {sent}\r\n");
        assert_eq!(server.ask("GET", "/v1/model", &header, b"").0, status, "{sent}");
    }
}

#[test]
fn a_reload_drops_no_request_and_a_bad_model_changes_nothing() {
    let folder = Folder::with_model();
    let server = Server::start(&folder, "");
    let series = |server: &Server| -> u64 {
        let model: Value = serde_json::from_str(&server.get("/v1/model").1).unwrap();
        model["corpus"]["series"].as_u64().unwrap()
    };
    let (small, large) = ("fit train.ts --normal Walking -o walking.model", "fit train.ts -o walking.model");
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        // Also where an assertion fails: the scope waits for its threads.
        let _end = SetOnDrop(&done);
        let asking = scope.spawn(|| {
            let mut asked = 0;
            while !done.load(Ordering::Relaxed) {
                assert_eq!(server.json("/v1/score", &one()).0, 200);
                asked += 1;
            }
            asked
        });
        for (line, expected) in [(large, 40), (small, 10), (large, 40)] {
            folder.line(line).code(0);
            let (status, model) = server.json("/v1/reload", "");
            assert_eq!((status, &model["corpus"]["series"]), (200, &json!(expected)));
            assert_eq!(series(&server), expected);
        }
        folder.line(small).code(0);
        server.signal("HUP");
        let end = Instant::now() + Duration::from_secs(20);
        while series(&server) != 10 {
            assert!(Instant::now() < end, "SIGHUP was not heard");
        }
        folder.file("walking.model", "rubbish");
        let (status, found) = server.json("/v1/reload", "");
        assert_eq!(status, 409);
        assert!(found["error"].as_str().unwrap().contains("the old model stays in use"), "{found}");
        assert_eq!(series(&server), 10);
        done.store(true, Ordering::Relaxed);
        assert!(asking.join().unwrap() > 5);
    });
    let (_, metrics) = server.get("/metrics");
    assert!(metrics.contains("varnorm_model_reloads_total 4\n"), "{metrics}");
    assert!(metrics.contains("varnorm_model_reload_failures_total 1\n"), "{metrics}");
}

#[test]
fn what_is_running_is_finished() {
    let folder = Folder::with_model();
    let mut server = Server::start(&folder, "");
    let mut running = server.connect();
    let sent = head_and_half();
    running.write_all(&sent).unwrap();
    // Sure to be read: another request has been answered since.
    std::thread::sleep(Duration::from_millis(300));
    assert_eq!(server.get("/healthz").0, 200);
    server.signal("TERM");
    let end = Instant::now() + Duration::from_secs(20);
    while TcpStream::connect(&server.address).is_ok() {
        assert!(Instant::now() < end, "connections are still taken");
        std::thread::sleep(Duration::from_millis(20));
    }
    let body = one();
    running.write_all(&body.as_bytes()[body.len() / 2..]).unwrap();
    assert_eq!(answer(running).0, 200);
    assert_eq!(server.process.wait().unwrap().code(), Some(0));
}

/// What a client has for the head of a request: only who waits for a slow client takes so long.
const HEAD_TIME: Duration = Duration::from_secs(10);

#[test]
fn slow_and_hostile_clients_keep_nobody_waiting() {
    let folder = Folder::with_model();
    let server = Server::start(&folder, "");
    let slow = server.halves(100);
    let tiny = format!("{{\"series\":[{}]}}", vec!["[[1]]"; 1_000_000].join(","));
    std::thread::scope(|scope| {
        let hostile = scope.spawn(|| (0..3).map(|_| server.json("/v1/score", &tiny).0).collect::<Vec<u16>>());
        let longest = server.slowest_of(50);
        println!("the slowest of 50 requests beside them took {longest:?}");
        assert!(longest < HEAD_TIME, "{longest:?}");
        assert_eq!(hostile.join().unwrap(), [413, 413, 413]);
    });
    drop(slow);
}

#[test]
fn a_place_that_waits_for_its_client_is_given_to_others() {
    let folder = Folder::with_model();
    let server = Server::start(&folder, "--connection-limit 8");
    let slow = server.halves(16);
    // Heads have 10 seconds and bodies 30: whoever waits for those is caught by any bound below.
    let longest = server.slowest_of(50);
    println!("the slowest of 50 requests beside 16 halves, in 8 places, took {longest:?}");
    assert!(longest < HEAD_TIME, "{longest:?}");
    assert!(server.metric("varnorm_connections_evicted_total") >= 9);
    assert!(server.metric("varnorm_connections_open") <= 8);
    drop(slow);
}

#[test]
fn a_request_that_is_worked_on_keeps_its_place() {
    let folder = Folder::with_motions();
    folder.line("fit train.ts --normal Walking -o walking.model --kernel sig_pde:dyadic=4").code(0);
    let server = Server::start(&folder, "--connection-limit 2 --concurrency 1 --time-limit 120");
    // A second or more of work: 600 Goursat problems of 2.5 million cells each.
    let series = &one()[11..one().len() - 2];
    let many = format!("{{\"series\":[{}]}}", vec![series; 60].join(","));
    std::thread::scope(|scope| {
        let asked = scope.spawn(|| server.json("/v1/score", &many).0);
        let end = Instant::now() + Duration::from_secs(20);
        while server.metric("varnorm_turns_free") == 1 {
            assert!(Instant::now() < end && !asked.is_finished());
        }
        let slow = server.halves(20);
        assert!(server.metric("varnorm_connections_evicted_total") >= 20);
        assert_eq!(server.metric("varnorm_turns_free"), 0, "the work was over too soon to tell");
        assert_eq!(asked.join().unwrap(), 200);
        drop(slow);
    });
}

#[test]
fn the_limit_of_open_files_is_one_of_connections() {
    let folder = Folder::with_model();
    let program = folder.command(["serve", "walking.model", "--listen", "127.0.0.1:0"]);
    let mut command = Command::new("sh");
    command.args(["-c", "ulimit -n 40 && exec \"$0\" \"$@\""]).arg(program.get_program());
    command.args(program.get_args()).current_dir(program.get_current_dir().unwrap()).stderr(Stdio::piped());
    let server = Server::of(command);
    let slow = server.halves(60);
    let longest = server.slowest_of(10);
    println!("the slowest of 10 requests beside 60 halves, in 40 files, took {longest:?}");
    assert!(longest < HEAD_TIME, "{longest:?}");
    drop(slow);
}

/// A packed array that is small as bytes and large as numbers, labels that are all different, and far too many of both.
#[test]
fn uploads_are_held_to_their_memory_and_their_time() {
    let folder = Folder::with_model();
    let server = Server::start(&folder, "--body-limit 4000000 --time-limit 5 --concurrency 1");
    // 100 million bytes of zeros, which would be 800 million as numbers.
    let bomb = packed_zeros(100_000_000);
    assert!(bomb.len() < 400_000, "{}", bomb.len());
    let (status, _, body) = server.ask("POST", "/v1/score?name=a.npz", "", &bomb);
    assert_eq!(status, 413, "{}", String::from_utf8_lossy(&body));
    let labels: String = (0..200_000).map(|i| format!("{i}:id-{i}\n")).collect();
    let labels = format!("@problemName x\n@univariate true\n@classLabel true a\n@data\n{labels}");
    for _ in 0..2 {
        let (status, _, body) = server.ask("POST", "/v1/score?name=a.ts", "", labels.as_bytes());
        assert_eq!(status, 413, "{}", String::from_utf8_lossy(&body));
        assert_eq!(server.json("/v1/score", &one()).0, 200);
    }
    assert_eq!(server.get("/healthz"), (200, "ok\n".into()));
    // The most memory that it ever had.
    let status = std::fs::read_to_string(format!("/proc/{}/status", server.process.id())).unwrap();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    let peak: u64 = peak.split_whitespace().next().unwrap().parse().unwrap();
    assert!(peak < 400_000, "{peak} kB");
}

/// An `.npz` file with one array `X` of so many unsigned bytes, all zero.
fn packed_zeros(count: usize) -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("zeros.npz");
    let file = std::fs::File::create(&path).unwrap();
    let mut zip = zip::ZipWriter::new(file);
    let packed =
        zip::write::SimpleFileOptions::default().compression_method(zip::CompressionMethod::Deflated);
    zip.start_file("X.npy", packed).unwrap();
    let mut header = format!("{{'descr': '|u1', 'fortran_order': False, 'shape': (1, {count}), }}");
    while (10 + header.len() + 1) % 64 != 0 {
        header.push(' ');
    }
    header.push('\n');
    zip.write_all(b"\x93NUMPY\x01\x00").unwrap();
    zip.write_all(&(header.len() as u16).to_le_bytes()).unwrap();
    zip.write_all(header.as_bytes()).unwrap();
    let zeros = vec![0; 1 << 20];
    let mut left = count;
    while left > 0 {
        let some = left.min(zeros.len());
        zip.write_all(&zeros[..some]).unwrap();
        left -= some;
    }
    zip.finish().unwrap();
    bytes(&path)
}

/// 413 is for what is too large, and a client that sends all before it listens hears of it.
#[test]
fn statuses_say_what_is_wrong_with_a_body() {
    let folder = Folder::with_model();
    let server = Server::start(&folder, "--body-limit 100000");
    let sent = |bytes: &[u8]| {
        let mut stream = server.connect();
        stream.write_all(bytes).unwrap();
        answer(stream).0
    };
    let chunked = "POST /v1/score HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
                   Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n";
    assert_eq!(sent(format!("{chunked}-2\r\n").as_bytes()), 400);
    // Who stops in the middle of a body may be gone: the answer is lost, or right.
    let mut stream = server.connect();
    stream.write_all(&head("POST", "/v1/score", "Content-Type: application/json\r\n", 500)).unwrap();
    stream.shutdown(std::net::Shutdown::Write).unwrap();
    let mut all = String::new();
    let _ = stream.read_to_string(&mut all);
    assert!(all.is_empty() || all.starts_with("HTTP/1.1 400"), "{all}");
    let chunk = format!("{:x}\r\n{}\r\n", 50_000, " ".repeat(50_000));
    assert_eq!(sent(format!("{chunked}{}0\r\n\r\n", chunk.repeat(3)).as_bytes()), 413);
    // All of a million bytes are taken before the answer: writing does not fail.
    let mut stream = server.connect();
    stream.write_all(&head("POST", "/v1/score", "Content-Type: application/json\r\n", 1_000_000)).unwrap();
    stream.write_all(&vec![b' '; 1_000_000]).unwrap();
    assert_eq!(answer(stream).0, 413);
    // Who asks first is told first.
    let mut stream = server.connect();
    let asks = "Content-Type: application/json\r\nExpect: 100-continue\r\n";
    stream.write_all(&head("POST", "/v1/score", asks, 1_000_000)).unwrap();
    assert_eq!(answer(stream).0, 413);
    let (status, _, _) = server.ask(
        "POST",
        "/v1/score",
        "Content-Type: APPLICATION/JSON; charset=utf-8\r\n",
        one().as_bytes(),
    );
    assert_eq!(status, 200);
}

/// Work that does not notice that it is to stop must not keep the server alive.
#[test]
fn a_signal_ends_the_server_within_its_promise() {
    let folder = Folder::with_motions();
    folder.line("fit train.ts --normal Walking -o walking.model --kernel sig_pde:dyadic=4").code(0);
    let mut server = Server::start(&folder, "--time-limit 1 --concurrency 1");
    let series = &one()[11..one().len() - 2];
    let many = format!("{{\"series\":[{}]}}", vec![series; 1000].join(","));
    let mut stream = server.connect();
    stream.write_all(&head("POST", "/v1/score", "Content-Type: application/json\r\n", many.len())).unwrap();
    stream.write_all(many.as_bytes()).unwrap();
    std::thread::sleep(Duration::from_millis(300));
    server.signal("TERM");
    let began = Instant::now();
    while server.process.try_wait().unwrap().is_none() {
        assert!(began.elapsed() < Duration::from_secs(13), "time limit, head and a second");
        std::thread::sleep(Duration::from_millis(50));
    }
}
