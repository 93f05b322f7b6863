// Hands the reader a file. Nothing leaves the page: the file is made here.

export function save(name: string, content: Blob): void {
  const address = URL.createObjectURL(content);
  const link = document.createElement('a');
  link.href = address;
  link.download = name;
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

export function fileName(...words: string[]): string {
  const name = words.join(' ').toLowerCase().replace(/[^a-z0-9.]+/g, '-').replace(/^[-.]+|-+$/g, '');
  return name.slice(0, 120) || 'ticopd';
}

export function saveText(name: string, text: string, type: string): void {
  save(name, new Blob([text], { type: `${type};charset=utf-8` }));
}

/** The SVG drawn by the browser at twice its size. */
export async function savePng(name: string, svg: string, width: number, height: number): Promise<void> {
  const image = new Image();
  // A data address: the page's policy allows images from nowhere else.
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;
  await image.decode();
  const canvas = document.createElement('canvas');
  [canvas.width, canvas.height] = [2 * width, 2 * height];
  canvas.getContext('2d')!.drawImage(image, 0, 0, canvas.width, canvas.height);
  const content = await new Promise<Blob | null>((done) => { canvas.toBlob(done, 'image/png'); });
  if (content === null) throw new Error('this browser could not write the PNG');
  save(name, content);
}
