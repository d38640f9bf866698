'use strict';
// Sorts, filters and opens the rows of a report. All text of the data goes into the page as text, never as HTML.
function openReport(root) {
  const holder = root.querySelector('#data');
  if (!holder) return;
  const data = JSON.parse(holder.textContent);
  const find = (id) => root.querySelector('#' + id);
  const PAGE = 50;
  const count = data.name.length;
  const state = { key: 'score', down: true, words: '', flagged: false, page: 0, open: new Set(), order: [] };

  const make = (tag, text, kind) => {
    const element = document.createElement(tag);
    if (text !== undefined) element.textContent = text;
    if (kind) element.className = kind;
    return element;
  };
  const number = (v) => (v === 'inf' ? Infinity : v === '-inf' ? -Infinity : v);
  const significant = (value, digits) => {
    const v = number(value);
    if (!Number.isFinite(v)) return String(value);
    if (v === 0) return '0';
    const text = v.toExponential(digits - 1);
    const exponent = Number(text.split('e')[1]);
    return exponent >= -4 && exponent <= 6 ? v.toFixed(Math.max(digits - 1 - exponent, 0)) : text.replace('e+', 'e');
  };
  const nearest = (i) => data.nearest_names[data.nearest[i]];
  const flag = (i) => (data.novel[i] === null ? '-' : data.novel[i] ? 'novel' : 'normal');
  const short = (text) => (text.length > 60 ? text.slice(0, 60) + '…' : text);
  const keys = {
    name: (i) => data.name[i], label: (i) => data.label[i] || '', nearest,
    score: (i) => number(data.score[i]), p_value: (i) => data.p_value[i], novel: (i) => Number(data.novel[i]),
    outside_span: (i) => data.outside_span[i],
  };
  // Names that are numbers go by size.
  const collator = new Intl.Collator('en', { numeric: true });
  const compare = (a, b) => (typeof a === 'string' ? collator.compare(a, b) : a < b ? -1 : a > b ? 1 : 0);

  function arrange() {
    const words = state.words.toLowerCase();
    const order = [];
    for (let i = 0; i < count; i++) {
      if (state.flagged && !data.novel[i]) continue;
      const text = [data.name[i], data.label ? data.label[i] || '' : '', nearest(i)];
      if (words && !text.some((t) => t.toLowerCase().includes(words))) continue;
      order.push(i);
    }
    const key = keys[state.key];
    const sign = state.down ? -1 : 1;
    order.sort((a, b) => sign * compare(key(a), key(b)) || a - b);
    state.order = order;
    state.page = Math.min(state.page, Math.max(0, Math.ceil(order.length / PAGE) - 1));
  }

  function show() {
    const from = state.page * PAGE;
    const rows = state.order.slice(from, from + PAGE).flatMap((i) => {
      const one = row(i);
      return state.open.has(i) ? [one, detail(i)] : [one];
    });
    find('rows').replaceChildren(...rows);
    find('shown').textContent = `${state.order.length} of ${count} series`;
    const pages = Math.ceil(state.order.length / PAGE);
    find('pages').hidden = pages < 2;
    find('page').textContent = `page ${state.page + 1} of ${pages}`;
    find('previous').disabled = state.page === 0;
    find('next').disabled = state.page + 1 >= pages;
    for (const button of root.querySelectorAll('thead button')) {
      const now = button.dataset.key === state.key;
      button.parentElement.setAttribute('aria-sort', now ? (state.down ? 'descending' : 'ascending') : 'none');
    }
  }

  function row(i) {
    const line = make('tr', undefined, data.novel[i] ? 'row novel' : 'row');
    line.dataset.row = i;
    const head = make('th');
    head.scope = 'row';
    const button = make('button', short(data.name[i]));
    button.type = 'button';
    button.setAttribute('aria-expanded', state.open.has(i));
    head.append(button);
    line.append(head);
    if (data.label) line.append(make('td', short(data.label[i] || ''), 'text'));
    line.append(
      make('td', significant(data.score[i], 4), 'number'),
      make('td', data.p_value[i] === null ? '-' : data.p_value[i].toFixed(4), 'number'),
      make('td', flag(i), 'flag'),
      make('td', short(nearest(i)), 'text less'),
      make('td', data.outside_span[i].toFixed(4), 'number less'),
    );
    return line;
  }

  function detail(i) {
    const line = make('tr', undefined, 'detail');
    const cell = make('td');
    cell.colSpan = data.label ? 7 : 6;
    const body = find('opened').content.cloneNode(true);
    body.querySelector('h3').textContent = 'Series ' + data.name[i];
    const facts = [['score', data.score[i]], ['p-value', data.p_value[i]], ['flag', flag(i)]];
    if (data.label) facts.push(['label', data.label[i]]);
    facts.push(['nearest normal series', nearest(i)], ['outside span', data.outside_span[i]]);
    for (const [name, value] of facts) {
      const pair = make('div');
      pair.append(make('dt', name), make('dd', value === null || value === undefined ? '-' : String(value)));
      body.querySelector('.numbers').append(pair);
    }
    const paths = data.curves[i];
    if (paths) {
      draw(body, i, paths);
    } else {
      for (const part of body.querySelectorAll('.panels, .legend')) part.remove();
    }
    body.querySelector('.reason').textContent = reason(i, paths);
    cell.append(body);
    line.append(cell);
    return line;
  }

  function reason(i, paths) {
    if (!paths) return 'Curves are kept for the most novel series only; this one is not among them.';
    const why = data.reasons[i];
    if (!why) return 'Not explained: only the most novel series are.';
    const most = (parts) => parts.reduce((best, adds, at) => (number(adds) > number(parts[best]) ? at : best), 0);
    const channel = most(why.channels);
    const stretch = why.stretches[most(why.stretches.map((s) => s[2]))];
    const names = [...find('opened').content.querySelectorAll('.panel b')].map((b) => b.textContent);
    const at = data.channels.indexOf(channel);
    const part = at < 0 ? 'channel ' + channel : names[at];
    const [adds, steps, stretched] = [significant(why.channels[channel], 3), `steps ${stretch[0]} to ${stretch[1] - 1}`, significant(stretch[2], 3)];
    if (why.inserted) {
      return `The kernel is saturated: no single part lowers the score. Put into the nearest normal series, ${part} raises its score ` +
        `by ${adds}, and ${steps} by ${stretched}: more than any other channel or stretch. Shaded darker is where both add more.`;
    }
    return `Made that of the nearest normal series, ${part} would lower the score by ${adds}, and ${steps} by ${stretched}: more than ` +
      'any other channel or stretch. Shaded darker is where both add more.';
  }

  const share = (adds, most) => (most <= 0 ? 0 : most === Infinity ? Number(adds === Infinity) : Math.max(0, adds) / most);

  function draw(body, i, paths) {
    const why = data.reasons[i];
    const normal = data.normal[data.nearest[i]];
    body.querySelectorAll('.panel').forEach((panel, at) => {
      panel.querySelector('.series').setAttribute('d', paths[at]);
      if (normal) panel.querySelector('.nearest').setAttribute('d', normal[at]);
      const caption = panel.querySelector('.adds');
      let words = '';
      if (why) {
        const channels = why.channels.map(number);
        const stretches = why.stretches.map((s) => number(s[2]));
        const adds = channels[data.channels[at]];
        words = `adds ${significant(why.channels[data.channels[at]], 3)}`;
        why.stretches.forEach((s, k) => {
          const dark = share(adds, Math.max(...channels)) * share(stretches[k], Math.max(...stretches));
          if (dark < 0.02) return;
          const rect = document.createElementNS('http://www.w3.org/2000/svg', 'rect');
          const values = { x: s[0], y: 0, width: s[1] - s[0], height: 1000, 'fill-opacity': (0.55 * dark).toFixed(3) };
          for (const [name, value] of Object.entries(values)) rect.setAttribute(name, value);
          panel.querySelector('.shades').append(rect);
        });
      }
      caption.textContent = words;
      hover(panel, at, paths[at], normal && normal[at], caption, words);
    });
  }

  // Heights of a path, step by step.
  const heights = (path) => {
    const [, first, ...moves] = path.match(/-?\d+/g).map(Number);
    const all = [first];
    for (let k = 1; k < moves.length; k += 2) all.push(all[all.length - 1] + moves[k]);
    return all;
  };

  function hover(panel, at, series, normal, caption, words) {
    const plane = panel.querySelector('svg svg');
    const [low, high] = data.axes[at];
    const value = (height) => significant(high - (height / 1000) * (high - low), 3);
    let all;
    panel.addEventListener('pointermove', (event) => {
      all = all || [heights(series), normal ? heights(normal) : []];
      const box = plane.getBoundingClientRect();
      const last = plane.viewBox.baseVal.width;
      const k = Math.round((((event.clientX - box.left) / box.width) * last) / data.stride);
      if (k < 0 || k >= all[0].length) return;
      panel.querySelector('.cursor').setAttribute('d', `M${k * data.stride} 0V1000`);
      const beside = k < all[1].length ? `, nearest ${value(all[1][k])}` : '';
      caption.textContent = `step ${k * data.stride}: ${value(all[0][k])}${beside}`;
    });
    panel.addEventListener('pointerleave', () => {
      panel.querySelector('.cursor').removeAttribute('d');
      caption.textContent = words;
    });
  }

  function toggle(i) {
    if (!state.open.delete(i)) state.open.add(i);
    const line = find('rows').querySelector(`tr[data-row="${i}"]`);
    if (!line) return;
    const opened = state.open.has(i);
    line.querySelector('button').setAttribute('aria-expanded', opened);
    if (opened) line.after(detail(i));
    else line.nextElementSibling.remove();
  }

  function reveal(i) {
    if (!state.order.includes(i)) {
      state.words = find('filter').value = '';
      state.flagged = find('flagged-only').checked = false;
      arrange();
    }
    state.page = Math.floor(state.order.indexOf(i) / PAGE);
    state.open.add(i);
    show();
    const button = find('rows').querySelector(`tr[data-row="${i}"] button`);
    button.focus({ preventScroll: true });
    button.scrollIntoView({ block: 'start' });
  }

  root.querySelector('thead').addEventListener('click', (event) => {
    const button = event.target.closest('button');
    if (!button) return;
    const key = button.dataset.key;
    state.down = state.key === key ? !state.down : key === 'score' || key === 'novel' || key === 'outside_span';
    state.key = key;
    state.page = 0;
    arrange();
    show();
  });
  find('rows').addEventListener('click', (event) => {
    const line = event.target.closest('tr.row');
    if (line && !String(getSelection())) toggle(Number(line.dataset.row));
  });
  find('filter').addEventListener('input', (event) => {
    Object.assign(state, { words: event.target.value, page: 0 });
    arrange();
    show();
  });
  find('flagged-only').addEventListener('change', (event) => {
    Object.assign(state, { flagged: event.target.checked, page: 0 });
    arrange();
    show();
  });
  for (const [id, step] of [['previous', -1], ['next', 1]]) {
    find(id).addEventListener('click', () => {
      state.page += step;
      show();
    });
  }
  const tip = find('tip');
  const pictures = root.querySelector('.figures');
  pictures.addEventListener('pointermove', (event) => {
    const point = event.target.closest('[data-series]');
    tip.hidden = !point;
    if (!point) return;
    const i = Number(point.dataset.series);
    tip.textContent = `${short(data.name[i])}: score ${significant(data.score[i], 4)}`;
    tip.style.left = Math.min(event.clientX + 14, innerWidth - 200) + 'px';
    tip.style.top = event.clientY + 14 + 'px';
  });
  pictures.addEventListener('pointerleave', () => { tip.hidden = true; });
  pictures.addEventListener('click', (event) => {
    const point = event.target.closest('[data-series]');
    if (point) reveal(Number(point.dataset.series));
  });
  arrange();
  show();
}
openReport(document);
