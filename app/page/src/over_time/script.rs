//! What the section does in a browser: it is fetched when it comes into view or a range is chosen, and each minute; a drag
//! zooms, a click leads to that moment, `t` leads here. Without it every link does the same by an address.

use super::words;

/// The script. `over-time` is an element of its own, so that it begins wherever and whenever one is put in: by the
/// document, or by the page's code. What is fetched is markup of our own server, which escapes all that comes from outside.
pub(crate) fn script() -> String {
    SCRIPT.replace("$FAILED", words::NOT_FETCHED).replace("$OLD", words::STAYS_OLD)
}

const SCRIPT: &str = "customElements.define('over-time',class extends HTMLElement{\
connectedCallback(){const t=this,n=t.of=new AbortController,on=(e,k,f)=>e.addEventListener(k,f,{signal:n.signal});\
t.stamp();\
(t.seen=new IntersectionObserver(e=>{if(e.some(e=>e.isIntersecting)&&!t.drawn())t.load()},{rootMargin:'300px'})).observe(t);\
t.timer=setInterval(()=>{const f=t.querySelector('[data-state=follows] [data-every]');t.n=(t.n??0)+1;\
if(f&&t.n%f.dataset.every===0&&!document.hidden&&!t.down&&!t.matches(':focus-within'))t.load()},6e4);\
on(document,'click',e=>{if(e.target.closest('[data-testid=zone]'))setTimeout(()=>t.stamp())});\
on(document,'keydown',e=>{if(e.key!=='t'||e.ctrlKey||e.metaKey||e.altKey||/^(INPUT|SELECT|TEXTAREA)$/.test(e.target.tagName)||document.querySelector('dialog[open]'))return;\
e.preventDefault();t.scrollIntoView();t.focus({preventScroll:true})});\
on(t,'click',e=>{const a=e.target.closest('a[data-choice]');if(!a||e.button||e.ctrlKey||e.metaKey||e.shiftKey)return;e.preventDefault();t.go(a.href,a.dataset.choice)});\
on(t,'dragstart',e=>e.preventDefault());\
on(t,'pointerdown',e=>{const p=e.target.closest('.ot-plot');if(!p||e.button||e.target.closest('[data-explain]'))return;\
const b=p.getBoundingClientRect(),x=e.clientX,at=x=>Math.min(1,Math.max(0,(x-b.left)/b.width)),r=p.querySelector('.ot-brush'),\
f=+p.dataset.from,l=p.dataset.to-f,ms=x=>Math.round(f+l*at(x)),c=t.down=new AbortController,\
go=(k,g)=>document.addEventListener(k,g,{signal:c.signal,capture:true}),stop=e=>{e.preventDefault();e.stopPropagation()},\
end=()=>{c.abort();t.down=null;r.setAttribute('width',0)};let m=false;\
go('pointermove',e=>{if(!e.buttons)return end();m||=Math.abs(e.clientX-x)>5;if(m){const y=at(e.clientX),z=at(x);r.setAttribute('x',Math.min(y,z)*100+'%');r.setAttribute('width',Math.abs(y-z)*100+'%')}});\
go('pointercancel',end);go('keydown',e=>{if(e.key==='Escape')end()});\
go('pointerup',e=>{if(!m)return void setTimeout(end,50);end();const s=new AbortController;document.addEventListener('click',stop,{signal:s.signal,capture:true});setTimeout(()=>s.abort(),50);\
const u=new URL(location),q=u.searchParams,y=ms(x),z=ms(e.clientX),o=Math.max(0,(1e4-Math.abs(y-z))/2);\
q.delete('range');q.set('from',Math.max(0,Math.floor(Math.min(y,z)-o)));q.set('to',Math.ceil(Math.max(y,z)+o));t.go(u)});\
go('click',e=>{end();const a=e.target.closest('a');if(!a||!t.contains(a)||e.ctrlKey||e.metaKey||e.shiftKey)return;stop(e);const v=new URL(a.getAttribute('href'),location);v.searchParams.set('at',ms(x));location.href=v})})}\
disconnectedCallback(){this.of.abort();this.seen.disconnect();clearInterval(this.timer);this.down?.abort()}\
drawn(){return this.querySelector('[data-state]:not([data-state=waits])')}\
stamp(){let u=false;try{u=localStorage.getItem('lockscope.time')==='utc'}catch{}\
for(const e of this.querySelectorAll('[data-ms]')){const n=+e.dataset.ms,z=u?0:new Date(n).getTimezoneOffset()*6e4;e.textContent=new Date(n-z).toISOString().replace('T',' ').slice(...e.dataset.cut.split(','))}\
for(const e of this.querySelectorAll('[data-zone]'))e.textContent=u?'UTC':Intl.DateTimeFormat().resolvedOptions().timeZone??'local'}\
go(u,k){u=new URL(u);u.hash='';history.replaceState(history.state,'',u);this.load(k)}\
load(k){const t=this,n=new AbortController,q=new URLSearchParams;t.busy?.abort();t.busy=n;\
for(const[k,v]of new URLSearchParams(location.search))if(/^(ensemble|path|range|from|to|compare|at)$/.test(k))q.append(k,v);\
t.setAttribute('aria-busy','true');\
fetch('/lock/over-time?'+q,{signal:n.signal}).then(r=>r.ok?r.text():Promise.reject()).then(h=>{const o=[...t.querySelectorAll('details')].map(d=>d.open);\
t.innerHTML=h;t.querySelectorAll('details').forEach((d,i)=>d.open=o[i]);t.stamp();if(k)t.querySelector(`[data-choice=\"${k}\"]`)?.focus()})\
.catch(()=>{if(n.signal.aborted)return;const p=document.createElement('p');p.className='quiet';p.role='status';p.textContent=t.querySelector('.ot-plot')?'$OLD':'$FAILED';t.querySelector('[data-failed]')?.remove();p.dataset.failed='';(t.querySelector('section')??t).append(p)})\
.finally(()=>{if(t.busy===n)t.removeAttribute('aria-busy')})}});";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn its_sentences_fit_into_its_quotes() {
        let script = script();
        assert!(!script.contains('$') || script.contains("`[data-choice"), "{script}");
        for sentence in [words::NOT_FETCHED, words::STAYS_OLD] {
            assert!(!sentence.contains(['\'', '\\', '<', '\n']) && script.contains(&format!("'{sentence}'")));
        }
        assert!(script.len() < 4_500, "{} bytes", script.len());
    }
}
