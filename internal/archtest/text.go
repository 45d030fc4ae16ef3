package archtest

import (
	"go/ast"
	"go/token"
	"regexp"
	"slices"
	"strings"
)

// clockFree are the folders that may read the machine's time.
var clockFree = []string{
	"internal/clock", "cmd/...", "simulators/...", "internal/postgres/pgtest/...", "internal/storetest",
	"internal/benchtest", "eventstore/contract/...", "httpapi/apitest/...",
}

// checkTime finds time that does not come from a clock.
func checkTime(s *source) []Violation {
	if s.test || matchesAny(clockFree, s.dir) {
		return nil
	}
	name := importName(s.tree, "time")
	var found []Violation
	ast.Inspect(s.tree, func(n ast.Node) bool {
		sel, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		pkg, ok := sel.X.(*ast.Ident)
		if ok && name != "" && pkg.Name == name && slices.Contains([]string{"Now", "Since", "Until"}, sel.Sel.Name) {
			found = append(found, s.at(sel.Pos(), "time", "time.%s: take a clock.Clock", sel.Sel.Name))
		}
		return true
	})
	return found
}

// importName is the name under which a file uses a package, "" when it does not.
func importName(tree *ast.File, path string) string {
	for _, spec := range tree.Imports {
		if strings.Trim(spec.Path.Value, `"`) != path {
			continue
		}
		if spec.Name != nil {
			return spec.Name.Name
		}
		return path[strings.LastIndex(path, "/")+1:]
	}
	return ""
}

// checkComments wants a comment on every top-level declaration. Needing none: methods of one line (the names of events,
// marks of sealed interfaces) and test functions, whose names are sentences.
func checkComments(s *source) []Violation {
	var found []Violation
	for _, d := range s.tree.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			oneLine := d.Recv != nil && (s.line(d.Pos()) == s.line(d.End()) || d.Name.Name == "EventType")
			if d.Doc == nil && !oneLine && !(s.test && isTest(d.Name.Name)) {
				found = append(found, s.at(d.Pos(), "comment", "func %s has none", d.Name.Name))
			}
		case *ast.GenDecl:
			if d.Tok != token.IMPORT && d.Doc == nil {
				found = append(found, uncommented(s, d)...)
			}
		}
	}
	return found
}

// isTest tells whether the go command runs a function of this name.
func isTest(name string) bool {
	return slices.ContainsFunc([]string{"Test", "Fuzz", "Benchmark", "Example"},
		func(p string) bool { return strings.HasPrefix(name, p) })
}

// uncommented lists the members of a declaration without comment that have none of their own. Blank ones assert
// something to the compiler and explain themselves.
func uncommented(s *source, d *ast.GenDecl) []Violation {
	var found []Violation
	for _, spec := range d.Specs {
		switch spec := spec.(type) {
		case *ast.TypeSpec:
			if spec.Doc == nil && spec.Comment == nil {
				found = append(found, s.at(spec.Pos(), "comment", "type %s has none", spec.Name.Name))
			}
		case *ast.ValueSpec:
			if spec.Doc == nil && spec.Comment == nil && spec.Names[0].Name != "_" {
				found = append(found, s.at(spec.Pos(), "comment", "%s %s has none", d.Tok, spec.Names[0].Name))
			}
		}
	}
	return found
}

// Marks in comments.
var (
	nolintReasoned = regexp.MustCompile(`^//nolint:[a-z0-9,]+ // \S`)
	unfinished     = regexp.MustCompile(`\b(TODO|FIXME|XXX|HACK)\b`)
	withIssue      = regexp.MustCompile(`\bTODO\(#[0-9]+\): \S`)
)

// checkMarks wants a reason behind each nolint and an issue behind each TODO.
func checkMarks(s *source) []Violation {
	if s.dir == "internal/archtest" {
		return nil // it speaks about the marks
	}
	var found []Violation
	for _, group := range s.tree.Comments {
		for _, c := range group.List {
			if strings.HasPrefix(c.Text, "//nolint") && !nolintReasoned.MatchString(c.Text) {
				found = append(found, s.at(c.Pos(), "nolint", "no linter or no reason: %s", c.Text))
			}
			if mark := unfinished.FindString(c.Text); mark != "" && !withIssue.MatchString(c.Text) {
				found = append(found, s.at(c.Pos(), "todo", "%s without an issue", mark))
			}
		}
	}
	return found
}

// vague are words that are refused as names (docs/rules/engineering.md#names).
var vague = []string{
	"manager", "helper", "helpers", "util", "utils", "common", "data", "info", "base", "shared", "misc",
}

// checkPackageName wants a package to be named by what it is about.
func checkPackageName(s *source) []Violation {
	name := strings.TrimSuffix(s.tree.Name.Name, "_test")
	if slices.Contains(vague, name) {
		return []Violation{s.at(s.tree.Name.Pos(), "name", "package %s says nothing", name)}
	}
	return nil
}
