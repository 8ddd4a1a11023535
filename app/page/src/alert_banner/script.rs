//! What the line does in a browser: it is fetched anew each ten seconds while somebody looks, or wants to be told of new
//! alerts; of those that it did not have before the browser tells, where that was asked for on the page of alerts. Where so many
//! fire that the line has not all of their keys, one that it had no place for before is not new. While somebody is at one of
//! its links it stays as it is.

use super::words;

/// The script. `alert-banner` is an element of its own, behind all that the page's code takes over.
pub(crate) fn script() -> String {
    SCRIPT.replace("$OLD", words::OLD).replace("$MANY", words::MANY)
}

const SCRIPT: &str = "customElements.define('alert-banner',class extends HTMLElement{\
connectedCallback(){const t=this;t.told=new Set(t.keys());t.fails=0;setTimeout(()=>t.look(),1e4)}\
keys(){return this.lines().map(l=>l.slice(l.indexOf(' ')+1))}\
lines(){return(this.line()?.dataset.keys??'').split('\\n').filter(x=>x)}\
line(){return this.querySelector('[data-keys]')}\
tells(){try{return localStorage.getItem('lockscope.alerts')==='on'&&window.Notification?.permission==='granted'}catch{return false}}\
send(title,body,tag){try{new Notification(title,{body,tag}).onclick=()=>focus()}catch{}}\
put(h){const t=this,was=t.keys().join(),from=Number(t.line()?.dataset.wholeAfter??-Infinity);if(t.matches(':focus-within'))return void delete t.querySelector('.alert-bar').dataset.old;t.innerHTML=h;const is=t.keys().join();\
if(is&&is!==was){const s=t.querySelector('.alert-count'),c=s.textContent;s.setAttribute('role','status');s.textContent='';setTimeout(()=>s.textContent=c,100)}\
const key=l=>l.slice(l.indexOf(' ')+1),n=t.lines().filter(l=>parseInt(l)>from&&!t.told.has(key(l))).map(key);t.told=new Set([...t.told,...t.keys()].slice(-1e3));if(!n.length||!t.tells())return;\
if(n.length>3)return t.send((n.length<32?n.length:t.line().dataset.number)+' $MANY','','lockscope.alerts');\
for(const d of t.querySelectorAll('data'))if(n.includes(d.value))t.send(d.title.replace(/\\p{C}/gu,'\\u2425'),d.textContent,d.value)}\
async look(){const t=this;if(!document.hidden||t.tells())try{const r=await fetch('/alerts/banner',{cache:'no-store',signal:AbortSignal.timeout(5e3)});\
if(r.status===404)return;if(r.status===401||r.status===403)t.put('');else if(!r.ok)throw 0;else t.put(await r.text());t.fails=0}\
catch{const b=t.querySelector('.alert-bar');if(++t.fails>1&&b)b.dataset.old='$OLD'}setTimeout(()=>t.look(),1e4)}});";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn its_words_fit_into_its_quotes() {
        for word in [words::OLD, words::MANY] {
            assert!(!word.contains(['\'', '\\', '<', '\n']) && script().contains(word));
        }
        assert!(!script().contains('$') && script().len() < 2_000, "{} bytes", script().len());
    }
}
