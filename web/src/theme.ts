// Light or dark: the system's setting at first, then the reader's choice, which is stored if the
// browser allows storage for a file.

import { html } from './dom';

const memory = 'ticopd-report-theme';
const listeners: (() => void)[] = [];

function remembered(): string | null {
  try {
    return localStorage.getItem(memory);
  } catch {
    return null;
  }
}

function remember(theme: string): void {
  try {
    localStorage.setItem(memory, theme);
  } catch {
    // A browser may refuse storage to file:// pages; the choice then lasts until the page closes.
  }
}

export function isDark(): boolean {
  return document.documentElement.dataset['theme'] === 'dark';
}

/** A colour of the style sheet, for the canvas, which cannot read it by itself. */
export function themeColor(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}

export function onThemeChange(listener: () => void): void {
  listeners.push(listener);
}

function apply(dark: boolean): void {
  document.documentElement.dataset['theme'] = dark ? 'dark' : 'light';
  for (const listener of listeners) listener();
}

export function startTheme(): void {
  const system = matchMedia('(prefers-color-scheme: dark)');
  const choice = remembered();
  apply(choice === null ? system.matches : choice === 'dark');
  system.addEventListener('change', () => {
    if (remembered() === null) apply(system.matches);
  });
}

export function themeButton(): HTMLButtonElement {
  const button = html('button', { type: 'button', class: 'theme' }, 'Dark theme');
  const show = (): void => button.setAttribute('aria-pressed', String(isDark()));
  button.addEventListener('click', () => {
    const dark = !isDark();
    remember(dark ? 'dark' : 'light');
    apply(dark);
  });
  onThemeChange(show);
  show();
  return button;
}
