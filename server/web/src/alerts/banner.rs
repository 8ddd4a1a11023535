//! Which alerts fire, in a line below every page, and `GET /alerts/banner`, which is that line as markup for its script.

use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::Response;
use lockscope_page::{AlertBanner, alert_banner};
use lockscope_view::Scope;

use crate::Http;
use crate::caller::Caller;
use crate::problem::ErrorResponse;
use crate::shared_answers::{Answer, AnswerRequest};

const MEDIA_TYPE: &str = "text/html; charset=utf-8";

/// `GET /alerts/banner`.
pub(crate) async fn show(State(http): State<Http>, asked: AnswerRequest) -> Result<Response, ErrorResponse> {
    http.alert_desk()?;
    let (own, scope) = (http.clone(), asked.scope.clone());
    let make = move || {
        let banner = own.alert_banner(&scope).unwrap_or_default();
        Answer::Text(MEDIA_TYPE, banner.into_markup().into())
    };
    Ok(http.shared.answer(asked, make).await)
}

/// Gives requests for pages the line that they end with.
pub(crate) async fn add(State(http): State<Http>, mut request: Request, next: Next) -> Response {
    let banner = request.extensions().get::<Caller>().and_then(|caller| http.alert_banner(&caller.scope));
    if let Some(banner) = banner {
        request.extensions_mut().insert(banner);
    }
    next.run(request).await
}

impl Http {
    /// The line for somebody; None where there are no alerts at all.
    pub(crate) fn alert_banner(&self, scope: &Scope) -> Option<AlertBanner> {
        let now_ms = self.alerts.as_ref()?.alerts.now_ms();
        Some(alert_banner(&self.loud_alerts(scope)?, now_ms))
    }
}
