//! What the section does in a browser: it is fetched where the document had none, as on a way from another page, and every
//! half a minute while it is looked at.

use super::words;

/// The script. `session-timeout` is an element of its own, so that it begins wherever and whenever one is put in. What is
/// fetched is markup of our own server, which escapes all that comes from outside.
pub(crate) fn script() -> String {
    SCRIPT.replace("$FAILED", words::NOT_FETCHED)
}

const SCRIPT: &str = "customElements.define('session-timeout',class extends HTMLElement{\
connectedCallback(){const t=this;t.of=new AbortController;if(!t.firstElementChild)t.load();\
t.timer=setInterval(()=>{if(!document.hidden&&!t.matches(':focus-within'))t.load()},3e4)}\
disconnectedCallback(){this.of.abort();clearInterval(this.timer)}\
load(){const t=this,q=new URLSearchParams;if(t.busy)return;t.busy=1;\
for(const[k,v]of new URLSearchParams(location.search))if(/^(ensemble|id|at)$/.test(k))q.append(k,v);\
fetch('/session/timeout?'+q,{signal:t.of.signal}).then(r=>r.ok?r.text():Promise.reject()).then(h=>t.innerHTML=h)\
.catch(()=>{if(t.of.signal.aborted)return;const p=document.createElement('p');p.className='quiet';p.textContent='$FAILED';t.replaceChildren(p)})\
.finally(()=>t.busy=0)}});";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn its_sentence_fits_into_its_quotes() {
        assert!(!words::NOT_FETCHED.contains(['\'', '\\', '<', '\n']));
        assert!(script().contains(&format!("'{}'", words::NOT_FETCHED)));
        assert!(script().len() < 1_500, "{} bytes", script().len());
    }
}
