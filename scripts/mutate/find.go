package main

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"strings"
)

// function finds the mutants of a function's body.
func (in *instrumenter) function(signature *ast.FuncType, body *ast.BlockStmt) {
	in.results = append(in.results, signature.Results)
	ast.Inspect(body, in.visit)
	in.results = in.results[:len(in.results)-1]
}

// visit finds the mutants of one node; the nodes inside are visited afterwards.
func (in *instrumenter) visit(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.FuncLit:
		in.function(n.Type, n.Body)
		return false
	case *ast.BlockStmt:
		in.statements(n.List)
	case *ast.CaseClause:
		in.caseClause(n)
	case *ast.CommClause:
		in.statements(n.Body)
	case *ast.IfStmt:
		in.condition(n.Cond)
	case *ast.ForStmt:
		if n.Cond != nil {
			in.condition(n.Cond)
		}
	case *ast.BinaryExpr:
		in.binary(n)
	case *ast.CompositeLit:
		in.fields(n)
	}
	return true
}

// condition negates a condition.
func (in *instrumenter) condition(c ast.Expr) {
	if in.plainBool(c) {
		in.around(c, fmt.Sprintf("mutantIs(%d) != (", in.mutate("condition", c)), ")")
	}
}

// plainBool reports whether an expression is of the type bool itself and not a constant.
func (in *instrumenter) plainBool(e ast.Expr) bool {
	t := in.info.Types[e]
	basic, ok := t.Type.(*types.Basic)
	return ok && basic.Info()&types.IsBoolean != 0 && t.Value == nil
}

// binary drops clauses, negates comparisons and moves boundaries by one.
func (in *instrumenter) binary(b *ast.BinaryExpr) {
	if !in.plainBool(b) {
		in.arithmetic(b)
		return
	}
	left, right := in.textOf(b.X), in.textOf(b.Y)
	switch b.Op {
	case token.LAND:
		in.around(b.X, fmt.Sprintf("(mutantIs(%d) || ", in.mutate("clause left out", b.X)), ")")
		in.around(b.Y, fmt.Sprintf("(mutantIs(%d) || ", in.mutate("clause left out", b.Y)), ")")
	case token.LOR:
		in.around(b.X, fmt.Sprintf("(!mutantIs(%d) && (", in.mutate("clause left out", b.X)), "))")
		in.around(b.Y, fmt.Sprintf("(!mutantIs(%d) && (", in.mutate("clause left out", b.Y)), "))")
	case token.LSS, token.GTR:
		in.around(b, fmt.Sprintf("(mutantIs(%d) && %s == %s || ", in.mutate("boundary", b), left, right), ")")
	case token.LEQ, token.GEQ:
		in.around(b, fmt.Sprintf("(!(mutantIs(%d) && %s == %s) && ", in.mutate("boundary", b), left, right), ")")
	case token.EQL, token.NEQ:
		in.around(b, fmt.Sprintf("(mutantIs(%d) != (", in.mutate("comparison", b)), "))")
	}
}

// arithmetic exchanges plus and minus, and times and divided by, of numbers that are not constant.
func (in *instrumenter) arithmetic(b *ast.BinaryExpr) {
	t := in.info.Types[b]
	other := map[token.Token]string{token.ADD: "-", token.SUB: "+", token.MUL: "/", token.QUO: "*"}[b.Op]
	basic, ok := t.Type.Underlying().(*types.Basic)
	if other == "" || !ok || basic.Info()&types.IsNumeric == 0 || t.Value != nil {
		return
	}
	changed := fmt.Sprintf("%s %s %s", in.textOf(b.X), other, in.textOf(b.Y))
	in.around(b, fmt.Sprintf("mutantOf(%d, func() %s { return %s }, ", in.mutate("arithmetic", b),
		types.TypeString(t.Type, in.qualify), changed), ")")
}

// qualify names a package as the file does; the file may import it under its own name only.
func (in *instrumenter) qualify(p *types.Package) string {
	for _, i := range in.files[in.path].Imports {
		if strings.Trim(i.Path.Value, `"`) == p.Path() {
			return p.Name()
		}
	}
	return ""
}

// statements leaves out calls and assignments, one at a time, and returns zero values in place of results.
func (in *instrumenter) statements(list []ast.Stmt) {
	for _, s := range list {
		switch s := s.(type) {
		case *ast.ExprStmt, *ast.IncDecStmt, *ast.SendStmt:
			in.leaveOut(s)
		case *ast.AssignStmt:
			if s.Tok != token.DEFINE && !isBlank(s.Lhs) {
				in.leaveOut(s)
			}
		case *ast.ReturnStmt:
			in.returns(s)
		}
	}
}

