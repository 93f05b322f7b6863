// Fills the template as ticopd does: node tests/fill.mjs [OUT.html [DATA.json]]
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { sampleReport } from './sample.mjs';

const web = join(dirname(fileURLToPath(import.meta.url)), '..');
export const templatePath = join(web, 'dist', 'index.html');
export const artefacts = join(web, 'artefacts');

const placeholder = '"TICOPD_REPORT"';

/** `data` is the JSON text. Every `<` is escaped, so that no text can close the script element. */
export function fillTemplate(data) {
  const template = readFileSync(templatePath, 'utf8');
  const places = template.split(placeholder).length - 1;
  if (places !== 1) throw new Error(`${templatePath}: ${places} placeholders where 1 is expected`);
  return template.replace(placeholder, () => data.replace(/</g, '\\u003c'));
}

export function writePage(path, data) {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, fillTemplate(data));
  return path;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [out = join(artefacts, 'sample.html'), from] = process.argv.slice(2);
  const data = from ? readFileSync(from, 'utf8') : JSON.stringify(sampleReport());
  console.log(writePage(out, data));
}
