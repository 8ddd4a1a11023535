//! Runs of the lab over HTTP: ordered, looked at, stopped, and what goes wrong in them on purpose.

use axum::Json;
use axum::extract::{Path, State};
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE, LOCATION};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use lockscope_view::{FaultOrder, LabOrder, LabRun, LabRuns, LabStarted, ThrownFault};

use super::caller::Caller;
use super::params::Params;
use super::problem::{ErrorResponse, wrong};
use super::release_api::{JsonBody, read};
use super::{Http, csv};
use lockscope_lab::{LabDenied, LabRefusal, has_ended};

const ORDER: &str = "{\"strategies\": [\"predecessor\", \"herd_children\"], \"clients\": 50}";
const FAULT: &str = "{\"fault\": \"kill\", \"strategy\": \"predecessor\"}";

/// `POST /api/v1/lab/runs`.
pub(super) async fn start(
    State(http): State<Http>,
    Caller { actor, .. }: Caller,
    order: JsonBody<LabOrder>,
) -> Result<Response, ErrorResponse> {
    let id = http.lab.start(&actor, read(order, ORDER)?).await?;
    let at = HeaderValue::from_str(&format!("/api/v1/lab/runs/{id}"));
    let mut response = (StatusCode::CREATED, Json(LabStarted { id })).into_response();
    if let Ok(at) = at {
        response.headers_mut().insert(LOCATION, at);
    }
    Ok(response)
}

/// `GET /api/v1/lab/runs`.
pub(super) async fn runs(
    State(http): State<Http>,
    Caller { scope, .. }: Caller,
    _: Params,
) -> Result<Json<LabRuns>, ErrorResponse> {
    Ok(Json(http.lab.runs(&scope)))
}

/// `GET /api/v1/lab/runs/ID`, as a table with `?format=csv` or with `.csv` after the id.
pub(super) async fn run(
    State(http): State<Http>,
    caller: Caller,
    Path(id): Path<String>,
    Params(pairs): Params,
) -> Result<Response, ErrorResponse> {
    let (id, mut is_csv) = id.strip_suffix(".csv").map_or((id.as_str(), false), |id| (id, true));
    for (name, value) in pairs {
        match (name.as_str(), value.as_str()) {
            ("format", "csv") => is_csv = true,
            ("format", "json" | "") => is_csv = false,
            ("format", other) => return Err(wrong("format", other, "json or csv")),
            _ => {}
        }
    }
    let run = http.lab.run(&caller.scope, id)?;
    Ok(if is_csv { as_csv(&run) } else { Json(&*run).into_response() })
}

/// `DELETE /api/v1/lab/runs/ID`: 202 while it is being cleared, 200 when it is over.
pub(super) async fn stop(
    State(http): State<Http>,
    caller: Caller,
    Path(id): Path<String>,
) -> Result<Response, ErrorResponse> {
    let run = http.lab.stop(&caller.actor, &caller.scope, &id).await?;
    let status = if has_ended(run.state) { StatusCode::OK } else { StatusCode::ACCEPTED };
    Ok((status, Json(&*run)).into_response())
}

/// `POST /api/v1/lab/runs/ID/faults`.
pub(super) async fn throw(
    State(http): State<Http>,
    caller: Caller,
    Path(id): Path<String>,
    order: JsonBody<FaultOrder>,
) -> Result<Json<ThrownFault>, ErrorResponse> {
    let order = read(order, FAULT)?;
    Ok(Json(http.lab.throw(&caller.actor, &caller.scope, &id, order).await?))
}

fn as_csv(run: &LabRun) -> Response {
    let mut headers = HeaderMap::new();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(csv::MEDIA_TYPE));
    let name = format!("attachment; filename=\"lockscope-lab-{}.csv\"", run.id);
    headers.insert(CONTENT_DISPOSITION, HeaderValue::from_str(&name).unwrap_or(HeaderValue::from_static("attachment")));
    (headers, lockscope_lab::csv::table(run)).into_response()
}

impl From<LabRefusal> for ErrorResponse {
    fn from(refusal: LabRefusal) -> Self {
        let status = match refusal {
            LabRefusal::Off | LabRefusal::Busy(_) | LabRefusal::NotNow(_) => StatusCode::CONFLICT,
            LabRefusal::Bad(_) => StatusCode::UNPROCESSABLE_ENTITY,
            LabRefusal::Unknown(_) => StatusCode::NOT_FOUND,
        };
        Self::new(status, refusal.to_string())
    }
}

impl From<LabDenied> for ErrorResponse {
    fn from(denied: LabDenied) -> Self {
        match denied {
            LabDenied::Right(sentence) => Self::new(StatusCode::FORBIDDEN, sentence),
            LabDenied::Audit(_) | LabDenied::Closing => Self::unavailable(denied.to_string()),
            LabDenied::Lab(refusal) => refusal.into(),
        }
    }
}
