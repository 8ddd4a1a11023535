//! A part of the picture of incidents is chosen by a drag. Without scripts each piece of it is a link.

use leptos::prelude::*;

use super::super::ServerPage;
use super::HEIGHT;
use crate::erase::{erase, view};

/// The script of the document; what it chooses is made of the addresses that the links have.
pub(super) fn script(plain: &ServerPage<'_>) -> AnyView {
    erase(view! { <script nonce=plain.nonce.to_owned() inner_html=SCRIPT></script> })
}

/// What is being chosen.
pub(super) fn brush() -> AnyView {
    erase(view! { <rect class="ot-brush" x="0" y="0" width="0" height=HEIGHT.to_string()></rect> })
}

const SCRIPT: &str = "(()=>{const p=document.querySelector('.incident-picture svg'),b=p&&p.querySelector('.ot-brush');if(!b)return;\
p.addEventListener('dragstart',e=>e.preventDefault());\
p.addEventListener('pointerdown',e=>{if(e.button)return;const a=[...p.querySelectorAll('.incident-zoom')],r=p.getBoundingClientRect(),x=e.clientX,c=new AbortController;let m=false;\
const at=x=>Math.min(a.length-1,Math.max(0,Math.floor((x-r.left)/r.width*a.length))),of=z=>[at(x),at(z)].sort((i,j)=>i-j),\
go=(k,f)=>document.addEventListener(k,f,{signal:c.signal,capture:true}),end=()=>{c.abort();b.setAttribute('width',0)};\
go('pointermove',e=>{if(!e.buttons)return end();m||=Math.abs(e.clientX-x)>5;if(!m)return;const[i,j]=of(e.clientX),w=p.viewBox.baseVal.width/a.length;b.setAttribute('x',i*w);b.setAttribute('width',(j-i+1)*w)});\
go('pointercancel',end);go('keydown',e=>{if(e.key==='Escape')end()});\
go('pointerup',e=>{end();if(!m)return;const s=new AbortController;document.addEventListener('click',e=>{e.preventDefault();e.stopPropagation()},{signal:s.signal,capture:true});setTimeout(()=>s.abort(),50);\
const[i,j]=of(e.clientX),u=k=>new URL(a[k].getAttribute('href'),location),v=u(i);v.searchParams.set('to',u(j).searchParams.get('to'));location.href=v})})})()";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_script_is_small_and_ends_nothing() {
        assert!(SCRIPT.len() < 1_600 && !SCRIPT.contains("</"), "{} bytes", SCRIPT.len());
    }
}
