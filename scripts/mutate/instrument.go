package main

import (
	"bytes"
	"cmp"
	"fmt"
	"go/ast"
	"go/token"
	"path/filepath"
	"slices"
)

// mutant is one change of the code. Its id is above zero; the test program applies the mutant whose id it is given.
type mutant struct {
	id    int
	place token.Position
	kind  string // what is changed: "condition", "clause", …
	text  string // the code that is changed, shortened
}

// String is the line of a report, with a path relative to the present folder.
func (m mutant) String() string {
	path := m.place.Filename
	if near, err := filepath.Rel(".", path); err == nil {
		path = near
	}
	return fmt.Sprintf("%s:%d:%d: survived: %s: %s", path, m.place.Line, m.place.Column, m.kind, m.text)
}

// insertion is text that is put into a file. At one offset, ends of inner nodes come before ends of outer ones, and
// these before beginnings of outer nodes and of inner ones.
type insertion struct {
	offset, order int
	text          string
}

// instrumenter finds the mutants of one file and the insertions that make them.
type instrumenter struct {
	source
	path    string
	next    *int // id of the next mutant
	mutants []mutant
	inserts []insertion
	results []*ast.FieldList // of the functions around the present node, the innermost last
}

// instrument finds all mutants of a package, and gives the text of each file with them.
func instrument(p pkg) ([]mutant, map[string][]byte, error) {
	s, err := load(p)
	if err != nil {
		return nil, nil, err
	}
	next, texts := 1, map[string][]byte{}
	var mutants []mutant
	for _, name := range p.GoFiles {
		path := filepath.Join(p.Dir, name)
		if ast.IsGenerated(s.files[path]) {
			continue
		}
		in := &instrumenter{source: s, path: path, next: &next}
		for _, d := range s.files[path].Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Body != nil {
				in.function(f.Type, f.Body)
			}
		}
		mutants = append(mutants, in.mutants...)
		texts[path] = in.apply()
	}
	return sorted(mutants), texts, nil
}

// mutate records a mutant of a node and returns its id.
func (in *instrumenter) mutate(kind string, n ast.Node) int {
	id := *in.next
	*in.next++
	in.mutants = append(in.mutants, mutant{id, in.fset.Position(n.Pos()), kind, short(in.textOf(n))})
	return id
}

// short is the code on one line of at most 80 bytes.
func short(code string) string {
	line := string(bytes.Join(bytes.Fields([]byte(code)), []byte(" ")))
	return line[:min(len(line), 80)]
}

// textOf is the code of a node as it stands in its file.
func (in *instrumenter) textOf(n ast.Node) string {
	return string(in.text[in.path][in.offset(n.Pos()):in.offset(n.End())])
}

// offset is the place of a position in its file, in bytes.
func (in *instrumenter) offset(at token.Pos) int { return in.fset.Position(at).Offset }

// around puts text before and after a node.
func (in *instrumenter) around(n ast.Node, before, after string) {
	in.before(n.Pos(), before)
	order := -len(in.inserts) // the node that is visited later is inside: its end comes first
	in.inserts = append(in.inserts, insertion{in.offset(n.End()), order, after})
}

// before puts text at a position.
func (in *instrumenter) before(at token.Pos, text string) {
	in.inserts = append(in.inserts, insertion{in.offset(at), len(in.inserts) + 1, text})
}

// apply gives the text of the file with all insertions.
func (in *instrumenter) apply() []byte {
	slices.SortStableFunc(in.inserts, func(a, b insertion) int {
		return cmp.Or(a.offset-b.offset, a.order-b.order)
	})
	var out bytes.Buffer
	from, text := 0, in.text[in.path]
	for _, i := range in.inserts {
		out.Write(text[from:i.offset])
		out.WriteString(i.text)
		from = i.offset
	}
	out.Write(text[from:])
	return out.Bytes()
}
