package failure_test

import (
	"cmp"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// update rewrites docs/errors.md: go test ./internal/failure -run Codes -update
var update = flag.Bool("update", false, "rewrite docs/errors.md")

// Paths relative to this package: the root of the repository, and the document of all codes.
const (
	sourceRoot = "../.."
	listFile   = "../../docs/errors.md"
)

// statusOfKind is the HTTP status of each kind, as httpapi answers.
var statusOfKind = map[string]int{
	"Internal": 500, "Malformed": 400, "Unauthenticated": 401, "Denied": 403, "NotFound": 404, "Conflict": 409,
	"Stale": 412, "TooLarge": 413, "Invalid": 422, "Limited": 429, "Refused": 502, "Unavailable": 503,
}

// statusOfCode has the statuses that are no kind: httpapi's own.
var statusOfCode = map[string]int{"method_not_allowed": 405, "unsupported_media_type": 415}

// codeForm matches a code in snake_case; a part after the first may begin with a digit.
var codeForm = regexp.MustCompile(`^[a-z]+(_[a-z0-9]+)*$`)

// otherWords are the codes whose message is not a text of the source, with what the document shows instead. Codes of
// kind Invalid need no entry: their messages are the faults.
var otherWords = map[string]string{
	"missing_field":    eachFault,
	"provider_refused": "What the payment provider answered.",
	"router_refused":   "What the router answered.",
}

// eachFault stands in the document for a list of faults.
const eachFault = "One message for each fault."

// sentence is a message for people: a capital, or the name of a header, at its beginning and a stop at its end.
var sentence = regexp.MustCompile(`^[A-Z].*[.?]$`)

// found is one place where a failure is made. The message is the format as it stands in the source, "" when the source
// has none at this place. Where spoken is false, the failure has faults, and the message is the first of them.
type found struct {
	code, kind, message, place string
	spoken                     bool
}

func TestCodes_EachHasOneStatusAndIsListed(t *testing.T) {
	t.Parallel()
	places := scan(t)
	status := map[string]int{}
	for _, f := range places {
		now := cmp.Or(statusOfCode[f.code], statusOfKind[f.kind])
		if before, seen := status[f.code]; seen && before != now {
			t.Errorf("%s: code %s is %d here and %d elsewhere", f.place, f.code, now, before)
		}
		if !codeForm.MatchString(f.code) {
			t.Errorf("%s: code %q is not snake_case", f.place, f.code)
		}
		status[f.code] = now
	}
	want := list(places, status)
	if *update {
		if err := os.WriteFile(listFile, []byte(want), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	have, err := os.ReadFile(listFile)
	if err != nil {
		t.Fatal(err)
	}
	listed, made := rows(string(have)), rows(want)
	for row := range made {
		if !listed[row] {
			t.Errorf("docs/errors.md lacks %s: go test ./internal/failure -run Codes -update", row)
		}
	}
	for row := range listed {
		if !made[row] {
			t.Errorf("docs/errors.md lists %s, which nothing gives: go test ./internal/failure -run Codes -update", row)
		}
	}
}

func TestCodes_EachHasOneTextThatIsASentence(t *testing.T) {
	t.Parallel()
	first := map[string]found{}
	for _, f := range scan(t) {
		if !f.spoken && sentence.MatchString(f.message) {
			t.Errorf("%s: the fault of %s names no field: %q", f.place, f.code, f.message)
		}
		if !f.spoken || f.message == "" {
			continue
		}
		if !sentence.MatchString(f.message) {
			t.Errorf("%s: the text of %s is no sentence: %q", f.place, f.code, f.message)
		}
		before, seen := first[f.code]
		if seen && before.message != f.message {
			t.Errorf("%s: code %s has the text %q, and %q at %s", f.place, f.code, f.message, before.message,
				before.place)
		}
		if !seen {
			first[f.code] = f
		}
	}
	for _, f := range scan(t) {
		if _, has := first[f.code]; f.spoken && !has && otherWords[f.code] == "" {
			t.Errorf("%s: code %s has no text", f.place, f.code)
		}
	}
}

// rows gives the set of the table's rows in a document, each as the whole line.
func rows(document string) map[string]bool {
	out := map[string]bool{}
	for _, m := range tableRow.FindAllString(document, -1) {
		out[m] = true
	}
	return out
}

// tableRow matches one line of the table; the lines above the first row do not fit.
var tableRow = regexp.MustCompile("(?m)^\\| [0-9]{3} \\| `[^`]+` \\|.*$")

// list gives the whole document: the codes sorted by status, then by name.
func list(places []found, status map[string]int) string {
	messages := map[string]string{}
	for _, f := range places {
		before := messages[f.code]
		switch {
		case !f.spoken && (f.message == "" || before != "" && before != f.message):
			messages[f.code] = eachFault
		case f.message != "":
			messages[f.code] = f.message
		}
	}
	maps.Copy(messages, otherWords)
	codes := make([]string, 0, len(status))
	for code := range status {
		codes = append(codes, code)
	}
	slices.SortFunc(codes, func(a, b string) int {
		return cmp.Or(cmp.Compare(status[a], status[b]),
			cmp.Compare(a, b))
	})
	var b strings.Builder
	b.WriteString("# Failure codes\n\nThe field `code` of an error body is stable; `message` is for people and may " +
		"change. Each code has one text; `%s` and `%d`\nstand for facts of the case. A 422 about fields, and a 400 " +
		"with missing fields, has a list of messages, one for each fault, each naming its field.\n\n" +
		"Made from the source by `go test ./internal/failure -run Codes -update`; a test compares status, code " +
		"and text.\n\n| Status | Code | Message |\n|---|---|---|\n")
	for _, code := range codes {
		fmt.Fprintf(&b, "| %d | `%s` | %s |\n", status[code], code, strings.ReplaceAll(messages[code], "|", "\\|"))
	}
	return b.String()
}

// scan finds every failure that the product's source makes with a code known before it runs.
func scan(t *testing.T) []found {
	t.Helper()
	var all []found
	inspect(t, func(n ast.Node, file *ast.File, place string) {
		if f, ok := made(n, file.Name.Name == "failure"); ok {
			f.place = place
			all = append(all, f)
		}
	})
	return all
}

// inspect visits each node of the product's source.
func inspect(t *testing.T, visit func(n ast.Node, file *ast.File, place string)) {
	t.Helper()
	files := token.NewFileSet()
	err := filepath.WalkDir(sourceRoot, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := entry.Name()
		if entry.IsDir() {
			if path != sourceRoot && (strings.HasPrefix(name, ".") || name == "simulators" ||
				strings.HasSuffix(name, "test")) {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		file, err := parser.ParseFile(files, path, nil, 0)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if n != nil {
				visit(n, file, files.Position(n.Pos()).String())
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatalf("scan source: %v", err)
	}
}

// TestCodes_WhatAnErrorIsComparedWithIsOne: a code that was renamed, and not where the code decides by it, would change
// what is done, and no compiler would tell.
func TestCodes_WhatAnErrorIsComparedWithIsOne(t *testing.T) {
	t.Parallel()
	known := map[string]bool{}
	for _, f := range scan(t) {
		known[f.code] = true
	}
	compared := 0
	inspect(t, func(n ast.Node, _ *ast.File, place string) {
		for _, code := range wanted(n) {
			if compared++; !known[code] && codeForm.MatchString(code) { // others are those of outside systems
				t.Errorf("%s: no failure has the code %q", place, code)
			}
		}
	})
	if compared < 30 {
		t.Errorf("%d comparisons were found", compared)
	}
}

// wanted lists the codes with which a node compares that of an error.
func wanted(n ast.Node) []string {
	switch n := n.(type) {
	case *ast.BinaryExpr:
		if n.Op != token.EQL && n.Op != token.NEQ {
			return nil
		}
		for _, pair := range [][2]ast.Expr{{n.X, n.Y}, {n.Y, n.X}} {
			if code := text(pair[1]); isCode(pair[0]) && code != "" {
				return []string{code}
			}
		}
	case *ast.SwitchStmt:
		if !isCode(n.Tag) {
			return nil
		}
		var all []string
		for _, clause := range n.Body.List {
			for _, e := range clause.(*ast.CaseClause).List {
				if code := text(e); code != "" {
					all = append(all, code)
				}
			}
		}
		return all
	}
	return nil
}

// isCode recognizes failure.CodeOf(err), and a variable with its value by its name.
func isCode(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.CallExpr:
		return selected(e.Fun) == "CodeOf"
	case *ast.Ident:
		return e.Name == "code"
	}
	return false
}

// made reads a node that makes a failure, or a claim whose refusal is a conflict. inside says that the file belongs to
// package failure, which calls its own functions without a prefix.
func made(n ast.Node, inside bool) (found, bool) {
	switch n := n.(type) {
	case *ast.CallExpr:
		name := callee(n.Fun, inside)
		kind, ok := strings.CutPrefix(name, "New")
		args := n.Args
		if ok && kind == "" && len(args) > 1 {
			kind, args = selected(args[0]), args[1:]
		}
		if _, known := statusOfKind[kind]; !ok || !known || len(args) == 0 {
			return found{}, false
		}
		f := found{kind: kind, code: text(args[0]), spoken: name != "NewInvalid"}
		if len(args) > 1 {
			f.message = text(args[1])
		}
		return f, f.code != ""
	case *ast.CompositeLit:
		return literal(n)
	}
	return found{}, false
}

// literal reads failure.Error{...} and commands.Claim{...}; in a list of claims the type is left out.
func literal(n *ast.CompositeLit) (found, bool) {
	fields := map[string]ast.Expr{}
	for _, e := range n.Elts {
		if pair, ok := e.(*ast.KeyValueExpr); ok {
			if key, ok := pair.Key.(*ast.Ident); ok {
				fields[key.Name] = pair.Value
			}
		}
	}
	f := found{code: text(fields["Code"]), message: text(fields["Message"]), spoken: true}
	switch {
	case f.code == "":
		return f, false
	case selected(n.Type) == "Error":
		f.kind = selected(fields["Kind"])
	case fields["Value"] != nil && fields["Kind"] != nil:
		f.kind = "Conflict"
	}
	_, known := statusOfKind[f.kind]
	return f, known
}

// callee gives the name of a called function of package failure; "" for any other function.
func callee(fun ast.Expr, inside bool) string {
	switch fun := fun.(type) {
	case *ast.SelectorExpr:
		if pkg, ok := fun.X.(*ast.Ident); ok && pkg.Name == "failure" {
			return fun.Sel.Name
		}
	case *ast.Ident:
		if inside {
			return fun.Name
		}
	}
	return ""
}

// selected gives the last name of an expression: "Conflict" of failure.Conflict.
func selected(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.SelectorExpr:
		return e.Sel.Name
	case *ast.Ident:
		return e.Name
	}
	return ""
}

// text is the value of a text that stands in the source, whole or in parts joined by +; "" for anything else.
func text(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.BinaryExpr:
		left, right := text(e.X), text(e.Y)
		if e.Op != token.ADD || left == "" || right == "" {
			return ""
		}
		return left + right
	case *ast.BasicLit:
		if e.Kind != token.STRING {
			return ""
		}
		value, err := strconv.Unquote(e.Value)
		if err != nil {
			return ""
		}
		return value
	}
	return ""
}
