package archtest

import "go/ast"

// unguarded are the folders whose code works on what customers, routers and providers have sent, so that a panic in a
// goroutine of theirs would end the program for everybody.
var unguarded = []string{"usecases", "usecases/*", "jobs/*"}

// checkGoroutines refuses goroutines in which a panic is not caught: the go statement, and Go of a sync.WaitGroup or an
// errgroup.Group with a function that has no loop.Try. The groups of package loop catch panics themselves; their Go has
// a name, too. The queue itself is no such code.
func checkGoroutines(s *source) []Violation {
	if s.test || s.dir == "jobs/runner" || !matchesAny(unguarded, s.dir) {
		return nil
	}
	var found []Violation
	refuse := func(n ast.Node) {
		found = append(found, s.at(n.Pos(), "goroutine",
			"use loop.Each, or loop.Try inside: a panic would end the program"))
	}
	ast.Inspect(s.tree, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			refuse(n)
		case *ast.CallExpr:
			if selects(n.Fun, "", "Go") && len(n.Args) == 1 && !triesIn(n.Args[0]) {
				refuse(n)
			}
		}
		return true
	})
	return found
}

// selects reports whether an expression is a name behind a dot, after any expression when of is "".
func selects(e ast.Expr, of, name string) bool {
	selector, ok := e.(*ast.SelectorExpr)
	if !ok || selector.Sel.Name != name {
		return false
	}
	x, ok := selector.X.(*ast.Ident)
	return of == "" || ok && x.Name == of
}

// triesIn reports whether a function calls loop.Try.
func triesIn(f ast.Expr) (tries bool) {
	ast.Inspect(f, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		tries = tries || ok && selects(call.Fun, "loop", "Try")
		return !tries
	})
	return tries
}