// isBlank reports whether all variables on the left are "_".
func isBlank(left []ast.Expr) bool {
	for _, e := range left {
		if i, ok := e.(*ast.Ident); !ok || i.Name != "_" {
			return false
		}
	}
	return true
}

// leaveOut makes a statement that is not executed. A call of panic stays: the function may need it as its end.
func (in *instrumenter) leaveOut(s ast.Stmt) {
	if strings.HasPrefix(in.textOf(s), "panic(") {
		return
	}
	in.around(s, fmt.Sprintf("if !mutantIs(%d) { ", in.mutate("statement left out", s)), " }")
}

// returns makes a return of zero values, unless the results are that already.
func (in *instrumenter) returns(r *ast.ReturnStmt) {
	signature := in.results[len(in.results)-1]
	if len(r.Results) == 0 || signature == nil || allZero(r.Results) {
		return
	}
	var zeros []string
	for _, f := range signature.List {
		for range max(1, len(f.Names)) {
			zeros = append(zeros, "*new("+in.textOf(f.Type)+")")
		}
	}
	in.before(r.Pos(), fmt.Sprintf("if mutantIs(%d) { return %s }; ", in.mutate("returns zero", r),
		strings.Join(zeros, ", ")))
}

// allZero reports whether every result is written as a zero value.
func allZero(results []ast.Expr) bool {
	for _, r := range results {
		switch r := r.(type) {
		case *ast.Ident:
			if r.Name != "nil" && r.Name != "false" {
				return false
			}
		case *ast.BasicLit:
			if r.Value != "0" && r.Value != `""` {
				return false
			}
		case *ast.CompositeLit:
			if len(r.Elts) > 0 {
				return false
			}
		default:
			return false
		}
	}
	return true
}

// caseClause makes a case that never applies or, where its expressions are values or types, does nothing.
func (in *instrumenter) caseClause(c *ast.CaseClause) {
	in.statements(c.Body)
	if len(c.List) > 0 && in.plainBool(c.List[0]) {
		for _, e := range c.List {
			in.condition(e)
			in.around(e, fmt.Sprintf("!mutantIs(%d) && (", in.mutate("case left out", e)), ")")
		}
		return
	}
	// After a break the function would need another end: a case that returns has the mutants of its return instead.
	if last := len(c.Body) - 1; last >= 0 && !ends(c.Body[last]) {
		in.before(c.Body[0].Pos(), fmt.Sprintf("if mutantIs(%d) { break }; ", in.mutate("case left out", c)))
	}
}

// ends reports whether a statement leaves the function or its block: by return, panic, break, continue or goto.
func ends(s ast.Stmt) bool {
	switch s := s.(type) {
	case *ast.ReturnStmt, *ast.BranchStmt:
		return true
	case *ast.ExprStmt:
		if call, ok := s.X.(*ast.CallExpr); ok {
			name, _ := call.Fun.(*ast.Ident)
			return name != nil && name.Name == "panic"
		}
	case *ast.BlockStmt:
		return len(s.List) > 0 && ends(s.List[len(s.List)-1])
	case *ast.IfStmt:
		return s.Else != nil && ends(s.Body) && ends(s.Else)
	}
	return false
}

// fields leaves out the fields of a literal, one at a time: the field is zero then.
func (in *instrumenter) fields(c *ast.CompositeLit) {
	t := in.info.Types[c].Type
	if t == nil {
		return
	}
	structure, ok := t.Underlying().(*types.Struct)
	if !ok {
		return
	}
	for _, e := range c.Elts {
		pair, ok := e.(*ast.KeyValueExpr)
		if !ok {
			continue
		}
		value := in.info.Types[pair.Value]
		if value.Value != nil || value.IsNil() || !types.Identical(value.Type, fieldType(structure, pair.Key)) {
			continue // a constant or a conversion on assignment: its type cannot be inferred
		}
		in.around(pair.Value, fmt.Sprintf("mutantZero(%d, ", in.mutate("field left out", pair)), ")")
	}
}

// fieldType is the type of a field of the structure; nil for a name that it does not have.
func fieldType(s *types.Struct, key ast.Expr) types.Type {
	name, _ := key.(*ast.Ident)
	for f := range s.Fields() {
		if name != nil && f.Name() == name.Name {
			return f.Type()
		}
	}
	return nil
}
