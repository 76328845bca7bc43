(() => {
'use strict';
const one = (selector, root = document) => root.querySelector(selector);
const all = (selector, root = document) => Array.from(root.querySelectorAll(selector));
const root = document.documentElement;
const views = all('.view');
const loops = all('.loop-view');
const tabs = all('.tab');

// --- light and dark
const dark = matchMedia('(prefers-color-scheme: dark)');
one('#theme').addEventListener('click', () => {
  const now = root.dataset.theme || (dark.matches ? 'dark' : 'light');
  root.dataset.theme = now === 'dark' ? 'light' : 'dark';
  try { localStorage.setItem('adf-theme', root.dataset.theme); } catch (error) { /* not kept */ }
});

// --- views and tabs: one at a time; a hash names what is shown
function show(view) {
  for (const other of views) other.hidden = other !== view;
  for (const link of all('.main-nav a')) {
    if (link.hash === `#${view.id}`) link.setAttribute('aria-current', 'page');
    else if (link.hash) link.removeAttribute('aria-current');
  }
}
function open(loop) {
  for (const other of loops) other.hidden = other !== loop;
  for (const tab of tabs) {
    const chosen = tab.hash === `#${loop.id}`;
    tab.setAttribute('aria-selected', String(chosen));
    tab.tabIndex = chosen ? 0 : -1;
  }
}
function route(first) {
  let target = null;
  try { target = document.getElementById(decodeURIComponent(location.hash.slice(1))); } catch (error) { /* no name */ }
  const view = (target && target.closest('.view')) || (first ? views[0] : null);
  if (!view) return;
  show(view);
  const loop = target && target.closest('.loop-view');
  if (loop) open(loop);
  for (let at = target; at && at !== document.body; at = at.parentElement) {
    if (at.tagName === 'DETAILS') at.open = true;
    at.classList.remove('off');
  }
  const isTab = target && (target === view || target === loop);
  if (isTab || !target) scrollTo(0, 0);
  else target.scrollIntoView({ block: 'start' });
}
if (views.length > 1 || loops.length > 1) {
  if (loops.length) open(loops[0]);
  route(true);
}
addEventListener('hashchange', () => route(false));
const list = one('.tabs');
if (list) {
  list.setAttribute('role', 'tablist');
  list.setAttribute('aria-label', 'Loops');
  for (const tab of tabs) {
    const panel = document.getElementById(tab.hash.slice(1));
    tab.setAttribute('role', 'tab');
    tab.setAttribute('aria-controls', panel.id);
    panel.setAttribute('role', 'tabpanel');
  }
  list.addEventListener('keydown', (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    const at = tabs.indexOf(document.activeElement);
    if (!step || at < 0) return;
    const next = tabs[(at + step + tabs.length) % tabs.length];
    event.preventDefault();
    next.focus();
    next.click();
  });
}

// --- search and filter, in small steps so that typing stays smooth
const form = one('.tools');
if (!form) return;
const query = one('#q'), kind = one('#f-kind'), tool = one('#f-tool'), failed = one('#f-failed'), found = one('#found');
const rows = loops.map((loop) => all('.row', loop));
const texts = new WeakMap();
const text = (row) => {
  if (!texts.has(row)) texts.set(row, row.textContent.toLowerCase());
  return texts.get(row);
};
const pause = () => new Promise((done) => { setTimeout(done); });
let run = 0, unfolded = [];
async function filter() {
  const mine = ++run;
  const words = query.value.trim().toLowerCase().split(/\s+/).filter(Boolean);
  const active = Boolean(words.length || kind.value || tool.value || failed.checked);
  let sum = 0, begun = performance.now();
  for (const details of unfolded) details.open = false;
  unfolded = [];
  for (let at = 0; at < loops.length; at += 1) {
    let hits = 0;
    for (const row of rows[at]) {
      if (performance.now() - begun > 25) {
        await pause();
        if (mine !== run) return;
        begun = performance.now();
      }
      const fits = !active || ((!kind.value || row.dataset.kind === kind.value)
        && (!tool.value || (row.dataset.tools || '').split(' ').includes(tool.value))
        && (!failed.checked || row.dataset.failed !== undefined)
        && words.every((word) => text(row).includes(word)));
      row.classList.toggle('off', !fits);
      if (fits) hits += 1;
    }
    for (const fold of all('.fold', loops[at])) {
      const any = Boolean(one('.row:not(.off)', fold));
      fold.classList.toggle('off', active && !any);
      const details = fold.firstElementChild;
      if (active && any && !details.open) { details.open = true; unfolded.push(details); }
    }
    const badge = tabs[at] && one('.count', tabs[at]);
    if (badge) {
      badge.dataset.all = badge.dataset.all || badge.textContent;
      badge.textContent = active ? String(hits) : badge.dataset.all;
      badge.classList.toggle('hits', active && hits > 0);
    }
    sum += hits;
  }
  found.textContent = active ? `${sum.toLocaleString('en')} ${sum === 1 ? 'row' : 'rows'} in ${loops.length === 1 ? 'this loop' : 'all loops'}` : '';
}
let timer = 0;
form.addEventListener('input', (event) => {
  if (event.target.id === 'jump') return;
  clearTimeout(timer);
  timer = setTimeout(filter, 120);
});
form.addEventListener('submit', (event) => event.preventDefault());
one('#jump').addEventListener('keydown', (event) => {
  if (event.key !== 'Enter') return;
  event.preventDefault();
  const seq = event.target.value.replace(/^\D+/, '');
  const there = document.getElementById(`S${seq}`);
  found.textContent = there ? '' : `S${seq} is not in this page`;
  if (there && location.hash === `#S${seq}`) route(false);
  else if (there) location.hash = `S${seq}`;
});
one('#unfold').addEventListener('click', async (event) => {
  const unfold = event.target.dataset.done !== 'yes';
  event.target.dataset.done = unfold ? 'yes' : 'no';
  event.target.textContent = unfold ? 'Fold all' : 'Unfold all';
  const current = loops.find((loop) => !loop.hidden) || document;
  const every = all('details', current);
  for (let at = 0; at < every.length; at += 1) {
    every[at].open = unfold;
    if (at % 40 === 39) await pause();
  }
});

// --- keyboard
addEventListener('keydown', (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || /^(?:INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName)) {
    if (event.key === 'Escape' && event.target === query) { query.value = ''; filter(); }
    return;
  }
  if (event.key === '/') {
    event.preventDefault();
    const view = form.closest('.view');
    if (view.hidden) location.hash = view.id;
    setTimeout(() => query.focus());
  } else if (event.key === 'j' || event.key === 'k') {
    const shown = all('.loop-view:not([hidden]) .row:not(.off) .gut .seq').filter((link) => link.checkVisibility());
    const at = shown.indexOf(document.activeElement);
    const next = shown[Math.max(0, at + (event.key === 'j' ? 1 : -1))];
    if (next) next.focus();
  }
});
})();
