//! What stands in docs/deploy: that it parses, and that the settings in it are good.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::cli::check;
use lockscope_campaign::clients::python;

pub(crate) fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/deploy").join(name)
}

/// Every document of a file.
pub(crate) fn yaml(name: &str) -> Vec<Value> {
    let program =
        "import json, sys, yaml; print(json.dumps(list(yaml.safe_load_all(open(sys.argv[1], encoding='utf-8')))))";
    let done = Command::new(python()).args(["-c", program]).arg(file(name)).output().unwrap();
    let remedy = "run `make test`, or `.tools/venv/bin/pip install pyyaml`";
    assert!(done.status.success(), "{name}: {}; without PyYAML, {remedy}", String::from_utf8_lossy(&done.stderr));
    serde_json::from_slice(&done.stdout).unwrap()
}

pub(crate) fn text(yaml: &Value) -> &str {
    yaml.as_str().unwrap()
}

#[tokio::test]
async fn the_configuration_of_the_manifests_is_good_but_for_the_people_who_are_not_there_yet() {
    let documents = yaml("kubernetes.yaml");
    let kind = |kind: &str| documents.iter().find(|document| document["kind"].as_str() == Some(kind)).unwrap();
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name).display().to_string();
    for secret in ["zk-auth", "zk-act-auth"] {
        std::fs::write(path(secret), "who:secret\n").unwrap();
    }
    let config = text(&kind("ConfigMap")["data"]["lockscope.toml"]);
    let config = config.replace("/run/secrets/lockscope", &path("")).replace("/data/lockscope", &path("data"));
    std::fs::write(path("lockscope.toml"), config).unwrap();
    check(
        &["check-config", "--config", &path("lockscope.toml")],
        64,
        "--listen 0.0.0.0:3000 reaches beyond this machine, and nobody can sign in",
    )
    .await;
    let job = &kind("Job")["spec"]["template"]["spec"]["containers"][0]["args"];
    std::fs::write(path("password"), "correct horse battery\n").unwrap();
    let placed =
        |word: &str| word.replace("/data/lockscope", &path("data")).replace("/first/password", &path("password"));
    let args: Vec<String> = job.as_array().unwrap().iter().map(|word| placed(text(word))).collect();
    check(&args.iter().map(String::as_str).collect::<Vec<_>>(), 0, "added the user admin, admin (everywhere)").await;
    check(&["check-config", "--config", &path("lockscope.toml")], 0, "").await;

    let pod = &kind("Deployment")["spec"]["template"]["spec"];
    let container = &pod["containers"][0];
    let args: Vec<&str> = container["args"].as_array().unwrap().iter().map(text).collect();
    assert_eq!(args, ["serve", "--config", "/etc/lockscope/lockscope.toml"]);
    for (probe, path) in [("livenessProbe", "/healthz"), ("readinessProbe", "/readyz"), ("startupProbe", "/healthz")] {
        assert_eq!(text(&container[probe]["httpGet"]["path"]), path);
    }
    assert_eq!(container["securityContext"]["readOnlyRootFilesystem"].as_bool(), Some(true));
    let mounted: Vec<&str> =
        container["volumeMounts"].as_array().unwrap().iter().map(|mount| text(&mount["name"])).collect();
    let volumes: Vec<&str> = pod["volumes"].as_array().unwrap().iter().map(|volume| text(&volume["name"])).collect();
    assert_eq!(mounted, volumes);
}

#[tokio::test]
async fn the_settings_of_the_trial_are_good() {
    let services = &yaml("compose.yaml")[0]["services"];
    let environment = services["lockscope"]["environment"].as_object().unwrap();
    let flags: Vec<String> =
        environment.iter().flat_map(|(name, value)| [flag(name), text(value).to_owned()]).collect();
    let mut args = vec!["check-config"];
    args.extend(flags.iter().map(String::as_str));
    check(&args, 0, "").await;
    assert_eq!(services["lockscope"]["command"], serde_json::json!(["serve"]));
    assert_eq!(services["lockscope"]["read_only"].as_bool(), Some(true));
    for port in services["zookeeper"]["ports"].as_array().unwrap() {
        assert!(text(port).starts_with("127.0.0.1:"), "{port:?}");
    }
}

fn flag(variable: &str) -> String {
    format!("--{}", variable.strip_prefix("LOCKSCOPE_").unwrap().to_lowercase().replace('_', "-"))
}

/// Where systemd is, the unit is looked at by it; its words are the only test of a unit.
#[test]
fn the_unit_is_clean() {
    let dir = tempfile::tempdir().unwrap();
    let unit = dir.path().join("lockscope.service");
    let text = std::fs::read_to_string(file("lockscope.service")).unwrap();
    assert!(text.contains("/usr/bin/lockscope serve"));
    // A small system has a shell and no `kill` program.
    assert!(!text.contains("bin/kill"));
    assert!(text.contains("\nLimitCORE=0\n"), "no secret is left in a core file");
    std::fs::write(&unit, text.replace("/usr/bin/lockscope", env!("CARGO_BIN_EXE_lockscope"))).unwrap();
    let Ok(done) = Command::new("systemd-analyze").arg("verify").arg(&unit).output() else { return };
    let told = format!("{}{}", String::from_utf8_lossy(&done.stdout), String::from_utf8_lossy(&done.stderr));
    assert!(done.status.success() && told.trim().is_empty(), "{told}");
}
