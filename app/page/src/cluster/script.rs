//! What the section does in a browser: it is fetched as it is put in, and every five seconds while it is looked at. On a
//! page of the past it stays empty.

use super::words;

/// The script. `cluster-replicas` is an element of its own, so that it begins wherever and whenever one is put in. What is
/// fetched is markup of our own server, which escapes all that comes from outside.
pub(crate) fn script() -> String {
    SCRIPT.replace("$FAILED", words::NOT_FETCHED)
}

const SCRIPT: &str = "customElements.define('cluster-replicas',class extends HTMLElement{\
connectedCallback(){const t=this;t.of=new AbortController;if(new URLSearchParams(location.search).has('at'))return;t.load();\
t.timer=setInterval(()=>{if(!document.hidden&&!t.matches(':focus-within'))t.load()},5e3)}\
disconnectedCallback(){this.of.abort();clearInterval(this.timer)}\
load(){const t=this;if(t.busy)return;t.busy=1;\
fetch('/status/cluster',{signal:t.of.signal}).then(r=>r.ok?r.text():Promise.reject()).then(h=>t.innerHTML=h)\
.catch(()=>{if(t.of.signal.aborted||!t.firstElementChild)return;const p=document.createElement('p');p.className='quiet';p.textContent='$FAILED';t.replaceChildren(p)})\
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
