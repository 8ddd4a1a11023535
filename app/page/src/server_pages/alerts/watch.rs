//! Looks for new alerts while the page is open: a small script. Without it the page is as it was when it was drawn.

use crate::erase::view;
use crate::exact::Exact;
use leptos::prelude::*;

use super::view::{AlertsView, is_loud};
use super::words;

const FROM: &str = "/api/v1/alerts?state=firing";

/// Asks each five seconds while somebody looks, or wants to be told; says in the title how many fire; tells of each new
/// one where that was asked for, of many at once with one message. When others fire than are drawn, the page is drawn
/// anew, once for each such set: not while somebody is at one of its forms.
pub(super) const SCRIPT: &str = "{const w=document.getElementById('alerts-watch'),d=w.dataset,b=document.getElementById('alerts-tell'),N=window.Notification,\
    title=document.title,k='lockscope.alerts',whole=s=>[...s].sort().join('\\n'),clean=t=>t.replace(/\\p{C}/gu,'\\u2425'),\
    drawn=whole(d.keys.split('\\n').filter(x=>x)),known=new Set(drawn.split('\\n'));let wants=false;\
    try{wants=localStorage.getItem(k)==='on'}catch{}\
    const tells=()=>wants&&N?.permission==='granted',say=n=>document.title=(n?n+' '+(n===1?d.one:d.many)+' · ':'')+title,\
    show=()=>{b.disabled=N?.permission==='denied';b.hidden=!N||!isSecureContext||b.disabled&&!wants;b.textContent=b.disabled?d.never:tells()?d.on:d.off},\
    send=(t,body,tag)=>{try{new Notification(t,{body,tag}).onclick=()=>focus()}catch{}},\
    anew=now=>{let was;const is=now===drawn,n=w.firstElementChild;try{was=sessionStorage.getItem(k);if(is)sessionStorage.removeItem(k);else sessionStorage.setItem(k,now)}catch{was=now}\
    if(is){n.hidden=true;return}if(was===now||document.querySelector('.alert [open]')||document.activeElement?.closest('main form')){n.hidden=false;return}\
    if(location.pathname+location.search===d.self)location.reload();else location.replace(d.self)},\
    look=async()=>{if(!document.hidden||tells())try{const r=await fetch(d.from,{cache:'no-store',signal:AbortSignal.timeout(5e3)});if(r.ok){\
    const a=(await r.json()).alerts.filter(x=>x.state==='firing'&&!x.silenced_by),f=a.filter(x=>!known.has(x.key));say(a.length);\
    f.forEach(x=>known.add(x.key));if(tells()){if(f.length>3)send(f.length+' '+d.many,'',k);else f.forEach(x=>send(clean(x.lock),clean(x.sentence),x.key))}\
    if(!document.hidden)anew(whole(a.map(x=>x.key)))}}catch{}setTimeout(look,5e3)};\
    b.addEventListener('click',async()=>{wants=!wants;try{localStorage.setItem(k,wants?'on':'off')}catch{}if(wants)await N.requestPermission();show()});\
    say(drawn?known.size:0);show();setTimeout(look,5e3)}";

/// What the script needs, and what it shows: nothing without it.
pub(super) fn tools(of: &AlertsView) -> AnyView {
    let keys: Vec<&str> = of.alerts.alerts.iter().filter(|alert| is_loud(alert)).map(|alert| &*alert.key).collect();
    let (one, many) = words::FIRE;
    view! {
        <div
            id="alerts-watch"
            role="status"
            data-from=FROM
            data-self=of.filter.url()
            data-keys=Exact(keys.join("\n"))
            data-one=one
            data-many=many
            data-on=words::TELLS
            data-off=words::TELL
            data-never=words::TELLS_NOT
        >
            <p class="notice" data-testid="alerts-changed" hidden><a href=of.filter.url()>{words::CHANGED}</a></p>
        </div>
    }
}

/// Asks to be told; only where the script can.
pub(super) fn button() -> AnyView {
    view! { <button class="tool push" type="button" id="alerts-tell" data-testid="alerts-tell" hidden>{words::TELL}</button> }
}
