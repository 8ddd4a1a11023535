//! What the section does in a browser: it is fetched when it comes into view, and every ten seconds while it is looked at.

use super::words;

/// The script. `time-to-lock` is an element of its own, so that it begins wherever and whenever one is put in. What is
/// fetched is markup of our own server, which escapes all that comes from outside.
pub(crate) fn script() -> String {
    SCRIPT.replace("$FAILED", words::NOT_FETCHED)
}

const SCRIPT: &str = "customElements.define('time-to-lock',class extends HTMLElement{\
connectedCallback(){const t=this;t.of=new AbortController;t.load();\
t.timer=setInterval(()=>{if(!document.hidden&&!t.matches(':focus-within'))t.load()},1e4)}\
disconnectedCallback(){this.of.abort();clearInterval(this.timer)}\
load(){const t=this,q=new URLSearchParams;if(t.busy)return;t.busy=1;\
for(const[k,v]of new URLSearchParams(location.search))if(/^(ensemble|path|at)$/.test(k))q.append(k,v);\
fetch('/lock/time-to-lock?'+q,{signal:t.of.signal}).then(r=>r.ok?r.text():r.status===404?'':Promise.reject()).then(h=>t.innerHTML=h)\
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
