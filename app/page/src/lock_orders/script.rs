//! What the section does in a browser: it is fetched where the document had none, as on a way from another page, and each
//! minute; its instants are shown on the clock of whoever looks.

use super::words;

/// The script. `lock-orders` is an element of its own, so that it begins wherever and whenever one is put in.
pub(crate) fn script() -> String {
    SCRIPT.replace("$FAILED", words::NOT_FETCHED)
}

const SCRIPT: &str = "customElements.define('lock-orders',class extends HTMLElement{\
connectedCallback(){const t=this;t.of=new AbortController;t.stamp();if(!t.firstElementChild)t.load();\
t.timer=setInterval(()=>{if(!document.hidden&&!t.matches(':focus-within'))t.load()},6e4);\
document.addEventListener('click',e=>{if(e.target.closest('[data-testid=zone]'))setTimeout(()=>t.stamp())},{signal:t.of.signal})}\
disconnectedCallback(){this.of.abort();clearInterval(this.timer)}\
stamp(){let u=false;try{u=localStorage.getItem('lockscope.time')==='utc'}catch{}\
for(const e of this.querySelectorAll('[data-ms]')){const n=+e.dataset.ms,z=u?0:new Date(n).getTimezoneOffset()*6e4;e.textContent=new Date(n-z).toISOString().replace('T',' ').slice(0,19)}}\
load(){const t=this,o=t.of,q=new URLSearchParams(location.search),a=q.get('at');\
fetch('/waits/orders'+(a?'?at='+encodeURIComponent(a):''),{signal:o.signal}).then(r=>r.ok?r.text():Promise.reject()).then(h=>{\
const w=[...t.querySelectorAll('details')].map(d=>d.open);t.innerHTML=h;t.querySelectorAll('details').forEach((d,i)=>d.open=w[i]??false);t.stamp()})\
.catch(()=>{if(o.signal.aborted||t.firstElementChild)return;const p=document.createElement('p');p.className='quiet';p.textContent='$FAILED';t.append(p)})}});";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn its_sentence_fits_into_its_quotes() {
        assert!(!words::NOT_FETCHED.contains(['\'', '\\', '<', '\n']));
        assert!(script().contains(&format!("'{}'", words::NOT_FETCHED)));
        assert!(script().len() < 2_000, "{} bytes", script().len());
    }
}
