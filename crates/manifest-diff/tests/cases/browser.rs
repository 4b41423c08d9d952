//! Chromium without a window, by the protocol of its developer tools over two pipes.

use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

const PROGRAM: &str = "/usr/bin/chromium";

/// A browser with one page.
pub(crate) struct Browser {
    child: Child,
    commands: File,
    answers: BufReader<File>,
    session: Value,
    last: u64,
    /// The console messages and errors of the page.
    pub(crate) complaints: Vec<String>,
    _folder: tempfile::TempDir,
}

impl Browser {
    /// # Panics
    /// If there is no Chromium; `.ci/run` installs it.
    pub(crate) fn open(file: &Path) -> Self {
        assert!(Path::new(PROGRAM).exists(), "{PROGRAM} is missing: install the package chromium");
        let folder = tempfile::tempdir().expect("a folder");
        let pipe = |name: &str| folder.path().join(name);
        let made = Command::new("mkfifo").args([pipe("in"), pipe("out")]).status().expect("mkfifo");
        assert!(made.success());
        // The shell gives it the pipes as the files 3 and 4, where it looks for them.
        let script = r#"exec "$0" --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --no-first-run \
            --user-data-dir="$1/profile" --remote-debugging-pipe about:blank 3<"$1/in" 4>"$1/out""#;
        let child = Command::new("sh")
            .args(["-c", script, PROGRAM])
            .arg(folder.path())
            .env("HOME", folder.path())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("chromium starts");
        let commands = OpenOptions::new().write(true).open(pipe("in")).expect("a pipe");
        let answers = BufReader::new(File::open(pipe("out")).expect("a pipe"));
        let mut browser = Self {
            child,
            commands,
            answers,
            session: Value::Null,
            last: 0,
            complaints: Vec::new(),
            _folder: folder,
        };
        let target = browser.call("Target.createTarget", &json!({"url": "about:blank"}))["targetId"].clone();
        let attached = browser.call("Target.attachToTarget", &json!({"targetId": target, "flatten": true}));
        browser.session = attached["sessionId"].clone();
        for domain in ["Page", "Runtime", "Log"] {
            browser.call(&format!("{domain}.enable"), &json!({}));
        }
        browser.call("Page.navigate", &json!({"url": format!("file://{}", file.display())}));
        browser.wait_for("Page.loadEventFired");
        browser
    }

    /// The value of an expression in the page.
    pub(crate) fn eval(&mut self, expression: &str) -> Value {
        let expression = format!("(async () => ({expression}))()");
        let parameters = json!({"expression": expression, "returnByValue": true, "awaitPromise": true});
        let answer = self.call("Runtime.evaluate", &parameters);
        assert!(answer.get("exceptionDetails").is_none(), "{expression}: {answer}");
        answer["result"]["value"].clone()
    }

    /// Presses a key that writes a character.
    pub(crate) fn press(&mut self, key: &str) {
        self.call("Input.dispatchKeyEvent", &json!({"type": "keyDown", "key": key, "text": key}));
        self.call("Input.dispatchKeyEvent", &json!({"type": "keyUp", "key": key}));
    }

    /// Makes the window another size, dark or light.
    pub(crate) fn look(&mut self, width: u32, height: u32, scheme: &str) {
        let size = json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600});
        self.call("Emulation.setDeviceMetricsOverride", &size);
        let features = json!([{"name": "prefers-color-scheme", "value": scheme}]);
        self.call("Emulation.setEmulatedMedia", &json!({"features": features}));
    }

    /// Returns a screenshot as a PNG in base64.
    pub(crate) fn screenshot(&mut self) -> String {
        let picture = self.call("Page.captureScreenshot", &json!({"format": "png"}));
        picture["data"].as_str().unwrap_or_default().to_owned()
    }

    fn call(&mut self, method: &str, parameters: &Value) -> Value {
        self.last += 1;
        let mut message = json!({"id": self.last, "method": method, "params": parameters});
        if self.session.is_string() {
            message["sessionId"] = self.session.clone();
        }
        self.commands.write_all(format!("{message}\0").as_bytes()).expect("chromium takes commands");
        loop {
            let answer = self.read();
            if answer["id"] == self.last {
                assert!(answer.get("error").is_none(), "{method}: {answer}");
                return answer["result"].clone();
            }
        }
    }

    fn wait_for(&mut self, event: &str) {
        while self.read()["method"] != event {}
    }

    fn read(&mut self) -> Value {
        let mut bytes = Vec::new();
        self.answers.read_until(0, &mut bytes).expect("chromium answers");
        assert_eq!(bytes.pop(), Some(0), "chromium is gone");
        let message: Value = serde_json::from_slice(&bytes).expect("JSON");
        if let Some("Runtime.exceptionThrown" | "Runtime.consoleAPICalled" | "Log.entryAdded") =
            message["method"].as_str()
        {
            self.complaints.push(message["params"].to_string());
        }
        message
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
