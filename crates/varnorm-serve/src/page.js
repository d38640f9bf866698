'use strict';
// Sends a dropped file to the server, and shows the report that comes back.
(() => {
  const find = (id) => document.getElementById(id);
  let token = '';
  let saved = '';
  let name = '';

  async function ask(path, options = {}) {
    const headers = { ...(options.headers || {}), ...(token ? { Authorization: 'Bearer ' + token } : {}) };
    const answer = await fetch(path, { ...options, headers });
    if (answer.ok) return answer;
    if (answer.status === 401) find('token-form').hidden = false;
    let sentence = `the server answered ${answer.status}`;
    try {
      sentence = (await answer.json()).error || sentence;
    } catch { /* no JSON: the status has to do */ }
    throw new Error(sentence);
  }

  function complain(sentence) {
    find('message').textContent = sentence;
    find('message').hidden = !sentence;
  }

  // "kernel gak", or "views radon, rocket, sig".
  function looks(model) {
    return model.views ? `views ${model.views.map((view) => view.name).join(', ')}` : `kernel ${model.kernel.kernel}`;
  }

  async function describe() {
    try {
      const model = await (await ask('/v1/model')).json();
      const series = model.corpus.series === 1 ? '1 normal series' : `${model.corpus.series} normal series`;
      find('model').textContent =
        `The model knows ${series} of ${model.corpus.channels} channels; ${looks(model)}, flags at level ${model.settings.level}.`;
      find('token-form').hidden = true;
      complain('');
    } catch (error) {
      complain(error.message);
    }
  }

  async function score(file) {
    complain('');
    find('result').replaceChildren();
    find('save').hidden = true;
    find('busy').hidden = false;
    try {
      const query = new URLSearchParams({ name: file.name });
      const normal = find('normal').value.trim();
      if (normal) query.set('normal', normal);
      const headers = { 'Content-Type': 'application/octet-stream' };
      const answer = await ask('/v1/report?' + query, { method: 'POST', headers, body: file });
      saved = await answer.text();
      name = file.name;
      // The report is a page of its own; its main part is shown here, and this page's script serves it.
      const page = new DOMParser().parseFromString(saved, 'text/html');
      const main = document.adoptNode(page.querySelector('main'));
      find('result').replaceChildren(main);
      openReport(main);
      find('save').hidden = false;
    } catch (error) {
      complain(error.message);
    } finally {
      find('busy').hidden = true;
    }
  }

  const drop = find('drop');
  for (const kind of ['dragenter', 'dragover', 'dragleave', 'drop']) {
    drop.addEventListener(kind, (event) => {
      event.preventDefault();
      drop.classList.toggle('over', kind === 'dragenter' || kind === 'dragover');
    });
  }
  drop.addEventListener('drop', (event) => {
    const [file] = event.dataTransfer.files;
    if (file) score(file);
  });
  find('file').addEventListener('change', (event) => {
    const [file] = event.target.files;
    if (file) score(file);
    event.target.value = '';
  });
  find('save').addEventListener('click', () => {
    const link = document.createElement('a');
    link.href = URL.createObjectURL(new Blob([saved], { type: 'text/html' }));
    link.download = name.replace(/\.[^.]*$/, '') + '.html';
    link.click();
    URL.revokeObjectURL(link.href);
  });
  find('token-form').addEventListener('submit', (event) => {
    event.preventDefault();
    token = find('token').value;
    describe();
  });
  describe();
})();
