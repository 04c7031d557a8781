// Selection, tooltips, sorting and downloads. Without this script the page shows all content at once.
'use strict';
(() => {
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];
  const embeddedData = JSON.parse(document.getElementById('embedded-data').textContent);

  // Which problem is shown, and which time axis.
  let problem = 'all';
  let axis = 'log';
  const show = () => {
    for (const part of all('[data-problem]')) {
      const own = problem === 'all' || part.dataset.problem === problem;
      const timed = !part.dataset.axis || part.dataset.axis === axis;
      part.hidden = !(own && timed);
    }
    // A section is hidden if all its figures are hidden.
    for (const section of all('section')) {
      const parts = all('[data-problem]', section);
      section.hidden = parts.length > 0 && parts.every((part) => part.hidden);
    }
    for (const tab of all('[data-tab]')) tab.setAttribute('aria-selected', String(tab.dataset.tab === problem));
    for (const button of all('[data-time]')) button.setAttribute('aria-pressed', String(button.dataset.time === axis));
  };
  for (const tab of all('[data-tab]')) {
    tab.addEventListener('click', () => {
      problem = tab.dataset.tab;
      show();
      hint();
    });
  }
  for (const button of all('[data-time]')) {
    button.addEventListener('click', () => {
      axis = button.dataset.time;
      show();
    });
  }
  // More problems than two rows of three are shown one at a time.
  if (embeddedData.results.problems.length > 6) problem = '0';
  show();

  // Which methods are shown, everywhere at once.
  const entries = all('[data-legend]');
  const set = (entry, on) => {
    entry.setAttribute('aria-pressed', String(on));
    for (const part of all(`[data-method="${entry.dataset.legend}"]`)) part.classList.toggle('off', !on);
  };
  for (const entry of entries) {
    entry.addEventListener('click', () => set(entry, entry.getAttribute('aria-pressed') !== 'true'));
    entry.addEventListener('dblclick', () => entries.forEach((other) => set(other, other === entry)));
  }
  for (const button of all('[data-every]')) {
    button.addEventListener('click', () => entries.forEach((entry) => set(entry, true)));
  }

  // Tooltips: the text of a mark's title, shown at the pointer without delay.
  const tip = document.getElementById('tip');
  for (const title of all('.mark > title')) {
    title.parentNode.dataset.tip = title.textContent;
    title.remove();
  }
  const place = (event) => {
    const left = Math.min(event.clientX + 14, innerWidth - tip.offsetWidth - 8);
    const below = event.clientY + 16;
    const top = below + tip.offsetHeight > innerHeight ? event.clientY - tip.offsetHeight - 10 : below;
    tip.style.left = `${Math.max(left, 4)}px`;
    tip.style.top = `${Math.max(top, 4)}px`;
  };
  document.addEventListener('pointermove', (event) => {
    const mark = event.target instanceof Element ? event.target.closest('.mark') : null;
    tip.hidden = !mark;
    if (!mark) return;
    tip.textContent = mark.dataset.tip;
    place(event);
  });

  // Sorting: up, then down; rows without a number stay last.
  const sort = (head) => {
    const table = head.closest('table');
    const column = head.cellIndex;
    const up = head.getAttribute('aria-sort') !== 'ascending';
    for (const other of all('thead th', table)) other.setAttribute('aria-sort', 'none');
    head.setAttribute('aria-sort', up ? 'ascending' : 'descending');
    const key = (row) => {
      const text = row.cells[column].dataset.key;
      return text === undefined ? NaN : Number(text);
    };
    const body = table.tBodies[0];
    const order = (a, b) => {
      const [first, second] = [key(a), key(b)];
      if (Number.isNaN(first) || Number.isNaN(second)) return Number.isNaN(first) - Number.isNaN(second);
      return up ? first - second : second - first;
    };
    body.append(...[...body.rows].sort(order));
  };
  for (const head of all('.sortable thead th')) head.addEventListener('click', () => sort(head));

  // A hint above every table that is wider than the page.
  const hint = () => {
    for (const table of all('.wide')) {
      const text = table.previousElementSibling;
      if (text) text.classList.toggle('scrolls', table.scrollWidth > table.clientWidth + 1);
    }
  };
  hint();
  addEventListener('resize', hint);

  // Downloads: a figure with its own style sheet, as it is shown now; all numbers.
  const save = (name, type, text) => {
    const link = document.createElement('a');
    link.href = URL.createObjectURL(new Blob([text], { type }));
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  };
  const alone = (svg) => {
    const copy = svg.cloneNode(true);
    const [, , width, height] = copy.getAttribute('viewBox').split(' ');
    copy.setAttribute('width', width);
    copy.setAttribute('height', height);
    for (const hidden of all('.off', copy)) hidden.remove();
    const make = (name, text) => {
      const element = document.createElementNS('http://www.w3.org/2000/svg', name);
      element.textContent = text;
      return element;
    };
    for (const mark of all('[data-tip]', copy)) {
      mark.prepend(make('title', mark.dataset.tip));
      delete mark.dataset.tip;
    }
    copy.prepend(make('style', embeddedData.style));
    return new XMLSerializer().serializeToString(copy);
  };
  for (const button of all('[data-save]')) {
    button.addEventListener('click', () => {
      const drawings = all('svg', button.closest('figure'));
      const svg = drawings.find((drawing) => drawing.getClientRects().length > 0) ?? drawings[0];
      save(`${button.dataset.save}.svg`, 'image/svg+xml', alone(svg));
    });
  }
  document.getElementById('save-numbers').addEventListener('click', () => {
    save('results.json', 'application/json', JSON.stringify(embeddedData.results, null, 1));
  });
})();
