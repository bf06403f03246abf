//! Chromium without a window, driven by its debugging protocol over two pipes: no port, no further program.
//!
//! Everything is bounded in time. The browser is a process group of its own, which is ended when the test ends, however
//! that is.

use std::env;
use std::fs::{self, File, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;

use serde_json::{json, Value};
use tempfile::TempDir;
use workspan_testkit::patience::{within, LIMIT};

const NAMES: &[&str] = &["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

/// A browser with one page.
pub(crate) struct Browser {
    child: Child,
    _folder: TempDir,
    pipe: File,
    messages: Receiver<Value>,
    session: String,
    number: u64,
    /// What the page complained of: errors on its console, and exceptions.
    complaints: Vec<String>,
    /// What it asked the network for.
    requests: Vec<String>,
}

impl Browser {
    /// Starts one; `name` distinguishes it from those of other tests.
    pub(crate) fn start(name: &str) -> Browser {
        let program = NAMES.iter().find_map(|name| {
            env::split_paths(&env::var_os("PATH")?).map(|folder| folder.join(name)).find(|path| path.is_file())
        });
        let program =
            program.expect("these tests need Chromium: install the package `chromium`, or run `cargo xtask test`");
        let folder =
            tempfile::Builder::new().prefix(&format!("workspan-{name}-")).tempdir().expect("a folder for the browser");
        let [to, from] = ["to", "from"].map(|name| folder.path().join(name));
        let made = Command::new("mkfifo").args([&to, &from]).status().expect("mkfifo runs");
        assert!(made.success(), "there must be pipes");
        // Open at both ends, so that neither side waits for the other.
        let open = |path: &Path| OpenOptions::new().read(true).write(true).open(path).expect("a pipe");
        let (pipe, answers) = (open(&to), open(&from));
        let child = Command::new("sh")
            .arg("-c")
            .arg("exec \"$0\" \"$@\" 3<to 4>from")
            .arg(program)
            .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"])
            .args(["--disable-dev-shm-usage", "--disable-extensions", "--mute-audio", "--remote-debugging-pipe"])
            .args(["--hide-scrollbars", "--user-data-dir=profile", "about:blank"])
            .current_dir(&folder)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn()
            .expect("the browser starts");
        let (send, messages) = mpsc::channel();
        thread::spawn(move || {
            for message in BufReader::new(answers).split(0).map_while(Result::ok) {
                let sent = serde_json::from_slice(&message).ok().map(|message: Value| send.send(message));
                if !matches!(sent, Some(Ok(()))) {
                    return;
                }
            }
        });
        let session = String::new();
        let (complaints, requests) = (Vec::new(), Vec::new());
        let mut browser = Browser { child, _folder: folder, pipe, messages, session, number: 0, complaints, requests };
        let target = browser.call("Target.createTarget", &json!({"url": "about:blank"}));
        let attached = browser.call("Target.attachToTarget", &json!({"targetId": target["targetId"], "flatten": true}));
        browser.session = attached["sessionId"].as_str().expect("a session").to_owned();
        for domain in ["Page", "Runtime", "Log", "Network"] {
            browser.call(&format!("{domain}.enable"), &json!({}));
        }
        browser
    }

    /// Asks the browser, and waits for its answer.
    pub(crate) fn call(&mut self, method: &str, parameters: &Value) -> Value {
        self.number += 1;
        let number = self.number;
        let mut message = json!({"id": number, "method": method, "params": parameters});
        if !self.session.is_empty() {
            message["sessionId"] = json!(self.session);
        }
        self.pipe
            .write_all(message.to_string().as_bytes())
            .and_then(|()| self.pipe.write_all(&[0]))
            .expect("it listens");
        loop {
            let answer = self.next(method);
            if answer["id"] == json!(number) {
                assert!(answer["error"].is_null(), "{method}: {}", answer["error"]);
                return answer["result"].clone();
            }
            self.note(&answer);
        }
    }

    fn next(&mut self, what: &str) -> Value {
        self.messages.recv_timeout(LIMIT).unwrap_or_else(|error| panic!("the browser does not answer {what}: {error}"))
    }

    fn note(&mut self, event: &Value) {
        let parameters = &event["params"];
        match event["method"].as_str().unwrap_or_default() {
            "Runtime.exceptionThrown" => self.complaints.push(parameters["exceptionDetails"].to_string()),
            "Runtime.consoleAPICalled" if parameters["type"] != "log" => self.complaints.push(parameters.to_string()),
            "Log.entryAdded" => self.complaints.push(parameters["entry"].to_string()),
            "Network.requestWillBeSent" => {
                self.requests.push(parameters["request"]["url"].as_str().unwrap_or_default().to_owned());
            }
            _ => {}
        }
    }

    /// Opens a file of the disk, with this behind `#`, and waits until it is loaded and, if it computes, ready for that.
    pub(crate) fn open(&mut self, file: &Path, hash: &str) {
        self.call("Page.navigate", &json!({"url": "about:blank"}));
        let hash = if hash.is_empty() { String::new() } else { format!("#{hash}") };
        self.call("Page.navigate", &json!({"url": format!("file://{}{hash}", file.display())}));
        let ready = "document.readyState === 'complete' && location.protocol === 'file:' && (!document.getElementById('engine') || \
                     document.documentElement.dataset.ready === 'yes')";
        self.wait_for(ready);
    }

    /// The value of an expression, which may be a promise.
    #[track_caller]
    pub(crate) fn eval(&mut self, expression: &str) -> Value {
        let parameters = json!({"expression": expression, "returnByValue": true, "awaitPromise": true});
        let answer = self.call("Runtime.evaluate", &parameters);
        assert!(answer["exceptionDetails"].is_null(), "{expression}: {}", answer["exceptionDetails"]);
        answer["result"]["value"].clone()
    }

    /// Waits until an expression is true.
    #[track_caller]
    pub(crate) fn wait_for(&mut self, expression: &str) {
        let found = within(LIMIT, || (self.eval(expression) == json!(true)).then_some(()));
        assert!(found.is_some(), "never: {expression}; {:?}", self.complaints);
    }

    /// Presses and releases a key.
    pub(crate) fn press(&mut self, key: &str) {
        let text = if key == "Enter" { "\r" } else { "" };
        let code = match key {
            "Enter" => 13,
            "Tab" => 9,
            "Escape" => 27,
            "ArrowLeft" => 37,
            "ArrowUp" => 38,
            "ArrowRight" => 39,
            "ArrowDown" => 40,
            _ => 0,
        };
        for kind in ["keyDown", "keyUp"] {
            let mut event = json!({"type": kind, "key": key, "code": key, "windowsVirtualKeyCode": code});
            if kind == "keyDown" && !text.is_empty() {
                event["text"] = json!(text);
            }
            self.call("Input.dispatchKeyEvent", &event);
        }
    }

    /// Light or dark, on the screen or on paper, so wide and high.
    pub(crate) fn show(&mut self, media: &str, scheme: &str, (width, height): (u32, u32)) {
        let features = json!([{"name": "prefers-color-scheme", "value": scheme}]);
        self.call("Emulation.setEmulatedMedia", &json!({"media": media, "features": features}));
        let size = json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false});
        self.call("Emulation.setDeviceMetricsOverride", &size);
    }

    /// Keeps what the page looks like, for somebody to look at. Returns the picture's bytes, base64.
    pub(crate) fn picture(&mut self, name: &str) -> String {
        let picture = self.call("Page.captureScreenshot", &json!({"format": "png"}));
        let data = picture["data"].as_str().expect("a picture").to_owned();
        let target =
            Path::new(env!("CARGO_TARGET_TMPDIR")).parent().expect("it is in the target folder").join("screenshots");
        fs::create_dir_all(&target).expect("the target folder can be written");
        fs::write(target.join(format!("{name}.png")), bytes(&data)).expect("the target folder can be written");
        data
    }

    /// The page has not complained, and has loaded nothing but itself.
    #[track_caller]
    pub(crate) fn check_quiet(&mut self) {
        self.eval("1");
        assert_eq!(self.complaints, Vec::<String>::new());
        let foreign: Vec<_> =
            self.requests.iter().filter(|url| !url.starts_with("file:") && *url != "about:blank").collect();
        assert_eq!(foreign, Vec::<&String>::new());
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // The group is ours: it was made for this browser.
        let end = format!("kill -s KILL -- -{}", self.child.id());
        let _ = Command::new("sh").args(["-c", &end]).stderr(Stdio::null()).status();
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// From base64.
fn bytes(text: &str) -> Vec<u8> {
    let value = |c: u8| match c {
        b'A'..=b'Z' => c - b'A',
        b'a'..=b'z' => c - b'a' + 26,
        b'0'..=b'9' => c - b'0' + 52,
        b'+' => 62,
        _ => 63,
    };
    let mut out = Vec::new();
    for chunk in text.trim_end_matches('=').as_bytes().chunks(4) {
        let bits = chunk.iter().fold(0u32, |bits, c| bits << 6 | u32::from(value(*c))) << (6 * (4 - chunk.len()));
        out.extend(bits.to_be_bytes()[1..chunk.len()].iter());
    }
    out
}
