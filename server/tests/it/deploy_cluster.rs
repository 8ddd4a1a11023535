//! Several replicas: the chart, the manifests that are made of it, and the trial with PostgreSQL. Where helm and
//! `kubernetes-validate` are, they have their say as well; without them what they would say was checked when the manifests were made.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use lockscope_campaign::clients::python;
use serde_json::Value;

use crate::cli::{check, lockscope};
use crate::deploy::{file, text, yaml};

/// Settings that a build may not have yet.
const CLUSTER: [&str; 2] = ["history_url_file", "[cluster]"];
const SECRETS: [&str; 4] = ["zk-auth", "zk-act-auth", "history-url", "admin-password"];

fn kinds<'a>(documents: &'a [Value], kind: &'a str) -> impl Iterator<Item = &'a Value> {
    documents.iter().filter(move |document| document["kind"] == kind)
}

fn only<'a>(documents: &'a [Value], kind: &'a str) -> &'a Value {
    kinds(documents, kind).next().unwrap_or_else(|| panic!("no {kind}"))
}

async fn knows_clusters() -> bool {
    let told = lockscope(&["config", "reference"]).output().await.unwrap();
    String::from_utf8(told.stdout).unwrap().contains("history_url_file")
}

/// Writes what the pods find in their secret.
fn write_secrets(dir: &Path) {
    for secret in SECRETS {
        let value = if secret == "history-url" {
            "postgres://who:secret@db:5432/lockscope"
        } else {
            "who:secret horse battery"
        };
        std::fs::write(dir.join(secret), format!("{value}\n")).unwrap();
    }
}

#[tokio::test]
async fn the_configuration_of_the_replicas_is_good_once_somebody_can_sign_in() {
    let documents = yaml("kubernetes-cluster.yaml");
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name).display().to_string();
    write_secrets(dir.path());
    let placed =
        |text: &str| text.replace("/run/secrets/lockscope", &path("")).replace("/data/lockscope", &path("data"));
    let mut config = placed(text(&only(&documents, "ConfigMap")["data"]["lockscope.toml"]));
    if !knows_clusters().await {
        let table = config.find(CLUSTER[1]).unwrap();
        config.truncate(table);
        config = config.lines().filter(|line| !line.starts_with(CLUSTER[0])).collect::<Vec<_>>().join("\n");
    }
    std::fs::write(path("lockscope.toml"), config).unwrap();
    let args = ["check-config", "--config", &path("lockscope.toml")];
    check(&args, 64, "--listen 0.0.0.0:3000 reaches beyond this machine, and nobody can sign in").await;
    let pod = &only(&documents, "StatefulSet")["spec"]["template"]["spec"];
    for container in pod["initContainers"].as_array().unwrap() {
        let words: Vec<String> = container["args"].as_array().unwrap().iter().map(|word| placed(text(word))).collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        check(&words, 0, "admin").await;
        check(&words, 0, "admin").await;
    }
    check(&args, 0, "").await;
}

