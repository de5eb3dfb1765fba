// Package stamptest gives tests a real stamp command and a small project.
package stamptest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcpdeck/mcpdeck/servers/support/realtest"
)

// CLI gives the path of a real stamp command of the given version. The test is
// skipped if real programs are not asked for; see package realtest.
func CLI(t testing.TB, version string) string {
	t.Helper()
	dir := realtest.Packages(t, "logicstamp-context-"+version, "--ignore-scripts", "logicstamp-context@"+version)
	return filepath.Join(dir, "node_modules", ".bin", "stamp")
}

// Write writes files below dir, making folders as needed. A content of "" makes
// an empty file.
func Write(t testing.TB, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		full := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// Shop makes a small React project in a new folder: a shell that renders a tile
// that renders a knob that renders a cog (which lies deeper than depth 2), a
// hook, two modules, and two components that only render each other. The folder
// is resolved, without links.
func Shop(t testing.TB) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	Write(t, dir, map[string]string{
		"package.json": `{"name":"shop","version":"1.0.0"}`,
		"src/Shell.tsx": `import React from 'react';
import { Tile } from './parts/Tile';
import { useClock } from './util/useClock';
export interface ShellProps { title: string; dense?: boolean; onClose: () => void }
export function Shell({ title, onClose }: ShellProps) {
  const now = useClock();
  return <section onClick={onClose}><h1>{title}</h1><Tile label={String(now)} /></section>;
}
`,
		"src/parts/Tile.tsx": `import React from 'react';
import { Knob } from './Knob';
export interface TileProps { label: string }
export function Tile({ label }: TileProps) { return <div>{label}<Knob size={3} /></div>; }
`,
		"src/parts/Knob.tsx": `import React from 'react';
import { Cog } from './Cog';
export interface KnobProps { size: number; locked?: boolean; tone?: 'calm' | 'loud' }
export const Knob = ({ size, locked }: KnobProps) => <button disabled={locked}>{size}<Cog teeth={2} /></button>;
`,
		"src/parts/Cog.tsx": `import React from 'react';
export interface CogProps { teeth: number }
export const Cog = ({ teeth }: CogProps) => <i>{teeth}</i>;
`,
		"src/util/useClock.ts": `import { useState, useEffect } from 'react';
export function useClock(): number {
  const [now, setNow] = useState(0);
  useEffect(() => { setNow(Date.now()); }, []);
  return now;
}
`,
		"src/util/format.ts": `export function money(n: number): string { return n.toFixed(2); }
export function pad(s: string, n: number): string { return s.padStart(n); }
`,
		"src/util/clock.ts": `export class Clock { tick(): void {} }
export function make(c: Clock): Clock { return c; }
`,
		"src/loop/Ping.tsx": `import React from 'react';
import { Pong } from './Pong';
export function Ping({ n }: { n: number }) { return n > 0 ? <Pong n={n - 1} /> : null; }
`,
		"src/loop/Pong.tsx": `import React from 'react';
import { Ping } from './Ping';
export function Pong({ n }: { n: number }) { return n > 0 ? <Ping n={n - 1} /> : null; }
`,
	})
	return dir
}

// Replace edits one file of a project.
func Replace(t testing.TB, dir, name, old, text string) {
	t.Helper()
	full := filepath.Join(dir, filepath.FromSlash(name))
	data, err := os.ReadFile(full)
	if err != nil {
		t.Fatal(err)
	}
	before, after, ok := strings.Cut(string(data), old)
	if !ok {
		t.Fatalf("%s does not contain %q", name, old)
	}
	Write(t, dir, map[string]string{name: before + text + after})
}
