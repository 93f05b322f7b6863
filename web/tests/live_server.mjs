// Speaks as "ticopd watch" does: the page, its report, and events about new rows.
import { createServer } from 'node:http';
import { fillTemplate } from './fill.mjs';

export class LiveServer {
  #server = null;
  #clients = new Set();
  #port = 0;
  asked = { report: 0, events: 0 };

  constructor(report) {
    this.report = { ...report, live: { events: 'events?token=t', report: 'report.json?token=t' } };
  }

  get url() { return `http://127.0.0.1:${this.#port}/?token=t`; }

  async start() {
    this.#server = createServer((request, response) => this.#answer(request, response));
    await new Promise((done) => { this.#server.listen(this.#port, '127.0.0.1', done); });
    this.#port = this.#server.address().port;
    this.#server.unref();  // a test that fails must not keep the process
  }

  async stop() {
    for (const client of this.#clients) client.destroy();
    this.#clients.clear();
    this.#server.closeAllConnections();
    await new Promise((done) => { this.#server.close(done); });
  }

  send(event, data) {
    for (const client of this.#clients) client.write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
  }

  /** Adds rows to a run, here and at the clients. */
  rows(run, rows, { status = 'running', ...change } = {}) {
    const of = this.report.runs[run];
    const from = of.metrics[0].length;
    const metrics = of.metrics.map((cells, c) => rows.map((row) => row[c]));
    of.metrics.forEach((cells, c) => cells.push(...metrics[c]));
    of.status = status;
    of.iterations = rows.length > 0 ? rows[rows.length - 1][0] : of.iterations;
    this.send('rows', { run, from, metrics, status, iterations: of.iterations, seconds: of.seconds,
      last: null, ...change });
  }

  #answer(request, response) {
    const path = new URL(request.url, 'http://x').pathname;
    if (path === '/events') {
      this.asked.events += 1;
      response.writeHead(200, { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-store' });
      response.write(`retry: 300\nevent: report\ndata: ${JSON.stringify(this.report)}\n\n`);
      this.#clients.add(response);
      response.on('close', () => this.#clients.delete(response));
    } else if (path === '/report.json') {
      this.asked.report += 1;
      response.writeHead(200, { 'Content-Type': 'application/json' });
      response.end(JSON.stringify(this.report));
    } else if (path === '/') {
      const page = fillTemplate(JSON.stringify(this.report))
        .replace("default-src 'none';", "default-src 'none'; connect-src 'self';");
      response.writeHead(200, { 'Content-Type': 'text/html; charset=utf-8' });
      response.end(page);
    } else {
      response.writeHead(404);
      response.end();
    }
  }
}
