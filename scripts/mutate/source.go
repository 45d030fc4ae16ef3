package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// pkg is a package as `go list` describes it.
type pkg struct {
	ImportPath   string
	Dir          string
	Name         string
	GoFiles      []string // names without the folder; no tests
	TestGoFiles  []string
	XTestGoFiles []string
}

// tested reports whether the package has tests of its own.
func (p pkg) tested() bool { return len(p.TestGoFiles)+len(p.XTestGoFiles) > 0 }

// usesRapid reports whether a test of the package imports the property testing library, whose flag keeps failing
// examples out of the source tree.
func (p pkg) usesRapid() bool {
	for _, name := range append(p.TestGoFiles, p.XTestGoFiles...) {
		text, err := os.ReadFile(filepath.Join(p.Dir, name))
		if err == nil && strings.Contains(string(text), `"pgregory.net/rapid"`) {
			return true
		}
	}
	return false
}

// list finds the packages of a pattern, as the go command reads it.
func list(pattern string) ([]pkg, error) {
	out, err := goCommand("list", "-json=ImportPath,Dir,Name,GoFiles,TestGoFiles,XTestGoFiles", pattern)
	if err != nil {
		return nil, err
	}
	var found []pkg
	for d := json.NewDecoder(strings.NewReader(out)); ; {
		var p pkg
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return found, nil
		} else if err != nil {
			return nil, fmt.Errorf("read the list of packages: %w", err)
		}
		found = append(found, p)
	}
}

// goCommand runs the go command and returns what it wrote.
func goCommand(args ...string) (string, error) {
	cmd := exec.Command("go", args...)
	out, err := cmd.Output()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		return "", fmt.Errorf("go %s: %w\n%s", args[0], err, exit.Stderr)
	}
	return string(out), err
}

// source is a package that was parsed and checked.
type source struct {
	fset  *token.FileSet
	files map[string]*ast.File // by path
	text  map[string][]byte    // by path
	info  *types.Info
}

// load parses and checks the files of a package. The types of other packages come from the compiler's export files.
func load(p pkg) (source, error) {
	s := source{fset: token.NewFileSet(), files: map[string]*ast.File{}, text: map[string][]byte{}, info: &types.Info{
		Types: map[ast.Expr]types.TypeAndValue{}, Uses: map[*ast.Ident]types.Object{},
		Selections: map[*ast.SelectorExpr]*types.Selection{},
	}}
	var all []*ast.File
	for _, name := range p.GoFiles {
		path := filepath.Join(p.Dir, name)
		text, err := os.ReadFile(path)
		if err != nil {
			return s, err
		}
		file, err := parser.ParseFile(s.fset, path, text, parser.SkipObjectResolution)
		if err != nil {
			return s, err
		}
		s.files[path], s.text[path] = file, text
		all = append(all, file)
	}
	exports, err := exportFiles(p.ImportPath)
	if err != nil {
		return s, err
	}
	conf := types.Config{Importer: importer.ForCompiler(s.fset, "gc", func(path string) (io.ReadCloser, error) {
		return os.Open(exports[path])
	})}
	_, err = conf.Check(p.ImportPath, s.fset, all, s.info)
	return s, err
}

// exportFiles maps the import path of everything that a package needs to the compiler's export file.
func exportFiles(path string) (map[string]string, error) {
	out, err := goCommand("list", "-export", "-deps", "-f", "{{.ImportPath}}\t{{.Export}}", path)
	if err != nil {
		return nil, err
	}
	files := map[string]string{}
	for line := range strings.Lines(out) {
		if imported, file, ok := strings.Cut(strings.TrimSpace(line), "\t"); ok {
			files[imported] = file
		}
	}
	return files, nil
}