#[test]
fn what_the_replicas_are_found_by_and_guarded_by_fits_them() {
    let documents = yaml("kubernetes-cluster.yaml");
    let set = only(&documents, "StatefulSet");
    assert!(set["spec"]["replicas"].as_u64() >= Some(2));
    let labels = set["spec"]["template"]["metadata"]["labels"].as_object().unwrap();
    let fits = |selector: &Value| {
        let selector = selector.as_object().unwrap();
        !selector.is_empty() && selector.iter().all(|(name, value)| labels.get(name) == Some(value))
    };
    assert!(fits(&set["spec"]["selector"]["matchLabels"]));
    assert!(fits(&only(&documents, "PodDisruptionBudget")["spec"]["selector"]["matchLabels"]));
    assert!(fits(&only(&documents, "NetworkPolicy")["spec"]["podSelector"]["matchLabels"]));
    let services: BTreeMap<&str, &Value> =
        kinds(&documents, "Service").map(|service| (text(&service["metadata"]["name"]), service)).collect();
    assert!(services.values().all(|service| fits(&service["spec"]["selector"])));
    assert_eq!(services[text(&set["spec"]["serviceName"])]["spec"]["clusterIP"], "None");
    let pod = &set["spec"]["template"]["spec"];
    assert_eq!(pod["securityContext"]["runAsNonRoot"], true);
    let volumes = pod["volumes"].as_array().unwrap().iter().map(|volume| text(&volume["name"]));
    let claims = set["spec"]["volumeClaimTemplates"].as_array().unwrap();
    let volumes: BTreeSet<&str> = volumes.chain(claims.iter().map(|claim| text(&claim["metadata"]["name"]))).collect();
    let containers = ["containers", "initContainers"].into_iter().flat_map(|which| pod[which].as_array().unwrap());
    for container in containers {
        let mounted = container["volumeMounts"].as_array().unwrap().iter().map(|mount| text(&mount["name"]));
        assert!(mounted.collect::<BTreeSet<_>>().is_subset(&volumes));
        let security = &container["securityContext"];
        assert_eq!(
            (&security["readOnlyRootFilesystem"], &security["allowPrivilegeEscalation"]),
            (&true.into(), &false.into())
        );
        assert_eq!(security["capabilities"]["drop"], serde_json::json!(["ALL"]));
        assert!(!container["resources"]["limits"]["memory"].is_null());
    }
    let container = &pod["containers"][0];
    for (probe, path) in [("livenessProbe", "/healthz"), ("readinessProbe", "/readyz"), ("startupProbe", "/healthz")] {
        assert_eq!(container[probe]["httpGet"]["path"], path);
    }
    // Whoever is named to a shell by the comment at the head is what the pods ask for.
    let head = std::fs::read_to_string(file("kubernetes-cluster.yaml")).unwrap();
    assert!(
        SECRETS
            .iter()
            .all(|secret| head.lines().take_while(|line| line.starts_with('#')).any(|line| line.contains(secret)))
    );
}

#[test]
fn the_server_is_given_no_password() {
    for (file, kind) in [("kubernetes-cluster.yaml", "StatefulSet"), ("kubernetes.yaml", "Deployment")] {
        let documents = yaml(file);
        let pod = &only(&documents, kind)["spec"]["template"]["spec"];
        let volumes = pod["volumes"].as_array().unwrap();
        let secret = volumes.iter().find(|volume| volume["name"] == "secrets").unwrap();
        let keys = secret["secret"]["items"].as_array().unwrap().iter().map(|item| text(&item["key"]));
        let keys: Vec<&str> = keys.collect();
        assert!(keys.contains(&"zk-auth") && keys.iter().all(|key| !key.contains("password")), "{file}: {keys:?}");
        let config = text(&only(&documents, "ConfigMap")["data"]["lockscope.toml"]);
        let named = config.split("/run/secrets/lockscope/").skip(1).map(|rest| rest.split('"').next().unwrap());
        assert_eq!(named.collect::<BTreeSet<_>>(), keys.into_iter().collect(), "{file}");
    }
}

#[test]
fn each_value_of_the_chart_is_in_its_schema_and_each_that_is_used_has_a_default() {
    let values = &yaml("helm/lockscope/values.yaml")[0];
    let schema: Value =
        serde_json::from_str(&std::fs::read_to_string(file("helm/lockscope/values.schema.json")).unwrap()).unwrap();
    compare("", values, &schema);
    for template in std::fs::read_dir(file("helm/lockscope/templates")).unwrap() {
        let template = std::fs::read_to_string(template.unwrap().path()).unwrap();
        for used in template.split(".Values.").skip(1) {
            let name: String = used.chars().take_while(|char| char.is_ascii_alphanumeric() || *char == '.').collect();
            let pointer = format!("/{}", name.trim_end_matches('.').replace('.', "/"));
            assert!(values.pointer(&pointer).is_some(), "{pointer} has no default");
        }
    }
}

/// The same names in both, where the schema is closed.
fn compare(at: &str, values: &Value, schema: &Value) {
    let (Some(values), Some(properties)) = (values.as_object(), schema["properties"].as_object()) else { return };
    assert_eq!(schema["additionalProperties"], false, "{at} is open");
    for (name, value) in values {
        let inner = properties.get(name).unwrap_or_else(|| panic!("{at}.{name} is not in the schema"));
        compare(&format!("{at}.{name}"), value, inner);
    }
    for name in properties.keys().filter(|name| *name != "global") {
        assert!(values.contains_key(name), "{at}.{name} has no default");
    }
}

