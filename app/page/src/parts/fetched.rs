//! What a section does in a browser that the server draws alone: it is an element of its own, which fetches itself wherever
//! and whenever it is put in, and anew while it is looked at. What is fetched is markup of our own server, which escapes all
//! that comes from outside.

/// Its script, by what differs, with a blank between two: the element's name; the address that is fetched and the parameters
/// of the page's own that go with it; how often, ms; on which condition it never is, is fetched at once, and says that it
/// `failed`.
pub(crate) fn fetched_script(of: &str, failed: &str) -> String {
    let places = ["$NAME", "$ADDRESS", "$KEYS", "$EVERY", "$NEVER", "$ONCE", "$SAYS", "$FAILED"];
    let texts = of.split(' ').chain([failed]);
    places.iter().zip(texts).fold(SCRIPT.to_owned(), |script, (place, text)| script.replace(place, text))
}

/// Each stay in the document has a controller of its own: what an earlier one still fetches holds up nothing.
const SCRIPT: &str = "customElements.define('$NAME',class extends HTMLElement{\
connectedCallback(){const t=this;t.of=new AbortController;if($NEVER)return;if($ONCE)t.load();\
t.timer=setInterval(()=>{if(!document.hidden&&!t.matches(':focus-within'))t.load()},$EVERY)}\
disconnectedCallback(){this.of.abort();clearInterval(this.timer)}\
load(){const t=this,o=t.of,q=new URLSearchParams;if(t.busy===o)return;t.busy=o;\
for(const[k,v]of new URLSearchParams(location.search))if(/^($KEYS)$/.test(k))q.append(k,v);\
fetch('$ADDRESS?'+q,{signal:o.signal}).then(r=>r.ok?r.text():r.status===404?'':Promise.reject()).then(h=>t.innerHTML=h)\
.catch(()=>{if(o.signal.aborted||!($SAYS))return;const p=document.createElement('p');p.className='quiet';p.textContent='$FAILED';t.replaceChildren(p)})\
.finally(()=>{if(t.busy===o)t.busy=0})}});";

#[cfg(test)]
mod tests {
    use crate::{cluster, session_timeout, time_to_lock};

    #[test]
    fn words_fit_into_their_quotes() {
        for script in [cluster::script(), session_timeout::script(), time_to_lock::script()] {
            let (_, words) = script.split_once("p.textContent='").unwrap();
            let (words, rest) = words.split_once("';").unwrap();
            assert!(
                !words.contains(['\\', '<', '\n']) && words.ends_with(" s.") && rest.starts_with("t.replaceChildren")
            );
            assert!(!script.replace(")$/.test", "").contains('$') && script.len() < 1_500, "{script}");
        }
    }
}
