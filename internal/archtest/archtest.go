// Package archtest reads the source of the whole module and reports violations of the rules in
// docs/rules/engineering.md#checked-rules: imports against the layers, the machine's time read without a clock,
// declarations without a comment, goroutines that catch no panic, lines, functions, files and parameter lists that are
// too long, SQL with too many numbered arguments, nolint without a reason and TODO without an issue. It parses every Go
// file, whatever its build tags.
package archtest

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// Module is the prefix of all imports of the module's own packages.
const Module = "github.com/lastmile-isp/lastmile"

// Violation is one place that breaks one rule.
type Violation struct {
	Place string // file:line, relative to the module
	Rule  string // short name
	Text  string // for the person who must correct the place
}

// String is one line for the output of a test.
func (v Violation) String() string { return v.Place + ": " + v.Rule + ": " + v.Text }

// source is one parsed Go file.
type source struct {
	name  string   // slash-separated, relative to the module's root
	dir   string   // its package's folder, "" for the root
	test  bool     // a _test.go file
	text  []string // its lines
	files *token.FileSet
	tree  *ast.File
}

// at makes a violation at the line of a position in this file.
func (s *source) at(pos token.Pos, rule, text string, args ...any) Violation {
	return Violation{fmt.Sprintf("%s:%d", s.name, s.files.Position(pos).Line), rule, fmt.Sprintf(text, args...)}
}

// line is the line of a position, from 1.
func (s *source) line(pos token.Pos) int { return s.files.Position(pos).Line }

// rules are applied to each file; every violation of every rule is reported.
var rules = []func(*source) []Violation{
	checkImports, checkTime, checkComments, checkLengths, checkColumns, checkParameters, checkArguments, checkMarks,
	checkPackageName, checkTics, checkEcho, checkGoroutines, checkEnds, checkParsers,
}

// checks has the check for each file name extension. Other files are not read.
var checks = map[string]func(name string, body []byte) ([]Violation, error){".go": checkFile, ".sql": checkSQL}

// Check reads all Go and SQL files below root, except in testdata. It fails when a file cannot be read or parsed.
func Check(root string) ([]Violation, error) {
	var found []Violation
	err := filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			if slices.Contains([]string{".git", "node_modules", "testdata"}, entry.Name()) {
				return filepath.SkipDir
			}
			return nil
		}
		check, ok := checks[filepath.Ext(name)]
		if !ok {
			return nil
		}
		body, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		relative, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		list, err := check(filepath.ToSlash(relative), body)
		found = append(found, list...)
		return err
	})
	return found, err
}

// checkFile applies all rules to one Go file and fails when the file cannot be parsed.
func checkFile(name string, body []byte) ([]Violation, error) {
	s, err := parse(name, body)
	if err != nil {
		return nil, err
	}
	var found []Violation
	for _, rule := range rules {
		found = append(found, rule(s)...)
	}
	return found, nil
}

// parse parses one file; name is relative to the module's root.
func parse(name string, body []byte) (*source, error) {
	s := &source{name: name, test: strings.HasSuffix(name, "_test.go"), files: token.NewFileSet()}
	if s.dir = path.Dir(name); s.dir == "." {
		s.dir = ""
	}
	s.text = strings.Split(string(body), "\n")
	var err error
	s.tree, err = parser.ParseFile(s.files, name, body, parser.ParseComments|parser.SkipObjectResolution)
	return s, err
}