/// Of `LOCKSCOPE_HELM`, or of the path.
fn helm(args: &[&str]) -> Option<std::process::Output> {
    let program = std::env::var_os("LOCKSCOPE_HELM").map_or_else(|| PathBuf::from("helm"), PathBuf::from);
    let chart = file("helm/lockscope");
    let home = tempfile::tempdir().unwrap();
    let mut command = Command::new(program);
    for name in ["HELM_CACHE_HOME", "HELM_CONFIG_HOME", "HELM_DATA_HOME"] {
        command.env(name, home.path());
    }
    command.args(["template", "lockscope"]).arg(chart).args(["--namespace", "lockscope"]).args(args).output().ok()
}

#[test]
fn helm_makes_the_manifests_that_are_here_and_refuses_replicas_without_a_cluster() {
    let Some(made) = helm(&[]) else {
        eprintln!("skipped: no helm on the path, nor LOCKSCOPE_HELM");
        return;
    };
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let here = std::fs::read_to_string(file("kubernetes-cluster.yaml")).unwrap();
    let body: Vec<&str> = here.lines().skip_while(|line| line.starts_with('#')).collect();
    assert_eq!(
        String::from_utf8_lossy(&made.stdout).lines().collect::<Vec<_>>(),
        body,
        "make it anew, as its head says"
    );
    for (bad, why) in [
        ("cluster.enabled=false", "/cluster/enabled"),
        ("replicas=0", "/replicas"),
        ("origin=http://a", "/origin"),
        ("zookeeper.connect=zk1", "/zookeeper/connect"),
        ("replica=2", "replica"),
        ("cluster.watch=owned", "watch"),
    ] {
        let made = helm(&["--set", bad]).unwrap();
        assert!(!made.status.success() && String::from_utf8_lossy(&made.stderr).contains(why), "{bad}");
    }
    let one = helm(&["--set", "replicas=1,cluster.enabled=false,ingress.enabled=true"]).unwrap();
    let one = String::from_utf8_lossy(&one.stdout);
    assert!(one.contains("kind: Ingress") && !one.contains("history_url_file") && !one.contains("PodDisruptionBudget"));
}

#[test]
fn kubernetes_takes_the_manifests() {
    let validate = |name: &str| {
        Command::new(python()).args(["-m", "kubernetes_validate", "--strict"]).arg(file(name)).output().unwrap()
    };
    let has = Command::new(python()).args(["-c", "import kubernetes_validate"]).output().unwrap().status.success();
    if !has {
        eprintln!("skipped: {} has no kubernetes-validate", python().display());
    }
    for name in ["kubernetes.yaml", "kubernetes-cluster.yaml"].into_iter().filter(|_| has) {
        let told = validate(name);
        assert!(told.status.success(), "{name}: {}", String::from_utf8_lossy(&told.stdout));
    }
}

#[tokio::test]
async fn the_settings_of_the_trial_with_two_replicas_are_good() {
    let services = &yaml("compose-cluster.yaml")[0]["services"];
    let dir = tempfile::tempdir().unwrap();
    let url = dir.path().join("history-url");
    std::fs::write(&url, "postgres://lockscope:secret@127.0.0.1:5432/lockscope\n").unwrap();
    let knows = knows_clusters().await;
    let mut seen = BTreeSet::new();
    for name in ["lockscope-1", "lockscope-2"] {
        let mut command = lockscope(&["check-config"]);
        for (variable, value) in services[name]["environment"].as_object().unwrap() {
            let value = text(value).replace("/run/secrets/history-url", &url.display().to_string());
            let is_of_cluster = variable.contains("_CLUSTER_") || variable.contains("HISTORY_URL");
            if knows || !is_of_cluster {
                command.env(variable, &value);
            }
            if ["LOCKSCOPE_LISTEN", "LOCKSCOPE_CLUSTER_ID", "LOCKSCOPE_CLUSTER_ADDRESS"].contains(&variable.as_str()) {
                assert!(seen.insert(value.clone()), "{value} is of both");
                assert!(!value.contains(':') || value.contains("127.0.0.1:"), "{value}");
            }
        }
        let told = command.output().await.unwrap();
        assert!(told.status.success(), "{name}: {}", String::from_utf8_lossy(&told.stderr));
        assert_eq!(services[name]["read_only"], true);
    }
    for service in ["zookeeper", "postgres"] {
        let ports = services[service]["ports"].as_array().unwrap();
        assert!(ports.iter().all(|port| text(port).starts_with("127.0.0.1:")), "{ports:?}");
    }
}
