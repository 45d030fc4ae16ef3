package archtest

import (
	"go/ast"
	"go/token"
	"regexp"
	"slices"
	"strings"
)

// clockFree are the folders whose packages may read the machine's time.
var clockFree = []string{
	"internal/clock", "cmd/...", "simulators/...", "internal/postgres/pgtest/...", "internal/storetest",
	"internal/benchtest", "eventstore/contract/...", "httpapi/apitest/...", "scripts/...",
}

// checkTime finds calls of time.Now, time.Since and time.Until, whatever name the file has for package time, and local
// clocks that change when somebody sets the machine's: they are there to measure.
func checkTime(s *source) []Violation {
	if s.test || matchesAny(clockFree, s.dir) {
		return nil
	}
	name := importName(s.tree, "time")
	var found []Violation
	ast.Inspect(s.tree, func(n ast.Node) bool {
		if to, is := n.(*ast.AssignStmt); is && to.Tok == token.DEFINE && isSystemClock(to.Rhs[0]) {
			found = append(found, s.at(to.Pos(), "time", "clock.System: measure by clock.Steady"))
		}
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

// isSystemClock reports whether an expression is clock.System().
func isSystemClock(e ast.Expr) bool {
	call, ok := e.(*ast.CallExpr)
	if !ok {
		return false
	}
	sel, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	pkg, ok := sel.X.(*ast.Ident)
	return ok && pkg.Name == "clock" && sel.Sel.Name == "System"
}

// importName is the name under which a file uses a package, "" when it does not import the package.
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

// checkComments finds top-level declarations without a comment, and functions with that of another one. Methods of one
// line (such as names of events and marks of sealed interfaces) and test functions need none.
func checkComments(s *source) []Violation {
	var found []Violation
	for _, d := range s.tree.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			oneLine := d.Recv != nil && (s.line(d.Pos()) == s.line(d.End()) || d.Name.Name == "EventType")
			if d.Doc == nil && !oneLine && !(s.test && isTest(d.Name.Name)) {
				found = append(found, s.at(d.Pos(), "comment", "func %s has no comment", d.Name.Name))
			}
			if first := firstWord(d.Doc); startsLower(first) && first != d.Name.Name && !isTest(d.Name.Name) {
				found = append(found, s.at(d.Pos(), "comment", "the comment of %s is about %s", d.Name.Name, first))
			}
		case *ast.GenDecl:
			if d.Tok != token.IMPORT && d.Doc == nil {
				found = append(found, uncommented(s, d)...)
			}
		}
	}
	return found
}

// firstWord is the first word of a comment, without punctuation; "" without a comment.
func firstWord(doc *ast.CommentGroup) string {
	first, _, _ := strings.Cut(strings.TrimSpace(doc.Text()), " ")
	return strings.TrimRight(first, ",.:")
}

// startsLower reports whether a word begins with a small letter, as names do that are not exported.
func startsLower(word string) bool { return word != "" && word[0] >= 'a' && word[0] <= 'z' }

// isTest reports whether the go command runs a function of this name.
func isTest(name string) bool {
	return slices.ContainsFunc([]string{"Test", "Fuzz", "Benchmark", "Example"},
		func(p string) bool { return strings.HasPrefix(name, p) })
}

// uncommented returns the members without a comment in a declaration without a comment. A blank variable, which only
// makes the compiler check a type, needs none.
func uncommented(s *source, d *ast.GenDecl) []Violation {
	var found []Violation
	for _, spec := range d.Specs {
		switch spec := spec.(type) {
		case *ast.TypeSpec:
			if spec.Doc == nil && spec.Comment == nil {
				found = append(found, s.at(spec.Pos(), "comment", "type %s has no comment", spec.Name.Name))
			}
		case *ast.ValueSpec:
			if spec.Doc == nil && spec.Comment == nil && spec.Names[0].Name != "_" {
				found = append(found, s.at(spec.Pos(), "comment", "%s %s has no comment", d.Tok, spec.Names[0].Name))
			}
		}
	}
	return found
}

// The marks of linters and of unfinished work.
var (
	nolintReasoned = regexp.MustCompile(`^//nolint:[a-z0-9,]+ // \S`)
	unfinished     = regexp.MustCompile(`\b(TODO|FIXME|XXX|HACK)\b`)
	withIssue      = regexp.MustCompile(`\bTODO\(#[0-9]+\): \S`)
)

// checkMarks finds nolint without a linter and a reason, and marks of unfinished work that are not a TODO with an
// issue.
func checkMarks(s *source) []Violation {
	if s.dir == "internal/archtest" {
		return nil // it speaks about the marks
	}
	var found []Violation
	for _, group := range s.tree.Comments {
		for _, c := range group.List {
			if strings.HasPrefix(c.Text, "//nolint") && !nolintReasoned.MatchString(c.Text) {
				found = append(found, s.at(c.Pos(), "nolint", "name the linter and the reason: %s", c.Text))
			}
			if mark := unfinished.FindString(c.Text); mark != "" && !withIssue.MatchString(c.Text) {
				found = append(found, s.at(c.Pos(), "todo", "%s without an issue", mark))
			}
		}
	}
	return found
}
