package outline

import (
	"slices"
	"strings"
	"testing"
)

func TestExportsAndImportsAreNamed(t *testing.T) {
	o := Read([]byte(`// a comment with export const no = 1
import React, { useState as s, type Ref } from 'react';
import * as all from "./all";
import './effect.css';
export * from './star';
export * as ns from './ns';
export { a, b as c } from './ab';
export type { T } from './t';
const inner = "export const no2 = 1";
export { inner as outer };
export const one = 1, two = 2;
export const { x } = inner;
export async function load<T extends object = {}>(id: string, cb?: (t: T) => void): Promise<{ a: T }> {
  if (/[/]}/.test(id)) { return ` + "`${id}} export const no3`" + ` as any }
}
export default function App({ a }: { a: string }) {
  return <p>Don't {a} export</p>;
}
export const Card = React.forwardRef<HTMLDivElement, CardProps>((props, ref) => <div />);
export const pick = <T,>(list: T[], n: number): T => list[n];
export enum Color { Red, Blue = "blue" }
export abstract class Base<T> extends Other<T> {
  private secret = 1;
  name: string = "x";
  @dec() run(a: number): void { if (a) { this.run(a - 1) } }
}
export interface Props<T> extends More { size: number; tone?: 'a' | 'b'
  on(e: Event): void }
export type Kind = | 'x' | 'y';
export const Intent = { NONE: "none" as const, warn: 'w' as const };
export const tools = { run() { return 1 }, stop: () => 2 };
export type Shape = { w: number, h: number };
`))
	var exports []string
	for _, e := range o.Exports {
		exports = append(exports, e.Key())
	}
	want := []string{
		"* from ./star", "ns", "a", "c", "T", "outer", "one", "two", "load", "default", "Card", "pick", "Color", "Base", "Props", "Kind", "Intent", "tools", "Shape",
	}
	if !slices.Equal(exports, want) {
		t.Errorf("exports = %q\nwant %q", exports, want)
	}
	var imports []string
	for _, i := range o.Imports {
		imports = append(imports, i.From+": "+strings.Join(i.Names, " "))
	}
	if want := []string{"react: default useState Ref", "./all: *", "./effect.css: ", "./star: *", "./ns: *", "./ab: a b", "./t: T"}; !slices.Equal(imports, want) {
		t.Errorf("imports = %q\nwant %q", imports, want)
	}
	heads := map[string]string{}
	for _, d := range o.Decls {
		head := d.Head
		for _, m := range d.Members {
			head += " ; " + m.Text
		}
		heads[d.Name] = head
	}
	for name, want := range map[string]string{
		"load":   "load<T extends object = {}>(id: string, cb?: (t: T) => void): Promise<{ a: T }>",
		"App":    "App({ a }: { a: string })",
		"Card":   "Card = React.forwardRef<HTMLDivElement, CardProps>",
		"pick":   "pick = <T>(list: T[], n: number): T",
		"Color":  `Color ; Red ; Blue = "blue"`,
		"Base":   "Base<T> extends Other<T> ; name: string ; run(a: number): void",
		"Props":  "Props<T> extends More ; size: number ; tone?: 'a' | 'b' ; on(e: Event): void",
		"Kind":   "Kind = 'x' | 'y'",
		"Intent": `Intent ; NONE: "none" as const ; warn: 'w' as const`,
		"tools":  "tools ; run ; stop",
		"Shape":  "Shape ; w: number ; h: number",
	} {
		if heads[name] != want {
			t.Errorf("%s: %q\nwant %q", name, heads[name], want)
		}
	}
	if d, _ := o.Decl("App"); d.Line != 16 {
		t.Errorf("App is declared on line %d", d.Line)
	}
}

func TestLayoutIsNoDifference(t *testing.T) {
	a, _ := Read([]byte("export function f(a: string, b: number) { return 1 }")).Decl("f")
	b, _ := Read([]byte("export function f(\n  a: string,\n  b: number, // why\n) {\n  return 2;\n}\n")).Decl("f")
	if a.Head != b.Head {
		t.Errorf("%q and %q", a.Head, b.Head)
	}
}

func FuzzRead(f *testing.F) {
	for _, s := range []string{"export default class {", "import {", "export type X = {a: (", "`${`", "export const f = <T>(", "class A { @", "export * as", "enum E {,}"} {
		f.Add(s)
	}
	f.Fuzz(func(_ *testing.T, s string) { Read([]byte(s)) })
}
