package archtest

import "go/ast"

// checkEnds refuses Cleanup in tests of the program, but for the one of atEnd: the testing package keeps what it was
// given there, and the whole program with it, until all tests have ended. Benchmarks go one after the other.
func checkEnds(s *source) []Violation {
	if !s.test || s.dir != "cmd/lastmile" {
		return nil
	}
	var found []Violation
	ast.Inspect(s.tree, func(n ast.Node) bool {
		if f, ok := n.(*ast.FuncDecl); ok && f.Name.Name == "atEnd" {
			return false
		}
		call, ok := n.(*ast.CallExpr)
		if ok && (selects(call.Fun, "t", "Cleanup") || selects(call.Fun, "", "Cleanup") && ofTest(call.Fun)) {
			found = append(found, s.at(n.Pos(), "end", "use atEnd: Cleanup keeps the program until all tests end"))
		}
		return true
	})
	return found
}

// ofTest reports whether a method is that of a field with the name of a test, as in k.t.Cleanup.
func ofTest(method ast.Expr) bool {
	selector, ok := method.(*ast.SelectorExpr)
	return ok && selects(selector.X, "", "t")
}
